package org.apache.spark.sql.millrace

/** Buckets of durations: an eighth of a power of two wide, single milliseconds below eight. */
private[millrace] object Buckets {

  /** Sufficient for any duration since the epoch. */
  val count: Int = 320

  /** The bucket of a duration in ms. A negative one, which is due to clock skew, counts as zero. */
  def of(ms: Long): Int =
    if (ms < 8) Math.max(0L, ms).toInt
    else {
      val exponent = 63 - java.lang.Long.numberOfLeadingZeros(ms)
      Math.min(count - 1, (exponent - 2) * 8 + ((ms >> (exponent - 3)) & 7).toInt)
    }

  /** The lowest duration in a bucket, in ms. */
  def lowest(bucket: Int): Long = if (bucket < 8) bucket.toLong else (8L + bucket % 8) << (bucket / 8 - 1)
}

/** Counts of durations by bucket, and the sum of the durations in ms. */
private[millrace] final case class Durations(buckets: Map[Int, Long], sum: Long) {
  def +(o: Durations): Durations = Durations(
    o.buckets.foldLeft(buckets) { case (all, (at, n)) => all.updated(at, all.getOrElse(at, 0L) + n) },
    sum + o.sum
  )
  def isEmpty: Boolean = buckets.isEmpty
}
private[millrace] object Durations { val none: Durations = Durations(Map.empty, 0L) }

/** Latencies at one node: since the records' own timestamps, and since their input records reached Kafka. */
private[millrace] final case class NodeLatency(event: Durations, arrival: Durations) {
  def +(o: NodeLatency): NodeLatency = NodeLatency(event + o.event, arrival + o.arrival)
}
private[millrace] object NodeLatency { val none: NodeLatency = NodeLatency(Durations.none, Durations.none) }

/**
 * Measures latencies at one node of one task, when a record enters it: at sources, and at the last nodes of a topology,
 * as Kafka Streams' `record-e2e-latency` does. A record of a punctuation has no input record, so only its own time
 * counts.
 */
private[millrace] final class LatencySensor(record: ProcessorRecordContext) {
  private final class Histogram {
    private val counts = new Array[Long](Buckets.count)
    private var sum = 0L
    def add(ms: Long): Unit = { counts(Buckets.of(ms)) += 1; if (ms > 0) sum += ms }
    def drain(): Durations = {
      val found = Map.newBuilder[Int, Long]
      var i = 0
      while (i < counts.length) { if (counts(i) > 0) { found += i -> counts(i); counts(i) = 0L }; i += 1 }
      val drained = Durations(found.result(), sum)
      sum = 0L
      drained
    }
  }
  private val event = new Histogram
  private val arrival = new Histogram

  def note(timestamp: Long): Unit = {
    val now = System.currentTimeMillis()
    event.add(now - timestamp)
    if (record.arrived >= 0) arrival.add(now - record.arrived)
  }

  /** The durations that were measured since the last call. */
  def drain(): NodeLatency = NodeLatency(event.drain(), arrival.drain())
}
