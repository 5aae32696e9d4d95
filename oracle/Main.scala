package oracle

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}
import java.time.{Duration, Instant}
import java.util.{Base64, LinkedList}
import java.util.concurrent.atomic.AtomicLong
import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.header.internals.RecordHeaders
import org.apache.kafka.common.serialization.ByteArraySerializer
import org.apache.kafka.common.utils.Bytes
import org.apache.kafka.streams.{StreamsConfig, Topology, TopologyTestDriver}
import org.apache.kafka.streams.kstream.Windowed
import org.apache.kafka.streams.state._
import org.apache.kafka.streams.state.internals.{RocksDBVersionedStore, WrappedStateStore}
import org.apache.kafka.streams.test.TestRecord
import org.apache.spark.sql.types._
import scala.collection.mutable
import scala.jdk.CollectionConverters._

object Main {
  val mapper = Doc.mapper

  def main(args: Array[String]): Unit = {
    val rest = args.drop(1)
    val code = args.headOption match {
      case Some("scenarios") => scenarios(rest)
      case Some("simulate") => simulate(rest)
      case Some("serve") => serve()
      case Some("describe") => Describe.main(rest)
      case Some("app") => App.main(rest)
      case Some("bench") => Bench.main(rest)
      case _ =>
        System.err.println(
          "usage: run scenarios DIR [--only A,B] [--write] [--out DIR] | simulate DOC IN.jsonl | serve | describe DOC | app DOC … | bench …"
        ); 2
    }
    System.out.flush()
    Runtime.getRuntime.halt(code)
  }

  def options(args: Array[String], flags: Set[String] = Set.empty): (Seq[String], Map[String, String]) = {
    val pos = mutable.ArrayBuffer[String](); val opt = mutable.Map[String, String]()
    var i = 0
    while (i < args.length) {
      if (args(i).startsWith("--")) {
        val k = args(i).drop(2); if (flags(k)) opt(k) = "yes" else { i += 1; opt(k) = args(i) }
      } else pos += args(i)
      i += 1
    }
    (pos.toSeq, opt.toMap)
  }

  def builtins(j: JsonNode): Map[String, String] =
    Option(j.get("oracle_processors")).toSeq.flatMap(_.properties.asScala.map(e => e.getKey -> e.getValue.asText)).toMap

  // ---- modes ------------------------------------------------------------------------------------------------------

