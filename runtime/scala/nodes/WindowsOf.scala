package org.apache.spark.sql.millrace

import java.time.{DayOfWeek, Instant, LocalDate, ZoneId, ZoneOffset}
import java.time.temporal.{ChronoUnit, IsoFields, TemporalAdjusters}

import com.fasterxml.jackson.databind.JsonNode

/** The windows to which a time belongs. Starts are never negative [TW1]. */
private[millrace] sealed abstract class WindowsOf extends Serializable {

  /** The size of the longest window in ms; Long.MaxValue for unlimited windows. */
  def size: Long
  def grace: Long

  /** The start of the first window of a time. If it is after the time, there is no window. */
  def first(time: Long): Long

  /** The start of the window that follows the one that starts at `start`; Long.MaxValue if there is none. */
  def next(start: Long): Long

  /** The end of the window that starts at `start`; Long.MaxValue if it has none. */
  def end(start: Long): Long

  /** The earliest start of a window at `time` or later. */
  def startFrom(time: Long): Long

  /** The usual time between two starts in ms. */
  def step: Long

  /** The latest time at which a window can start that has ended at `close`. */
  def closedBy(close: Long): Long = close - size

  /** Whether no window has ended between two times, of which `before` is the earlier one. */
  def noneClosed(before: Long, close: Long): Boolean
}
private[millrace] object WindowsOf {

  /** Reads the `window` of an aggregation; null if its windows depend on the records. */
  def of(w: JsonNode): WindowsOf = {
    def ms(part: String) = w.path(part).asLong(0L)
    w.path("type").asText match {
      case "tumbling" if w.hasNonNull("unit") =>
        new CalendarWindows(w.get("unit").asText, w.path("time_zone").asText("UTC"), ms("offset"), ms("grace"))
      case "tumbling" => new TimeWindows(ms("size"), ms("size"), ms("offset"), ms("grace"))
      case "hopping" => new TimeWindows(ms("size"), ms("advance"), ms("offset"), ms("grace"))
      case "unlimited" => new UnlimitedWindows(ms("start"))
      case "custom" =>
        val code = HandlerFunction(w.path("code").asText, w.path("function").asText, w.path("file").asText(""))
        new CustomWindows(ms("size"), ms("grace"), code)
      case _ => null
    }
  }
}

/**
 * Windows of one size that start at multiples of `advance` plus `offset`, which is less than `advance`. Windows do not
 * start before the epoch; the first of those that do not overlap is shorter instead, so that each time has one.
 */
private[millrace] final class TimeWindows(val size: Long, advance: Long, offset: Long, val grace: Long)
    extends WindowsOf {
  private def shortened(start: Long): Boolean = size == advance && start < offset
  override def step: Long = advance
  override def first(time: Long): Long = {
    val start = Math.floorDiv(time - size + advance - offset, advance) * advance + offset
    if (start >= 0) start else if (size == advance) 0L else offset
  }
  override def next(start: Long): Long = if (shortened(start)) offset else start + advance
  override def end(start: Long): Long = if (shortened(start)) offset else start + size
  override def startFrom(time: Long): Long =
    if (time <= 0 && size == advance) 0L
    else Math.max(0L, -Math.floorDiv(offset - time, advance)) * advance + offset
  override def closedBy(close: Long): Long =
    if (size == advance && offset > 0 && close >= 0) first(close) - 1 else close - size
  private def last(time: Long): Long = Math.floorDiv(time - offset, advance)
  override def noneClosed(before: Long, close: Long): Boolean = {
    val (a, b) = (Math.max(0L, closedBy(before)), closedBy(close))
    first(a) == first(b) && last(a) == last(b)
  }
}

/**
 * Windows that a function in Python returns for a time, see [[PythonWindows]]. From a start alone, as in a store, the
 * end of a window is `size` later, as in Kafka Streams, whose `Windows` only have a size there.
 */
