package org.apache.spark.sql.millrace

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64
import java.util.concurrent.ConcurrentHashMap

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode

import org.apache.spark.sql.{Dataset, Row, SparkSession}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.connector.write.{DataWriter, PhysicalWriteInfo, WriterCommitMessage}
import org.apache.spark.sql.connector.write.streaming.{StreamingDataWriterFactory, StreamingWrite}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * Sources and sinks of a run without Kafka (py4j), for one JVM.
 *
 *   - `open(spark, run)`: begins a run, unless it is open. Its data is kept until `close`
 *   - `stream(run)`: a DataFrame of its lines with Kafka's columns and `merge`; the same one after a restart
 *   - `add(run, lines)`: a JSON array of `{"topic", "partition", "offset", "timestamp" (ms), "merge", "key", "value"
 *     (base64 or null), "headers": [[name, base64 or null]]}`, which becomes available at once, as one addition
 *   - `still(spark, run)`: a batch DataFrame of the lines that are passed to `hold` before it runs
 *   - `begin(run, states)`: the states that the tasks start with
 *   - `hold(run, lines, cuts, restartEach, dump)`: all lines, in the form of `add`; `cuts` is a JSON array of the last
 *     `merge` of each micro-batch
 *   - `sink(spark, run, sinks)`: sets up the sink to which a query writes by `format(Simulation.format).option("run",
 *     run)`. `sinks` is `{"settings": {"processing_handler", ...}, "sinks": {"<dest>": {"key": format, "value":
 *     format}}}` for sinks of DataFrames; those of stream tasks are known from `attach`
 *   - `take(run)`: a JSON array of the rows that were written since the last call, in the order in which they reached
 *     the topics: `{"dest", "topic", "partition", "key", "value" (JSON), "key_bytes", "value_bytes", "partition_key"
 *     (base64), "timestamp", "headers": [[name, base64]], "merge"}`. Nothing follows a STOP (dest -1, with "fault");
 *     rows that the failing record itself caused are left out
 *   - `encode(format, value)`: the value of an input line in base64; a value that does not fit its format is encoded as
 *     its own text
 *   - `trace(run, steps, bytes, breakpoints, stops)`: keeps every step of the run's records, up to these limits;
 *     `traced(run)` returns them
 *   - `close(run)`: forgets the run
 */
object Simulation {
  private[millrace] val sourceSchema: StructType = new StructType()
    .add("key", BinaryType)
    .add("value", BinaryType)
    .add("topic", StringType)
    .add("partition", IntegerType)
    .add("offset", LongType)
    .add("timestamp", TimestampType)
    .add("timestampType", IntegerType)
    .add("headers", Envelope.headerType)
    .add("merge", LongType)

  private[millrace] final class Shown(val key: Codec, val value: Codec)

  /** The last `merge` of each micro-batch. `dump`: the last micro-batch requests the contents of stores. */
  private[millrace] final class Cuts(val ends: Seq[Long], val restartEach: Boolean, val dump: Boolean)
  private final class Run(made: => MemoryStream[InternalRow]) {
    lazy val stream: MemoryStream[InternalRow] = made
    val held = new java.util.ArrayList[InternalRow]()
    @volatile var cuts = new Cuts(Nil, restartEach = false, dump = false)
    @volatile var sink: SimulationSink = _
    @volatile var trace: FullTrace = _
    @volatile var begun: Map[(Int, Int), HeldState] = Map.empty
    @volatile var done = 0
    @volatile var stopped = false
    val written = new java.util.ArrayList[Out]()
    val sinks = new ConcurrentHashMap[Integer, Shown]()
  }
  private[millrace] final class Out(
      val dest: Int,
      val merge: Long,
      val topic: String,
      val partition: Int,
      val offset: Long,
      val path: Array[Byte],
      val key: Array[Byte],
      val value: Array[Byte],
      val timestamp: Long,
      val headers: Seq[(String, Array[Byte])],
      val outTopic: String,
      val outPartition: Integer,
      val partitionKey: Array[Byte],
      val fault: String
  )
  private val runs = new ConcurrentHashMap[String, Run]()
  private val ids = new java.util.concurrent.atomic.AtomicInteger(1 << 20)

  private def of(run: String): Run = {
    val r = runs.get(run)
    if (r == null) throw new IllegalStateException(s"there is no simulation $run")
    r
  }

