package org.apache.spark.sql.millrace

import java.io.{BufferedInputStream, BufferedOutputStream, DataInputStream, DataOutputStream, File}
import java.util.concurrent.{ConcurrentHashMap, TimeUnit}
import java.util.concurrent.atomic.AtomicLong

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, ArrayData, DateTimeUtils, GenericArrayData, MapData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** What calls Python: it handles the requests that Python makes before the call is done. */
private[millrace] trait PythonCaller {

  /** Handles one message of the worker. Returns the answer, or null if the worker does not wait for one. */
  private[millrace] def serve(m: JsonNode): JsonNode
}

/**
 * A Python process for the `process` nodes of one task, and for the handlers of its errors. Frames (4 bytes of length,
 * then JSON) go both ways, strictly in turns. Python sends its messages, as an ordered list, only when it waits for an
 * answer or is done, so stores, forwards and nested processors happen in the order of the program.
 *
 *   - to Python: `{"call": "start" | "process" | "punctuate" | "close", ...}` or `{"answer": ...}`
 *   - from Python: `[[message, ...], null]`, which waits for the answer to the last message, or `[[message, ...],
 *     {"done": true} | {"error": {...}, "lost": whether the process must be replaced}]`
 */
private[millrace] final class PythonWorker(options: WorkerOptions) {
  val generation: Long = PythonWorker.generations.incrementAndGet()
  private val process: Process = PythonWorker.start(options)
  private val in = new DataInputStream(new BufferedInputStream(process.getInputStream, 1 << 16))
  private val out = new DataOutputStream(new BufferedOutputStream(process.getOutputStream, 1 << 16))
  @volatile private var overdue = Long.MaxValue
  @volatile private var calling: Thread = _
  private var limit = 0L
  private var started = false
  @volatile private var timedOut = false
  @volatile private var lost = false
  PythonWorker.watched.put(this, this)

  def alive: Boolean = !lost && process.isAlive

  /**
   * Makes a call, and serves Python's requests until the call is done. Throws [[PythonFailure]]. The time limit applies
   * to the time that Python itself uses. Python enforces it as well and then reports the line; the limit here is
   * slightly longer and covers code that Python cannot interrupt. The first call also waits for the process to start,
   * which takes long on a busy machine.
   */
  def call(node: PythonCaller, m: ObjectNode): Unit = call(node, m, options.timeoutMs)

  /** Makes the last call to a processor, with a shorter limit, because the end of a run waits for it. */
  def farewell(node: PythonCaller, m: ObjectNode): Unit = {
    val limit = Math.min(options.timeoutMs, PythonWorker.farewellMs)
    call(node, m.put("limit_ms", limit), limit)
  }
  private def call(node: PythonCaller, m: ObjectNode, limitMs: Long): Unit = {
    val outer = calling
    calling = Thread.currentThread
    try converse(node, m, limitMs)
    finally calling = outer
  }

  /** Whether another thread is in a call. */
  def busy: Boolean = calling != null && calling != Thread.currentThread

  private def converse(node: PythonCaller, m: ObjectNode, limitMs: Long): Unit = {
    var left =
      TimeUnit.MILLISECONDS.toNanos(limitMs + PythonWorker.graceMs + (if (started) 0L else PythonWorker.startingMs))
    limit = limitMs
    started = true
    write(m)
    var done = false
    while (!done) {
      val since = System.nanoTime()
      val frame = read(left)
      left -= System.nanoTime() - since
      val messages = frame.get(0)
      var answer: JsonNode = null
      var i = 0
      while (i < messages.size) { answer = serve(node, messages.get(i)); i += 1 }
      val end = frame.get(1)
      if (end.isNull) {
        val reply = Json.mapper.createObjectNode()
        reply.replace("answer", if (answer == null) Json.mapper.nullNode else answer)
        write(reply)
      } else {
        done = true
        if (end.has("error")) {
          val e = end.get("error")
          if (end.path("lost").asBoolean)
            stop() // ended by user code, or out of memory: its state cannot be trusted anymore
          throw new ParameterFailure(
            "code",
            new PythonFailure(e.path("type").asText, e.path("message").asText, e.path("traceback").asText)
          )
        }
      }
    }
  }

  /** A failure in the middle of a call leaves Python waiting, so the process is replaced. */
  private def serve(node: PythonCaller, m: JsonNode): JsonNode = try node.serve(m)
  catch { case e: Throwable => stop(); throw e }

  private def write(m: JsonNode): Unit = try {
    val b = Json.mapper.writeValueAsBytes(m)
    out.writeInt(b.length)
    out.write(b)
    out.flush()
  } catch { case e: java.io.IOException => fail(e) }

  private def read(left: Long): JsonNode = {
    overdue = System.nanoTime() + left
    try {
      val n = in.readInt()
      val b = new Array[Byte](n)
      in.readFully(b)
      Json.mapper.readTree(b)
    } catch { case e: java.io.IOException => fail(e) }
    finally overdue = Long.MaxValue
  }

  private def fail(e: Exception): Nothing = {
    process.waitFor(1, TimeUnit.SECONDS) // the pipe ends a little before the process
    val ended = if (process.isAlive) None else Some(process.exitValue)
    val how = ended match {
      case None => ""
      case Some(code) if code > 128 => s" (by signal ${code - 128})"
      case Some(code) => s" (exit code $code)"
    }
    stop()
    val why =
      if (timedOut)
        Why(
          "python_timeout",
          s"the call did not return within $limit ms; its Python process was terminated",
          "limit" -> limit
        )
      else
        Why(
          "python_lost",
          s"the Python process ended unexpectedly$how",
          "exit_code" -> ended.fold("–")(_.toString)
        )
    throw new ParameterFailure(
      "code",
      new PythonFailure(if (timedOut) "TimeoutError" else "ProcessLost", why.message, String.valueOf(e)),
      why
    )
  }

  def stop(): Unit = {
    lost = true
    PythonWorker.watched.remove(this)
    process.destroyForcibly()
    process.waitFor(2, TimeUnit.SECONDS)
  }

  /** Ends the process, after its processors have been closed. */
  def close(): Unit = if (alive) {
    try { out.close(); if (!process.waitFor(5, TimeUnit.SECONDS)) process.destroyForcibly() }
    catch { case _: Exception => process.destroyForcibly() }
    lost = true
    PythonWorker.watched.remove(this)
  }

  private def check(now: Long): Unit =
    if (overdue != Long.MaxValue && now - overdue > 0) { timedOut = true; process.destroyForcibly() }
}