private[millrace] final class CustomWindows(val size: Long, val grace: Long, val function: HandlerFunction)
    extends WindowsOf {
  private def unknown: Nothing = throw new UnsupportedOperationException("the function knows the windows")
  override def first(time: Long): Long = unknown
  override def next(start: Long): Long = unknown
  override def end(start: Long): Long = start + size
  override def startFrom(time: Long): Long = unknown
  override def step: Long = Long.MaxValue
  override def noneClosed(before: Long, close: Long): Boolean = unknown
}

private[millrace] final class UnlimitedWindows(start: Long) extends WindowsOf {
  override def size: Long = Long.MaxValue
  override def grace: Long = 0L
  override def step: Long = Long.MaxValue
  override def first(time: Long): Long = start
  override def next(start: Long): Long = Long.MaxValue
  override def end(start: Long): Long = Long.MaxValue
  override def startFrom(time: Long): Long = if (time <= start) start else Long.MaxValue
  override def noneClosed(before: Long, close: Long): Boolean = true
}

/**
 * Days, weeks from Monday, months, quarters or years of a time zone, which begin `offset` ms of local time after
 * midnight of their first day. A local time that a change of clocks skips is as much later as clocks are put forward,
 * and one that occurs twice is the earlier one, as in java.time. So windows follow each other without gaps, and last an
 * hour less or more when clocks change.
 */
private[millrace] final class CalendarWindows(unit: String, zone: String, offset: Long, val grace: Long)
    extends WindowsOf {
  import CalendarWindows._
  private val id = ZoneId.of(zone)
  private val (days, months) = lengths(unit)

  /** A day more than the unit without changes of clocks. */
  override def size: Long = (longest(unit) + 1) * day
  override def step: Long = longest(unit) * day

  private def firstDay(date: LocalDate): LocalDate = unit match {
    case "week" => date.`with`(TemporalAdjusters.previousOrSame(DayOfWeek.MONDAY))
    case "month" => date.withDayOfMonth(1)
    case "quarter" => date.`with`(IsoFields.DAY_OF_QUARTER, 1L)
    case "year" => date.withDayOfYear(1)
    case _ => date
  }
  private def plus(date: LocalDate, n: Int): LocalDate =
    if (months > 0) date.plusMonths((n * months).toLong) else date.plusDays((n * days).toLong)
  private def begin(date: LocalDate): Long =
    date.atStartOfDay.plus(offset, ChronoUnit.MILLIS).atZone(id).toInstant.toEpochMilli

  /** The window of the last time, because the next time is usually in the same one. */
  @transient @volatile private var known: Span = _
  private def span(time: Long): Span = {
    val found = known
    if (found != null && found.start <= time && time < found.end) found
    else {
      val local = Instant.ofEpochMilli(time).atZone(id).toLocalDateTime.minus(offset, ChronoUnit.MILLIS)
      var date = firstDay(local.toLocalDate)
      while (begin(date) > time) date = plus(date, -1)
      var following = plus(date, 1)
      while (begin(following) <= time) { date = following; following = plus(date, 1) }
      val made = new Span(begin(date), begin(following))
      known = made
      made
    }
  }

  override def first(time: Long): Long = Math.max(0L, span(time).start)
  override def next(start: Long): Long = span(start).end
  override def end(start: Long): Long = span(start).end
  override def startFrom(time: Long): Long =
    if (time <= 0) 0L
    else { val s = span(time); if (s.start == time) time else s.end }
  override def closedBy(close: Long): Long = if (close < 0) -1L else first(close) - 1
  override def noneClosed(before: Long, close: Long): Boolean = closedBy(before) == closedBy(close)
}
private object CalendarWindows {
  val day: Long = 86400000L

  /** The days of the longest one. */
  val longest: Map[String, Long] = Map("day" -> 1L, "week" -> 7L, "month" -> 31L, "quarter" -> 92L, "year" -> 366L)

  /** Days or months. */
  val lengths: Map[String, (Int, Int)] =
    Map("day" -> (1, 0), "week" -> (7, 0), "month" -> (0, 1), "quarter" -> (0, 3), "year" -> (0, 12))
  final class Span(val start: Long, val end: Long)
}
