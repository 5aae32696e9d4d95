package oracle

import java.time.{Instant, LocalDate, ZoneId}
import java.time.temporal.ChronoUnit
import org.apache.kafka.streams.kstream.Windows
import org.apache.kafka.streams.kstream.internals.TimeWindow
import scala.collection.mutable

/** Windows that Kafka Streams does not have, written as its users write them: subclasses of its `Windows`. */
abstract class OwnWindows(longest: Long, grace: Long, val described: String) extends Windows[TimeWindow] {
  override def size: Long = longest
  override def gracePeriodMs: Long = grace

  /** The end of the window that starts at `start`. */
  def end(start: Long): Long
  protected def found(starts: Seq[Long]): java.util.Map[java.lang.Long, TimeWindow] = {
    val all = new java.util.LinkedHashMap[java.lang.Long, TimeWindow]()
    starts.foreach(s => all.put(s, new TimeWindow(s, end(s))))
    all
  }
}

/** Windows of one size at multiples of `advance` plus `offset`. None starts before the epoch. */
class OffsetWindows(size: Long, advance: Long, offset: Long, grace: Long)
    extends OwnWindows(size, grace, s"$advance $offset") {
  private def cut(start: Long): Boolean = advance == size && start < offset
  override def end(start: Long): Long = if (cut(start)) offset else start + size
  override def windowsFor(time: Long): java.util.Map[java.lang.Long, TimeWindow] =
    if (advance == size && time < offset) found(Seq(0L))
    else found(Iterator.iterate(offset)(_ + advance).dropWhile(_ + size <= time).takeWhile(_ <= time).toSeq)
}

/** Calendar windows: the dates from 1969 on, one unit after the other, until they pass the time. */
class CalendarWindows(unit: String, zone: String, offset: Long, grace: Long)
    extends OwnWindows(CalendarWindows.longest(unit), grace, s"$unit $zone $offset") {
  private val begins = mutable.ArrayBuffer[Long]()
  private var date = LocalDate.of(1969, 1, 1)
  private def begin(d: LocalDate) =
    d.atStartOfDay().plus(offset, ChronoUnit.MILLIS).atZone(ZoneId.of(zone)).toInstant.toEpochMilli
  private def step(d: LocalDate) = unit match {
    case "day" => d.plusDays(1)
    case "week" => d.plusWeeks(1)
    case "month" => d.plusMonths(1)
    case "quarter" => d.plusMonths(3)
    case "year" => d.plusYears(1)
  }
  if (unit == "week") date = LocalDate.of(1968, 12, 30) // a Monday
  private def until(time: Long): Unit =
    while (begins.isEmpty || begins.last <= time) { begins += begin(date); date = step(date) }
  private def starts(time: Long): Long = { until(time); begins.takeWhile(_ <= time).last }
  override def end(start: Long): Long = { until(start); begins.find(_ > start).get }
  override def windowsFor(time: Long): java.util.Map[java.lang.Long, TimeWindow] = found(Seq(starts(time).max(0L)))
}

object CalendarWindows {
  private val day = 86400000L
  val longest: Map[String, Long] =
    Map("day" -> 2L, "week" -> 8L, "month" -> 32L, "quarter" -> 93L, "year" -> 367L).map { case (u, n) => u -> n * day }
}

/**
 * The ends of windows that Kafka Streams read back as `start + size`, from a store or a buffer. Windows of a calendar
 * have no such size; the ends that we show are those of the windows.
 */
object ReadBack {
  private val known = mutable.Map[Long, OwnWindows]()
  def clear(): Unit = known.clear()
  def add(w: OwnWindows): Unit = {
    if (known.get(w.size).exists(_.described != w.described)) throw new Unsupported("two windows of a size")
    known(w.size) = w
  }
  def end(start: Long, end: Long): Long = known.get(end - start).fold(end)(_.end(start))
}