private[millrace] object PythonWorker {
  private val generations = new AtomicLong()
  private val graceMs = 2000L
  private val startingMs = 30000L
  private val farewellMs = 5000L

  /**
   * The variables of the driver's environment that a processor's process gets, in addition to locales (LC_...): those
   * that Python and HTTP clients need. It gets no others, because its code comes from a document and other variables
   * may contain secrets. PYTHONPATH and PYTHONHASHSEED are set below.
   */
  private val environment =
    ("PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR LD_LIBRARY_PATH VIRTUAL_ENV " +
      "SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy")
      .split(' ')
      .toSet
  private val watched = new ConcurrentHashMap[PythonWorker, PythonWorker]()
  private val watchdog = new Thread(
    () => while (true) { Thread.sleep(50); val now = System.nanoTime(); watched.keySet.forEach(_.check(now)) },
    "millrace-python-watchdog"
  )
  watchdog.setDaemon(true)
  watchdog.start()
  Runtime.getRuntime.addShutdownHook(new Thread(() => {
    StreamTasks.releaseAll()
    watched.keySet.forEach(_.process.destroyForcibly())
  }))

  /** Starts the worker by its file's path if that is known: importing the package would also import PySpark. */
  private def start(o: WorkerOptions): Process = {
    val file = o.path
      .split(File.pathSeparator)
      .filter(_.nonEmpty)
      .map(p => new File(p, "millrace_runtime/processor/worker.py"))
      .find(_.isFile)
    val worker = file.map(f => Seq(f.getPath)).getOrElse(Seq("-m", "millrace_runtime.processor.worker"))
    val command = o.python +: "-u" +: worker
    val b = new ProcessBuilder((command ++ Seq(o.timeoutMs.toString, o.memoryMb.toString)): _*)
      .redirectError(ProcessBuilder.Redirect.INHERIT)
    b.environment().keySet.removeIf(name => !PythonWorker.environment(name) && !name.startsWith("LC_"))
    if (o.path.nonEmpty) b.environment().put("PYTHONPATH", o.path)
    b.environment().put("PYTHONHASHSEED", "0")
    try b.start()
    catch {
      case e: java.io.IOException =>
        throw new PythonFailure("ProcessNotStarted", s"${o.python} could not be started: ${e.getMessage}", "")
    }
  }
}

/**
 * Converts values between the task and Python: JSON, with DECIMAL and NaN, which are not numbers in JSON, as text,
 * BINARY as base64, TIMESTAMP as integer ms.
 */
