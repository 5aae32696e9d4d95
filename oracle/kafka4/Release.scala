package oracle

import java.util.{Collections, Optional, Properties}
import java.util.function.BiFunction
import org.apache.kafka.clients.consumer.ConsumerRecord
import org.apache.kafka.streams.{AutoOffsetReset, StreamsConfig, TopologyTestDriver}
import org.apache.kafka.streams.errors.DeserializationExceptionHandler.DeserializationHandlerResponse
import org.apache.kafka.streams.errors.ProcessingExceptionHandler.ProcessingHandlerResponse
import org.apache.kafka.streams.errors.{
  DeserializationExceptionHandler,
  ErrorHandlerContext,
  LogAndContinueExceptionHandler,
  LogAndContinueProcessingExceptionHandler,
  LogAndFailExceptionHandler,
  LogAndFailProcessingExceptionHandler,
  ProcessingExceptionHandler
}
import org.apache.kafka.streams.kstream.{Consumed, Produced}
import org.apache.kafka.streams.processor.api._
import org.apache.kafka.streams.state.StoreBuilder

/** What Kafka Streams 4 has in another form than 3; see `kafka3`. */
object Release {
  type Records = Consumed[Any, Any]

  def startingAt(consumed: Records, latest: Boolean): Records =
    consumed.withOffsetResetPolicy(if (latest) AutoOffsetReset.latest() else AutoOffsetReset.earliest())

  /** `choose` returns the partition of a key and value, given the number of partitions. */
  def partitioned(produced: Produced[Any, Any], choose: (Any, Any, Int) => Integer): Produced[Any, Any] =
    produced.withStreamPartitioner((_: String, k: Any, v: Any, count: Int) =>
      Optional.of(Collections.singleton(choose(k, v, count)))
    )

  /** `read` returns the foreign key of a row, given its key and value. */
  def foreignKey(f: Fn, read: (Any, Any) => Any): BiFunction[Any, Any, Any] = (k, v) => read(k, v)

  def handlers(p: Properties, deserialization: String, processing: String): Unit = {
    p.put(StreamsConfig.DESERIALIZATION_EXCEPTION_HANDLER_CLASS_CONFIG, Handlers.deserialization(deserialization))
    p.put(StreamsConfig.PROCESSING_EXCEPTION_HANDLER_CLASS_CONFIG, Handlers.processing(processing))
  }

  /** Makes the metadata of each record known to expressions. */
  def withMeta(p: Properties): Unit = p.put(StreamsConfig.PROCESSOR_WRAPPER_CLASS_CONFIG, classOf[MetaWrapper].getName)

  /** Nothing to do: wrapped processors know their record. */
  def observe(driver: TopologyTestDriver): Unit = ()
}

/** Wraps every processor (processor.wrapper.class). Used only if an expression needs it. */
class MetaWrapper extends ProcessorWrapper {
  override def wrapProcessorSupplier[KIn, VIn, KOut, VOut](
      name: String,
      s: ProcessorSupplier[KIn, VIn, KOut, VOut]
  ): WrappedProcessorSupplier[KIn, VIn, KOut, VOut] =
    new WrappedProcessorSupplier[KIn, VIn, KOut, VOut] {
      override def get(): Processor[KIn, VIn, KOut, VOut] = new Processor[KIn, VIn, KOut, VOut] {
        private val p = s.get(); private var c: ProcessorContext[KOut, VOut] = _
        override def init(context: ProcessorContext[KOut, VOut]): Unit = { c = context; p.init(context) }
        override def process(r: Record[KIn, VIn]): Unit = Meta.during(r.timestamp, r.headers, c)(p.process(r))
        override def close(): Unit = p.close()
      }
      override def stores(): java.util.Set[StoreBuilder[_]] = s.stores()
    }
  override def wrapFixedKeyProcessorSupplier[KIn, VIn, VOut](
      name: String,
      s: FixedKeyProcessorSupplier[KIn, VIn, VOut]
  ): WrappedFixedKeyProcessorSupplier[KIn, VIn, VOut] =
    new WrappedFixedKeyProcessorSupplier[KIn, VIn, VOut] {
      override def get(): FixedKeyProcessor[KIn, VIn, VOut] = new FixedKeyProcessor[KIn, VIn, VOut] {
        private val p = s.get(); private var c: FixedKeyProcessorContext[KIn, VOut] = _
        override def init(context: FixedKeyProcessorContext[KIn, VOut]): Unit = { c = context; p.init(context) }
        override def process(r: FixedKeyRecord[KIn, VIn]): Unit = Meta.during(r.timestamp, r.headers, c)(p.process(r))
        override def close(): Unit = p.close()
      }
      override def stores(): java.util.Set[StoreBuilder[_]] = s.stores()
    }
}

/**
 * The handlers of the settings. fail: no dead letter, even if the other handler has a dead letter topic; continue: drop
 * and count; dead_letter, dead_letter_then_fail: Kafka's own handlers write it.
 */
object Handlers {
  def deserialization(setting: String): Class[_] = setting match {
    case "fail" => classOf[FailDeserialization]
    case "continue" => classOf[ContinueDeserialization]
    case DeadLetters.thenFail => classOf[LogAndFailExceptionHandler]
    case "function" => FunctionHandlers.deserialization
    case _ => classOf[LogAndContinueExceptionHandler]
  }
  def processing(setting: String): Class[_] = setting match {
    case "fail" => classOf[FailProcessing]
    case "continue" => classOf[ContinueProcessing]
    case DeadLetters.thenFail => classOf[LogAndFailProcessingExceptionHandler]
    case "function" => FunctionHandlers.processing
    case _ => classOf[LogAndContinueProcessingExceptionHandler]
  }
}
// `handle` is deprecated since 4.2, where `handleError` calls it; older releases have only this.
class FailDeserialization extends Deserialization(DeserializationHandlerResponse.FAIL)
class ContinueDeserialization extends Deserialization(DeserializationHandlerResponse.CONTINUE)
class FailProcessing extends Processing(ProcessingHandlerResponse.FAIL)
class ContinueProcessing extends Processing(ProcessingHandlerResponse.CONTINUE)

abstract class Deserialization(response: DeserializationHandlerResponse) extends DeserializationExceptionHandler {
  override def handle(
      c: ErrorHandlerContext,
      r: ConsumerRecord[Array[Byte], Array[Byte]],
      e: Exception
  ): DeserializationHandlerResponse = response
  override def configure(m: java.util.Map[String, _]): Unit = ()
}
abstract class Processing(response: ProcessingHandlerResponse) extends ProcessingExceptionHandler {
  override def handle(c: ErrorHandlerContext, r: Record[_, _], e: Exception): ProcessingHandlerResponse = response
  override def configure(m: java.util.Map[String, _]): Unit = ()
}