  def scenarios(args: Array[String]): Int = {
    val (pos, opt) = options(args, Set("write"))
    val only = opt.get("only").map(_.split(",").toSet)
    val dir = Paths.get(pos.head)
    var failed = 0
    val files =
      Files.list(dir).iterator.asScala.filter(_.toString.endsWith(".json")).toSeq.sortBy(_.getFileName.toString)
    files.foreach { f =>
      val j = mapper.readTree(f.toFile).asInstanceOf[ObjectNode]
      val id = j.path("id").asText(f.getFileName.toString.stripSuffix(".json"))
      if (only.forall(_(id))) {
        try {
          val doc = new Doc(j.get("topology"), builtins(j))
          val expected =
            if (j.path("compare").asText == "describe") Describe.expected(doc)
            else run(doc, j.path("inputs").elements.asScala.toSeq, s => System.err.println(s"$id: $s"))
          // Reasons are for people; a release may word them in another way.
          Option(expected.get("error")).foreach { case e: ObjectNode => e.remove("message"); case _ => () }
          if (opt.contains("write")) { j.set[JsonNode]("expected", expected); write(f, j) }
          else if (opt.contains("out")) {
            Files.createDirectories(Paths.get(opt("out")))
            val r = mapper.createObjectNode(); r.put("id", id); r.setAll[JsonNode](expected)
            Files.write(Paths.get(opt("out"), id + ".json"), mapper.writeValueAsBytes(r))
          } else println(s"""{"id": "$id", "expected": $expected}""")
        } catch {
          case e: Throwable =>
            failed += 1
            if (Build.debug) e.printStackTrace()
            System.err.println(
              s"$id: ORACLE ERROR ${e.getClass.getSimpleName}: ${e.getMessage} ${if (e.isInstanceOf[Unsupported]) ""
                else e.getStackTrace.take(3).mkString(" < ")}"
            )
        }
      }
    }
    if (failed > 0) 1 else 0
  }

  /** Reads scenarios from standard input and writes Kafka Streams' results to standard output, one per line. */
  def serve(): Int = {
    val in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in, UTF_8))
    val out = new java.io.PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), true, UTF_8)
    System.setOut(System.err) // nothing else may be written between the results
    out.println("READY")
    Sql.warm() // while who asks prepares the first scenario
    Iterator.continually(in.readLine()).takeWhile(_ != null).foreach { line =>
      val answer =
        try {
          val j = mapper.readTree(line)
          val doc = new Doc(j.get("topology"), builtins(j))
          if (j.path("compare").asText == "describe") Describe.expected(doc)
          else run(doc, j.path("inputs").elements.asScala.toSeq, _ => (), j.path("stores_after_each").asBoolean)
        } catch {
          case e @ (_: Unsupported | _: NoRecord) => mapper.createObjectNode().put("oracle_error", e.getMessage)
          case e: Throwable =>
            mapper.createObjectNode().put("oracle_error", s"${e.getClass.getSimpleName}: ${e.getMessage}")
        }
      out.println(mapper.writeValueAsString(answer))
    }
    0
  }

  def simulate(args: Array[String]): Int = {
    val (pos, _) = options(args)
    val j = mapper.readTree(Paths.get(pos.head).toFile)
    val doc = if (j.has("topology")) new Doc(j.get("topology"), builtins(j)) else new Doc(j, Map.empty)
    val r = run(
      doc,
      Files
        .readAllLines(Paths.get(pos(1)))
        .asScala
        .filter(_.trim.nonEmpty)
        .map(l => mapper.readTree(l): JsonNode)
        .toSeq,
      System.err.println(_)
    )
    r.get("outputs").elements.asScala.foreach(println)
    if (!r.get("error").isNull) { System.err.println(r.get("error")); 2 }
    else { System.err.println(s"dropped ${r.get("dropped")}"); 0 }
  }

  // ---- one document on the driver ---------------------------------------------------------------------------------

  /** Runs a document on the test driver. `storesAfterEach`: adds `stores_after`, the stores after each input. */
  def run(doc: => Doc, inputs: Seq[JsonNode], note: String => Unit, storesAfterEach: Boolean = false): ObjectNode = {
    val result = mapper.createObjectNode()
    val outputs = result.putArray("outputs")
    val storesAfter = if (storesAfterEach) Some(result.putArray("stores_after")) else None
    result.putNull("dropped"); result.putObject("stores"); result.putNull("error")
    val state = Files.createTempDirectory(
      Paths.get(System.getProperty("oracle.stores", System.getProperty("java.io.tmpdir"))),
      "state"
    )
    Sql.forget()
    ReadBack.clear()
    Unsupported.forget()
    val shown = new java.util.IdentityHashMap[Array[Byte], JsonNode]()
    SinkSerializer.shown = shown
    try {
      val (build, topology) =
        try { val b = new Build(doc); Python.require(b.doc); (b, b.topology()) }
        catch {
          case e @ (_: Refused | _: org.apache.kafka.streams.errors.TopologyException | _: IllegalArgumentException) =>
            return refuse(result, note, e.getMessage)
        }
      CoPartition.check(build, topology).foreach { reason => return refuse(result, note, reason) }
      val parts =
        try build.doc.parts().zipWithIndex.map { case (d, i) => new Part(d, state.resolve(i.toString)) }
        catch {
          case e: org.apache.kafka.streams.errors.StreamsException => // a processor's init
            Unsupported.require()
            note(s"stopped before the first input: ${root(e)}")
            return stop(result, 0, e)
        }
      try {
        var stopped = false
        inputs.zipWithIndex.foreach { case (line, i) =>
          if (!stopped) try {
            if (line.has("advance_wall_clock"))
              parts.foreach { p =>
                Release.observe(p.driver)
                p.driver.advanceWallClockTime(Duration.ofMillis(line.get("advance_wall_clock").asLong))
              }
            else if (!line.has("restart")) {
              val topic = line.get("topic").asText
              parts.find(_.build.formats(topic).isDefined) match {
                case None => note(s"no source reads $topic: line ignored")
                case Some(p) => pipe(p, line)
              }
            }
          } catch {
            case e: Exception =>
              note(s"stopped after ${i + 1}: ${root(e)}")
              if (Build.debug) e.printStackTrace()
              stopped = true
              parts.foreach(p => p.lastLetters().foreach(r => output(outputs, r, i + 1, shown, build)))
              stop(result, i + 1, e)
          }
          if (!stopped) {
            parts.foreach(p => p.log.take().foreach(r => output(outputs, r, i + 1, shown, build)))
            storesAfter.foreach { all =>
              val now = all.addObject(); parts.foreach(p => stores(now, p.build, p.driver))
            }
          }
        }
        Unsupported.require()
        if (!stopped) {
          val dropped = parts
            .flatMap(_.driver.metrics.asScala.collect {
              case (n, m) if n.name == "dropped-records-total" => m.metricValue.asInstanceOf[Double]
            })
            .sum
          result.put("dropped", dropped.toLong)
          parts.foreach(p => stores(result.get("stores").asInstanceOf[ObjectNode], p.build, p.driver))
        }
      } finally
        parts.foreach(p =>
          try p.driver.close()
          catch { case e: Exception => if (Build.debug) e.printStackTrace() }
        )
      result
    } finally { SinkSerializer.shown = null; Meta.observed = None; Python.close(); delete(state) }
  }

  private def refuse(r: ObjectNode, note: String => Unit, reason: String): ObjectNode = {
    note(s"refused: $reason")
    r.putObject("error").put("kind", "refused").put("message", reason)
    r
  }
  private def stop(r: ObjectNode, after: Int, e: Throwable): ObjectNode = {
    r.putObject("error").put("kind", "stopped").put("after", after).put("message", root(e))
    r
  }
  private def root(e: Throwable): String = {
    var x = e; while (x.getCause != null) x = x.getCause;
    s"${x.getClass.getSimpleName}: ${String.valueOf(x.getMessage).linesIterator.nextOption().getOrElse("")}"
  }
  def delete(p: Path): Unit = if (Files.exists(p))
    Files.walk(p).sorted(java.util.Comparator.reverseOrder[Path]()).forEach(x => Files.deleteIfExists(x))

  private def pipe(part: Part, line: JsonNode): Unit = {
    val topic = line.get("topic").asText
    val (kf, vf) = part.build.formats(topic).get
    val headers = new RecordHeaders()
    Option(line.get("headers")).foreach(
      _.properties.asScala.foreach(e =>
        headers.add(e.getKey, if (e.getValue.isNull) null else e.getValue.asText.getBytes(UTF_8))
      )
    )
    def bytes(name: String, f: Format) = if (line.has(name + "_bytes"))
      Base64.getDecoder.decode(line.get(name + "_bytes").asText)
    else f.fromLine(line.get(name))
    part.offsets.next(topic)
    Release.observe(part.driver)
    part.driver
      .createInputTopic(topic, new ByteArraySerializer, new ByteArraySerializer)
      .pipeInput(
        new TestRecord(
          bytes("key", kf),
          bytes("value", vf),
          headers,
          java.lang.Long.valueOf(line.path("timestamp").asLong(0))
        )
      )
  }

  /**
   * A connected part of a document, in a driver of its own: a driver has one task and one clock for everything that it
   * runs.
   */
  private class Part(doc: Doc, state: Path) {
    val build = new Build(doc)
    private val topology = build.topology()
    val driver = new TopologyTestDriver(
      topology,
      // The driver loses dead letters of an open transaction, which a broker commits. Everything else is the same.
      build.props(
        StreamsConfig.STATE_DIR_CONFIG -> state.toString,
        StreamsConfig.PROCESSING_GUARANTEE_CONFIG -> StreamsConfig.AT_LEAST_ONCE
      ),
      Instant.ofEpochMilli(0)
    )
    val log = new Recorder(driver)
    val offsets = new Offsets(driver)

    /**
     * The dead letters of the record that stopped the application. Under exactly once a broker aborts them; the driver
     * runs at least once.
     */
    def lastLetters(): Seq[ProducerRecord[Array[Byte], Array[Byte]]] = {
      val s = build.doc.settings
      val handlers = Seq("deserialization_handler", "processing_handler").flatMap(s.textOpt)
      val written =
        s.textOpt("dead_letter_topic").isDefined && handlers.exists(Set(DeadLetters.thenFail, "function"))
      if (!written || s.textOpt("processing_guarantee").contains("exactly_once")) Nil
      else {
        val field = classOf[TopologyTestDriver].getDeclaredField("producer")
        field.setAccessible(true)
        val producer = field.get(driver)
        val history = producer.getClass.getMethod("history")
        history.setAccessible(true)
        val sent = history.invoke(producer).asInstanceOf[java.util.List[ProducerRecord[Array[Byte], Array[Byte]]]]
        sent.asScala.filter(_.topic == s.text("dead_letter_topic")).toSeq
      }
    }
  }

  private def output(
      to: ArrayNode,
      r: ProducerRecord[Array[Byte], Array[Byte]],
      after: Int,
      shown: java.util.IdentityHashMap[Array[Byte], JsonNode],
      build: Build
  ): Unit =
    if (!build.internal(r.topic)) {
      val o = to.addObject()
      o.put("after", after); o.put("topic", r.topic)
      val dead = build.doc.settings.textOpt("dead_letter_topic").contains(r.topic) // raw bytes: format `bytes`
      def show(b: Array[Byte]): JsonNode =
        if (b == null) mapper.nullNode
        else if (dead || !shown.containsKey(b)) mapper.getNodeFactory.textNode(Base64.getEncoder.encodeToString(b))
        else shown.get(b)
      o.set[JsonNode]("key", show(r.key)); o.set[JsonNode]("value", show(r.value)); o.put("timestamp", r.timestamp)
      val hs = r.headers.toArray.filterNot(_.key.startsWith("__streams.errors."))
      if (hs.nonEmpty) {
        val h = o.putObject("headers");
        hs.foreach(x => if (x.value == null) h.putNull(x.key) else h.put(x.key, text(x.value)))
      }
    }

  /** A header as text if it is UTF-8, else as base64. */
  private def text(b: Array[Byte]): String =
    try UTF_8.newDecoder().decode(java.nio.ByteBuffer.wrap(b)).toString
    catch { case _: java.nio.charset.CharacterCodingException => Base64.getEncoder.encodeToString(b) }

  private def stores(to: ObjectNode, build: Build, driver: TopologyTestDriver): Unit =
    build.storeTypes.toSeq.sortBy(_._1).foreach { case (name, (kt, vt)) =>
      val rows = mutable.ArrayBuffer[(String, ObjectNode)]()
      def add(key: JsonNode, value: Any, ts: Option[Long]): Unit = {
        val o = mapper.createObjectNode()
        o.set[JsonNode]("key", key)
        o.set[JsonNode](
          "value",
          value match {
            case HeaderStores(v, timestamp, headers) => HeaderStores.json(v, timestamp, headers, vt)
            case HeaderStores.Aggregation(v, headers) => HeaderStores.json(v, headers, vt)
            case _ => Json.node(value, vt)
          }
        )
        ts.fold(o.putNull("timestamp"))(t => o.put("timestamp", t))
        rows += key.toString -> o
      }
      def windowed(k: Any) = Json.node(KeyType.see(k), kt.seen)
      def each[K, V](it: KeyValueIterator[K, V])(f: (K, V) => Unit): Unit = try
        it.forEachRemaining(kv => f(kv.key, kv.value))
      finally it.close()
      driver.getAllStateStores.get(name) match {
        case s: TimestampedKeyValueStore[Any, Any] @unchecked =>
          each(s.all())((k, v) => add(windowed(k), v.value, Some(v.timestamp)))
        case s: KeyValueStore[Any, Any] @unchecked =>
          each(s.all())((k, v) =>
            v match {
              case x: ValueAndTimestamp[_] => add(windowed(k), x.value, Some(x.timestamp))
              case _ => add(windowed(k), v, None)
            }
          )
        case s: TimestampedWindowStore[Any, Any] @unchecked =>
          each(s.all())((k, v) => add(windowed(k), v.value, Some(v.timestamp)))
        case s: WindowStore[Any, Any] @unchecked =>
          each(s.all())((k, v) =>
            v match {
              case x: ValueAndTimestamp[_] => add(windowed(k), x.value, Some(x.timestamp))
              case _ => add(windowed(k), v, None)
            }
          )
        case s: SessionStore[Any, Any] @unchecked =>
          // a session store has no all(): null stands for every key
          each(s.fetch(null, null))((k, v) => add(windowed(k), v, None))
        case s: VersionedKeyValueStore[Any, Any] @unchecked =>
          each(latest(s))((k, _) =>
            Option(kt.serde.deserializer.deserialize(null, k.get))
              .foreach(key => Option(s.get(key)).foreach(r => add(windowed(key), r.value, Some(r.timestamp))))
          )
        case null =>
        case other => throw new Unsupported(s"store $name is a ${other.getClass.getName}")
      }
      val a = to.putArray(name)
      rows.sortBy(_._1).foreach(r => a.add(r._2))
    }

  /** The latest values of a versioned store, which has no all() of its own: they are in a store below its wrappers. */
  private def latest(store: Any): KeyValueIterator[Bytes, Array[Byte]] = {
    def field(name: String): Any = {
      val f = store.getClass.getDeclaredField(name); f.setAccessible(true); f.get(store)
    }
    store match {
      case w: WrappedStateStore[_, _, _] => latest(w.wrapped)
      case _: RocksDBVersionedStore =>
        val rows = field("latestValueStore")
        val all = rows.getClass.getMethod("all"); all.setAccessible(true)
        all.invoke(rows).asInstanceOf[KeyValueIterator[Bytes, Array[Byte]]]
      case _ => latest(field("inner"))
    }
  }

  // ---- scenario files, readable: one input or output per line -------------------------------------------------------

  def write(f: Path, j: ObjectNode): Unit = Files.write(f, pretty(j, 0).concat("\n").getBytes(UTF_8))
  private def spaced(j: JsonNode): String = j match {
    case o: ObjectNode =>
      o.properties.iterator.asScala
        .map(e => s"${mapper.writeValueAsString(e.getKey)}: ${spaced(e.getValue)}")
        .mkString("{", ", ", "}")
    case a: ArrayNode => a.elements.asScala.map(spaced).mkString("[", ", ", "]")
    case x => mapper.writeValueAsString(x)
  }
  private def pretty(j: JsonNode, depth: Int): String = {
    val flat = spaced(j)
    val pad = "  " * (depth + 1)
    if (flat.length + 2 * depth <= 150 && depth > 0) flat
    else
      j match {
        case o: ObjectNode if !o.isEmpty =>
          o.properties.iterator.asScala
            .map(e => s"$pad${mapper.writeValueAsString(e.getKey)}: ${pretty(e.getValue, depth + 1)}")
            .mkString("{\n", ",\n", "\n" + "  " * depth + "}")
        case a: ArrayNode if !a.isEmpty =>
          a.elements.asScala.map(e => pad + pretty(e, depth + 1)).mkString("[\n", ",\n", "\n" + "  " * depth + "]")
        case _ => flat
      }
  }
}

