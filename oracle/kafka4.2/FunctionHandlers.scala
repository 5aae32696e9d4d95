package oracle

import java.util.Map
import org.apache.kafka.clients.consumer.ConsumerRecord
import org.apache.kafka.common.Configurable
import org.apache.kafka.streams.errors.{
  DeserializationExceptionHandler,
  ErrorHandlerContext,
  ProcessingExceptionHandler
}
import org.apache.kafka.streams.processor.api.Record

/** Handlers that ask functions in Python: since 4.2, they answer with records to send. See `before4.2`. */
object FunctionHandlers {
  def deserialization: Class[_] = classOf[FunctionDeserialization]
  def processing: Class[_] = classOf[FunctionProcessing]
}

trait FunctionHandler extends Configurable {
  private var functions: PythonHandlers = _
  override def configure(m: Map[String, _]): Unit =
    functions = m.get(PythonHandlers.property).asInstanceOf[PythonHandlers]

  protected def asked(
      kind: String,
      c: ErrorHandlerContext,
      key: Array[Byte],
      value: Array[Byte],
      e: Exception
  ): HandlerAnswer = {
    val record = new FailedRecord(c.topic, c.partition, c.offset, c.timestamp, key, value, c.headers)
    functions.answer(kind, c.processorNodeId, record, e)
  }
}

class FunctionDeserialization extends DeserializationExceptionHandler with FunctionHandler {
  override def handleError(
      c: ErrorHandlerContext,
      r: ConsumerRecord[Array[Byte], Array[Byte]],
      e: Exception
  ): DeserializationExceptionHandler.Response = {
    val found = asked("deserialization", c, r.key, r.value, e)
    if (found.goesOn) DeserializationExceptionHandler.Response.resume(found.letters)
    else DeserializationExceptionHandler.Response.fail(found.letters)
  }
}

class FunctionProcessing extends ProcessingExceptionHandler with FunctionHandler {
  override def handleError(
      c: ErrorHandlerContext,
      r: Record[_, _],
      e: Exception
  ): ProcessingExceptionHandler.Response = {
    val found = asked("processing", c, c.sourceRawKey, c.sourceRawValue, e)
    if (found.goesOn) ProcessingExceptionHandler.Response.resume(found.letters)
    else ProcessingExceptionHandler.Response.fail(found.letters)
  }
}