  def open(spark: SparkSession, run: String): Unit =
    runs.computeIfAbsent(run, _ => new Run(MemoryStream[InternalRow](spark, 1)(Internals.encoder(sourceSchema))))

  def stream(run: String): Dataset[Row] = of(run).stream.toDF()

  def add(run: String, lines: String): Unit = of(run).stream.addData(parse(lines))

  def still(spark: SparkSession, run: String): Dataset[Row] = {
    val session = Internals.classicSession(spark)
    val rows = session.sparkContext.parallelize(Seq(run), 1).flatMap(r => of(r).held.asScala.toSeq)
    session.internalCreateDataFrame(rows, sourceSchema)
  }

  def hold(run: String, lines: String, cuts: String, restartEach: Boolean, dump: Boolean): Unit = {
    of(run).held.addAll(parse(lines).asJava)
    of(run).cuts = new Cuts(Json.mapper.readTree(cuts).elements.asScala.map(_.asLong).toSeq, restartEach, dump)
  }

  /** Makes the run's tasks begin with the states that [[TaskStates.read]] returned; for runs without micro-batches. */
  def begin(run: String, states: String): Unit = of(run).begun = TaskStates.parse(states)
  private[millrace] def begun(run: String): Map[(Int, Int), HeldState] = of(run).begun

  private[millrace] def cuts(run: String): Cuts = of(run).cuts

  /** Stops a run without micro-batches before its next cut; callable from any thread. */
  def stop(run: String): Unit = of(run).stopped = true
  private[millrace] def stopped(run: String): Boolean = of(run).stopped
  private[millrace] def finished(run: String): Unit = { val r = of(run); r.done += 1 }

  /**
   * Returns `{"done": cuts that a run without micro-batches has finished, "counts": as in [[FullTrace]]}`; callable
   * from any thread while the run is in progress.
   */
  def progress(run: String): String = {
    val r = of(run)
    s"""{"done":${r.done},"counts":${if (r.trace == null) "[]" else r.trace.counted}}"""
  }

  private[millrace] def parse(lines: String): Seq[InternalRow] = {
    def bytes(j: JsonNode): Array[Byte] = if (j == null || j.isNull) null else Base64.getDecoder.decode(j.asText)
    Json.mapper
      .readTree(lines)
      .elements
      .asScala
      .map { l =>
        val headers = l.path("headers").elements.asScala.map(h => new Header(h.get(0).asText, bytes(h.get(1)))).toArray
        new GenericInternalRow(
          Array[Any](
            bytes(l.get("key")),
            bytes(l.get("value")),
            UTF8String.fromString(l.get("topic").asText),
            l.path("partition").asInt(0),
            l.path("offset").asLong(0),
            l.path("timestamp").asLong(0) * 1000L,
            0,
            Envelope.array(headers),
            l.path("merge").asLong(0)
          )
        ): InternalRow
      }
      .toSeq
  }

  /** Registers a sink of a stream task, if a simulation of that name is open. */
  private[millrace] def register(run: String, dest: Int, shown: Shown): Unit = {
    val r = runs.get(run)
    if (r != null) r.sinks.put(dest, shown)
  }

  val format: String = classOf[SimulationProvider].getName

  def sink(spark: SparkSession, run: String, sinks: String): Unit = {
    val j = Json.mapper.readTree(sinks)
    j.path("sinks").properties.asScala.foreach { e =>
      def codec(p: String) = Codec.parse(e.getValue.get(p), Some(StringType))
      of(run).sinks.put(e.getKey.toInt, new Shown(codec("key"), codec("value")))
    }
    of(run).sink = new SimulationSink(run, TaskGraph.settings(j), Reports.of(spark, run))
  }
  private[millrace] def sinkOf(run: String): SimulationSink = of(run).sink

  private[millrace] def collect(run: String, rows: java.util.ArrayList[Out]): Unit = {
    val r = runs.get(run)
    if (r != null) r.written.synchronized(r.written.addAll(rows))
  }