/** Collects all records in the order in which the driver produced them, over all topics. */
class Recorder(driver: TopologyTestDriver) {
  private type R = ProducerRecord[Array[Byte], Array[Byte]]
  private val log = mutable.ArrayBuffer[R]()
  private val map = new java.util.HashMap[String, java.util.Queue[R]] {
    override def computeIfAbsent(
        k: String,
        f: java.util.function.Function[_ >: String, _ <: java.util.Queue[R]]
    ): java.util.Queue[R] =
      super.computeIfAbsent(
        k,
        (_: String) => new LinkedList[R] { override def add(r: R): Boolean = { log += r; true } }
      )
  }
  private val field = classOf[TopologyTestDriver].getDeclaredField("outputRecordsByTopic")
  field.setAccessible(true)
  field.set(driver, map)
  def take(): Seq[R] = { val r = log.toList; log.clear(); r }
}

/** Counts offsets by topic, as a broker does. The driver counts the records of all topics of a pattern together. */
class Offsets(driver: TopologyTestDriver) {
  private val places = classOf[TopologyTestDriver].getDeclaredMethod("getInputTopicOrPatternPartition", classOf[String])
  private val field = classOf[TopologyTestDriver].getDeclaredField("offsetsByTopicOrPatternPartition")
  places.setAccessible(true)
  field.setAccessible(true)
  private val counters = field.get(driver).asInstanceOf[java.util.Map[TopicPartition, AtomicLong]]
  private val counted = mutable.Map[String, Long]().withDefaultValue(0L)

  /** Call it before each record of the topic. */
  def next(topic: String): Unit = places.invoke(driver, topic) match {
    case place: TopicPartition if place.topic != topic =>
      counters.get(place).set(counted(topic))
      counted(topic) += 1
    case _ => ()
  }
}