private[millrace] object Wire {
  private val nodes = new ObjectMapper().getNodeFactory

  def node(v: Any, t: DataType): JsonNode = if (v == null) nodes.nullNode
  else
    t match {
      case StringType => nodes.textNode(v.toString)
      case IntegerType => nodes.numberNode(v.asInstanceOf[Int])
      case LongType => nodes.numberNode(v.asInstanceOf[Long])
      case ShortType => nodes.numberNode(v.asInstanceOf[Short])
      case ByteType => nodes.numberNode(v.asInstanceOf[Byte])
      case DoubleType =>
        val d = v.asInstanceOf[Double]
        if (d.isNaN || d.isInfinite) nodes.textNode(d.toString) else nodes.numberNode(d)
      case FloatType =>
        val d = v.asInstanceOf[Float]
        if (d.isNaN || d.isInfinite) nodes.textNode(d.toString) else nodes.numberNode(d)
      case BooleanType => nodes.booleanNode(v.asInstanceOf[Boolean])
      case _: DecimalType => nodes.textNode(v.asInstanceOf[Decimal].toJavaBigDecimal.toPlainString)
      case TimestampType | TimestampNTZType => nodes.numberNode(Math.floorDiv(v.asInstanceOf[Long], 1000L))
      case DateType => nodes.textNode(java.time.LocalDate.ofEpochDay(v.asInstanceOf[Int].toLong).toString)
      case BinaryType => nodes.binaryNode(v.asInstanceOf[Array[Byte]])
      case ArrayType(e, _) =>
        val a = v.asInstanceOf[ArrayData]
        val out: ArrayNode = nodes.arrayNode()
        var i = 0
        while (i < a.numElements()) { out.add(node(if (a.isNullAt(i)) null else a.get(i, e), e)); i += 1 }
        out
      case MapType(k, e, _) => // pairs, so that keys keep their type
        val m = v.asInstanceOf[MapData]
        val (ks, vs) = (m.keyArray(), m.valueArray())
        val out: ArrayNode = nodes.arrayNode()
        var i = 0
        while (i < m.numElements()) {
          val p = out.addArray()
          p.add(node(ks.get(i, k), k))
          p.add(node(if (vs.isNullAt(i)) null else vs.get(i, e), e))
          i += 1
        }
        out
      case s: StructType =>
        val r = v.asInstanceOf[InternalRow]
        val out: ObjectNode = nodes.objectNode()
        var i = 0
        while (i < s.length) {
          val f = s.fields(i)
          out.replace(f.name, node(if (r.isNullAt(i)) null else r.get(i, f.dataType), f.dataType))
          i += 1
        }
        out
      case NullType => nodes.nullNode
      case other => throw new IllegalArgumentException(s"processors do not support ${other.sql}")
    }

  def value(j: JsonNode, t: DataType): Any = if (j == null || j.isNull) null
  else
    t match {
      case StringType => UTF8String.fromString(j.asText)
      case IntegerType => j.intValue
      case LongType => j.longValue
      case ShortType => j.shortValue
      case ByteType => j.intValue.toByte
      case DoubleType => if (j.isTextual) special(j.asText) else j.doubleValue
      case FloatType => if (j.isTextual) special(j.asText).toFloat else j.floatValue
      case BooleanType => j.booleanValue
      case d: DecimalType =>
        val made = Decimal(new java.math.BigDecimal(j.asText))
        if (!made.changePrecision(d.precision, d.scale))
          throw new IllegalArgumentException(s"${j.asText} does not fit ${d.sql}")
        made
      case TimestampType | TimestampNTZType => Math.multiplyExact(j.longValue, 1000L)
      case DateType => DateTimeUtils.localDateToDays(java.time.LocalDate.parse(j.asText))
      case BinaryType => j.binaryValue
      case ArrayType(e, _) => new GenericArrayData(Array.tabulate[Any](j.size)(i => value(j.get(i), e)))
      case MapType(k, e, _) =>
        new ArrayBasedMapData(
          new GenericArrayData(Array.tabulate[Any](j.size)(i => value(j.get(i).get(0), k))),
          new GenericArrayData(Array.tabulate[Any](j.size)(i => value(j.get(i).get(1), e)))
        )
      case s: StructType =>
        new GenericInternalRow(Array.tabulate[Any](s.length)(i => value(j.get(s.fields(i).name), s.fields(i).dataType)))
      case _ => null
    }

  private def special(s: String): Double = s match {
    case "NaN" => Double.NaN
    case "Infinity" => Double.PositiveInfinity
    case "-Infinity" => Double.NegativeInfinity
    case other => other.toDouble
  }
}