  /**
   * Sorts rows into the order in which they reach the topics. Of a STOP, nothing that comes after it remains, and of
   * what its record has sent only the dead letters.
   */
  private[millrace] def ordered(all: Array[Out]): Array[Out] = {
    def origin(a: Out, b: Out): Int = {
      var c = java.lang.Long.compare(a.merge, b.merge)
      if (c == 0) c = String.valueOf(a.topic).compareTo(String.valueOf(b.topic))
      if (c == 0) c = Integer.compare(a.partition, b.partition)
      if (c == 0) c = java.lang.Long.compare(a.offset, b.offset)
      c
    }
    java.util.Arrays.sort(
      all,
      (a: Out, b: Out) => {
        var c = origin(a, b)
        if (c == 0) c = java.util.Arrays.compareUnsigned(a.path, b.path)
        c
      }
    )
    val stop = all.find(_.dest == Envelope.STOP)
    stop
      .fold(all) { s =>
        def last(o: Out) = o.dest == Envelope.LAST_LETTER && origin(o, s) == 0
        all.filter(o => o.dest != Envelope.LAST_LETTER && origin(o, s) < 0) ++ all.takeWhile(_ ne s).filter(last) :+ s
      }
      .filter(_.dest != Envelope.CONTROL)
  }

  def take(run: String): String = {
    val r = of(run)
    val all = r.written.synchronized { val a = r.written.asScala.toArray; r.written.clear(); a }
    val answer = Json.mapper.createArrayNode()
    def base64(b: Array[Byte]): String = if (b == null) null else Base64.getEncoder.encodeToString(b)
    ordered(all).foreach { o =>
      val n = answer.addObject()
      n.put("dest", o.dest)
      n.put("topic", o.outTopic)
      n.put("merge", o.merge)
      n.put("timestamp", o.timestamp)
      n.put("partition", o.outPartition)
      n.put("key_bytes", base64(o.key))
      n.put("value_bytes", base64(o.value))
      n.put("partition_key", base64(o.partitionKey))
      n.put("fault", o.fault)
      def show(b: Array[Byte], codec: Codec): JsonNode = if (b == null) Json.mapper.nullNode
      else if (codec.format == "json") Json.mapper.readTree(b)
      else Json.node(codec.decode(b), codec.dataType)
      val s = if (o.dest < 0) null else r.sinks.get(o.dest)
      if (o.dest == Envelope.DUMP) n.replace("value", Json.mapper.readTree(o.value))
      else if (s != null) { n.replace("key", show(o.key, s.key)); n.replace("value", show(o.value, s.value)) }
      else { n.put("key", base64(o.key)); n.put("value", base64(o.value)) }
      val hs = n.putArray("headers")
      o.headers.foreach { case (k, v) => hs.addArray().add(k).add(base64(v)) }
    }
    Json.mapper.writeValueAsString(answer)
  }

  def encode(format: String, value: String): String = {
    val v = Json.mapper.readTree(value)
    if (v.isNull) null
    else {
      val codec = Columns.codec(format, Some(StringType))
      val bytes = codec.format match {
        case "json" => v.toString.getBytes(UTF_8)
        case "bytes" => Base64.getDecoder.decode(v.asText)
        case _ =>
          try codec.encode(Json.parse(value.getBytes(UTF_8), codec.dataType))
          catch { case _: BadBytes => v.asText.getBytes(UTF_8) }
      }
      Base64.getEncoder.encodeToString(bytes)
    }
  }

  /** Keeps all steps from the run's start on, up to limits of their number and their bytes. */
  def trace(run: String, mostSteps: Int, mostBytes: Long, breakpoints: String, mostStops: Int): Unit = {
    val trace = new FullTrace(mostSteps, mostBytes, Json.mapper.readTree(breakpoints), mostStops)
    of(run).trace = trace
    Trace.follow(run, trace.of)
  }

  /** The steps that were kept: see [[FullTrace]]. */
  def traced(run: String): String = of(run).trace.json

  def close(run: String): Unit = { runs.remove(run); Trace.forget(run); StreamTasks.release(run); Reports.close(run) }
}

/** Instantiated by Spark through its class name. */
class SimulationProvider extends SinkProvider {
  override private[millrace] def write(options: java.util.Map[String, String]): String => StreamingWrite = {
    val sink = Simulation.sinkOf(options.get("run"))
    _ => sink
  }
}

/** A sink that keeps rows in this JVM. */
private[millrace] final class SimulationSink(run: String, settings: Settings, statistics: RunAccumulator)
    extends StreamingWrite
    with StreamingDataWriterFactory {
  override def createStreamingWriterFactory(info: PhysicalWriteInfo): StreamingDataWriterFactory = this
  override def commit(epoch: Long, messages: Array[WriterCommitMessage]): Unit = ()
  override def abort(epoch: Long, messages: Array[WriterCommitMessage]): Unit = ()
  override def createWriter(partition: Int, task: Long, epoch: Long): DataWriter[InternalRow] =
    new SimulationWriter(run, settings, statistics)
  def writer(): DataWriter[InternalRow] = createWriter(0, 0L, 0L)
}

