package oracle

import java.util.Properties
import java.util.function.Function
import org.apache.kafka.streams.Topology.AutoOffsetReset
import org.apache.kafka.streams.TopologyTestDriver
import org.apache.kafka.streams.errors.{LogAndContinueExceptionHandler, LogAndFailExceptionHandler}
import org.apache.kafka.streams.kstream.{Consumed, Produced}
import org.apache.kafka.streams.processor.StreamPartitioner
import org.apache.kafka.streams.processor.internals.StreamTask

/** What Kafka Streams 3 has in another form than 4, or not at all. */
object Release {
  type Records = Consumed[Any, Any]

  def startingAt(consumed: Records, latest: Boolean): Records =
    consumed.withOffsetResetPolicy(if (latest) AutoOffsetReset.LATEST else AutoOffsetReset.EARLIEST)

  /** `choose` returns the partition of a key and value, given the number of partitions. */
  def partitioned(produced: Produced[Any, Any], choose: (Any, Any, Int) => Integer): Produced[Any, Any] =
    produced.withStreamPartitioner(new StreamPartitioner[Any, Any] {
      override def partition(topic: String, k: Any, v: Any, count: Int): Integer = choose(k, v, count)
    })

  /** `read` returns the foreign key of a row, given its key and value. */
  def foreignKey(f: Fn, read: (Any, Any) => Any): Function[Any, Any] = {
    if (f.columns("key")) throw new Unsupported("a foreign key that is read from the key, before 4.0")
    v => read(null, v)
  }

  def handlers(p: Properties, deserialization: String, processing: String): Unit = {
    if (deserialization.startsWith("dead_letter") || processing.startsWith("dead_letter"))
      throw new Unsupported("dead letters, before 4.2")
    if (deserialization == "function" || processing == "function") FunctionHandlers.processing
    if (processing != "fail") {
      val handler =
        try Class.forName("org.apache.kafka.streams.errors.LogAndContinueProcessingExceptionHandler")
        catch { case _: ClassNotFoundException => throw new Unsupported("processing_handler, before 3.9") }
      p.put("processing.exception.handler", handler)
    }
    p.put(
      "default.deserialization.exception.handler",
      if (deserialization == "fail") classOf[LogAndFailExceptionHandler] else classOf[LogAndContinueExceptionHandler]
    )
  }

  /** Processors cannot be wrapped before 4.0: see [[observe]]. */
  def withMeta(p: Properties): Unit = ()

  /**
   * Makes the record that a driver processes known to expressions, from the context of its task: in a processor, it is
   * that of the record that the processor got.
   */
  def observe(driver: TopologyTestDriver): Unit = {
    val field = classOf[TopologyTestDriver].getDeclaredField("task")
    field.setAccessible(true)
    Meta.observed = Option(field.get(driver).asInstanceOf[StreamTask]).map { task => () =>
      val context = task.processorContext
      val r = context.recordContext
      if (r == null) throw new NoRecord
      new Meta(r.timestamp, r.headers, r.topic, r.partition, r.offset, context.currentSystemTimeMs)
    }
  }
}
