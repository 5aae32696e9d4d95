package oracle

import org.apache.kafka.streams.kstream.Windows
import org.apache.kafka.streams.kstream.internals.TimeWindow

/** The windows of a function, which a document has in Python: the same as a subclass of Kafka Streams' `Windows`. */
abstract class ChosenWindows(val size: Long, val gracePeriodMs: Long) extends Windows[TimeWindow] {
  protected def of(time: Long): Seq[(Long, Long)]
  override def windowsFor(time: Long): java.util.Map[java.lang.Long, TimeWindow] = {
    val all = new java.util.LinkedHashMap[java.lang.Long, TimeWindow]()
    of(time).foreach { case (start, end) => all.put(start, new TimeWindow(start, end)) }
    all
  }
}

object ChosenWindows {
  private val hour = 3600000L

  /** Shifts of 6, 6 and 12 hours. */
  private class Shifts(size: Long, grace: Long) extends ChosenWindows(size, grace) {
    override protected def of(time: Long): Seq[(Long, Long)] = {
      val day = time / (24 * hour) * 24 * hour
      val at = time - day
      if (at < 6 * hour) Seq((day, day + 6 * hour))
      else if (at < 12 * hour) Seq((day + 6 * hour, day + 12 * hour))
      else Seq((day + 12 * hour, day + 24 * hour))
    }
  }

  /** The day and the hour; at midnight, both start at the same time, and the day replaces the hour. */
  private class DayAndHour(size: Long, grace: Long) extends ChosenWindows(size, grace) {
    override protected def of(time: Long): Seq[(Long, Long)] = {
      val (h, d) = (time / hour * hour, time / (24 * hour) * 24 * hour)
      Seq((h, h + hour), (d, d + 24 * hour))
    }
  }

  /** The next two hours of an even time, the later one first; no window for others. */
  private class Ahead(size: Long, grace: Long) extends ChosenWindows(size, grace) {
    override protected def of(time: Long): Seq[(Long, Long)] = {
      val next = (time / hour + 1) * hour
      if (time % 2 == 1) Nil else Seq((next + hour, next + 2 * hour), (next, next + hour))
    }
  }

  def of(name: String, size: Long, grace: Long): ChosenWindows = name match {
    case "Shifts" => new Shifts(size, grace)
    case "DayAndHour" => new DayAndHour(size, grace)
    case "Ahead" => new Ahead(size, grace)
    case other => throw new Unsupported(s"the windows $other")
  }
}