/** Keeps rows until the partition's micro-batch is complete. */
private[millrace] final class SimulationWriter(run: String, settings: Settings, statistics: RunAccumulator)
    extends DataWriter[InternalRow] {
  private val rows = new java.util.ArrayList[Simulation.Out]()
  override def write(r: InternalRow): Unit = {
    SinkRow.met(SinkRow.of(r), settings, statistics).foreach(rows.add)
  }
  override def commit(): WriterCommitMessage = { Simulation.collect(run, rows); Kept }
  override def abort(): Unit = ()
  override def close(): Unit = ()
}
private[millrace] case object Kept extends WriterCommitMessage

/** Converts envelope rows for sinks. */
private[millrace] object SinkRow {
  def of(r: InternalRow): Simulation.Out = {
    def text(i: Int): String = if (r.isNullAt(i)) null else r.getUTF8String(i).toString
    new Simulation.Out(
      r.getInt(Envelope.DEST),
      r.getLong(Envelope.MERGE),
      text(Envelope.TOPIC),
      if (r.isNullAt(Envelope.PARTITION)) -1 else r.getInt(Envelope.PARTITION),
      if (r.isNullAt(Envelope.OFFSET)) -1L else r.getLong(Envelope.OFFSET),
      { val p = Envelope.binary(r, Envelope.PATH); if (p == null) Array.emptyByteArray else p },
      Envelope.binary(r, Envelope.KEY),
      Envelope.binary(r, Envelope.VALUE),
      if (r.isNullAt(Envelope.TIMESTAMP)) -1L else r.getLong(Envelope.TIMESTAMP),
      Envelope.headers(r).map(h => (h.key, h.value)).toSeq,
      text(Envelope.OUT_TOPIC),
      if (r.isNullAt(Envelope.OUT_PARTITION)) null else Integer.valueOf(r.getInt(Envelope.OUT_PARTITION)),
      Envelope.binary(r, Envelope.PARTITION_KEY),
      text(Envelope.FAULT)
    )
  }

  /**
   * Applies the handler to a row whose DataFrame step failed, and returns what to write instead: nothing, a dead
   * letter, or a STOP, before which a dead letter may stand.
   */
  def met(o: Simulation.Out, settings: Settings, statistics: RunAccumulator): Seq[Simulation.Out] =
    if (o.dest < 0 || o.fault == null) Seq(o)
    else {
      val f = Faults.parse(o.fault)
      settings.handler(f.kind) match {
        case "continue" =>
          count(statistics)(_.dropped(f.node, f.reason, 1L))
          Nil
        case "dead_letter" =>
          count(statistics)(_.deadLetters(f.node, 1L))
          Seq(deadLetter(Envelope.DEAD_LETTER, o, f, settings))
        case Settings.letterThenFail => Seq(deadLetter(Envelope.LAST_LETTER, o, f, settings), stop(o, f))
        case _ => Seq(stop(o, f))
      }
    }

  private def deadLetter(dest: Int, o: Simulation.Out, f: Fault, settings: Settings): Simulation.Out = {
    val own = o.headers.map(h => new Header(h._1, h._2)).toArray
    val hs = Faults.headers(own, f, o.topic, o.partition, o.offset).toSeq.map(h => (h.key, h.value))
    new Simulation.Out(
      dest,
      o.merge,
      o.topic,
      o.partition,
      o.offset,
      o.path,
      o.key,
      o.value,
      o.timestamp,
      hs,
      settings.deadLetterTopic,
      null,
      null,
      null
    )
  }

  private def stop(o: Simulation.Out, f: Fault): Simulation.Out = {
    val at = if (f.record != null) f else f.at(new FaultRecord(o.topic, o.partition, o.offset, o.timestamp, o.key))
    new Simulation.Out(
      Envelope.STOP,
      o.merge,
      o.topic,
      o.partition,
      o.offset,
      o.path,
      null,
      null,
      o.timestamp,
      Nil,
      null,
      null,
      null,
      at.json
    )
  }

  private def count(statistics: RunAccumulator)(note: TaskReport => Unit): Unit = {
    val t = new TaskReport(0, 0)
    note(t)
    statistics.add(t)
  }
}
