package org.apache.spark.sql.millrace

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode

import org.apache.spark.SparkEnv

/**
 * The last records between the nodes of a running job, for inspection. Tasks have no trace until a person watches.
 *
 *   - `watch(run)`: keeps records from the next micro-batch on (in real time: from the next record on)
 *   - `take(run)`: the records that are kept here and by executors; null if there are no new ones since the last call.
 *     `[{"from": physical node, "port", "to": physical node, "input", "keys", "records": [newest first: {"number",
 *     "seen" (epoch ms), "key", "value", "timestamp", "headers": {name: text or null}, "topic", "partition",
 *     "offset"}]}]`; an edge is listed once by each JVM that keeps some of its records
 *   - `unwatch(run)`: false as long as tasks of real time have not stopped yet; call again
 *
 * A key or value longer than [[Samples.longestValue]] characters of JSON is the beginning of that text, with "key_cut"
 * or "value_cut". Topic, partition and offset are those of the input record that caused it, or null. Each call of
 * `take` lets every task keep some more records. "keys": the counts of [[HotKeys]] since `watch`.
 */
object Samples {

  /** The number of records that are kept of an edge, and that a task may add to it between two calls of `take`. */
  val perEdge = 20
  private[millrace] val longestValue = 2000

  /** Limits in characters of JSON: kept of an edge, added by a task between two calls of `take`, returned by `take`. */
  private[millrace] val mostOfEdge = 40000
  private[millrace] val mostOfTask = 100000
  private[millrace] val mostTaken = 400000
  private val longestHeaders = 1000

  private val runs = new ConcurrentHashMap[String, Sampler]()

  def watch(run: String): Unit = {
    runs.computeIfAbsent(run, _ => { val s = new Sampler; Trace.follow(run, s.of); s })
    StreamTasks.followAgain(run)
  }

  def unwatch(run: String): Boolean = {
    if (runs.remove(run) != null) Trace.forget(run)
    StreamTasks.followAgain(run)
  }

  def take(run: String): String = take(run, mostTaken)

  private[millrace] def take(run: String, most: Int): String = {
    val s = runs.get(run)
    if (s == null) null else s.take(most)
  }

  /** Adds the records that an executor has kept. Returns the number of characters that it may send next time. */
  private[millrace] def share(run: String, executor: String, kept: String): Int = {
    val s = runs.get(run)
    if (s == null) 0 else s.share(executor, kept)
  }

  /** Writes a value, or the beginning of its text. */
  private[millrace] def put(o: ObjectNode, name: String, value: JsonNode): Unit = {
    val text = Json.mapper.writeValueAsString(value)
    if (text.length <= longestValue) o.replace(name, value)
    else { o.put(name, text.substring(0, longestValue)); o.put(s"${name}_cut", true) }
  }

  private[millrace] def headers(r: Record): ObjectNode = {
    val shown = Json.mapper.createObjectNode()
    var left = longestHeaders
    r.headers.foreach { h =>
      val text = FullTrace.text(h.value)
      left -= h.key.length + (if (text == null) 0 else text.length)
      if (left >= 0) shown.put(h.key, text)
    }
    shown
  }
}

private object Sampler {

  /** An executor's records are discarded when it has not asked for this long. */
  val silentMs = 10000L

  /** The multiplier that makes record numbers of different JVMs distinct. */
  val jvms = 1000L
  val jvm: Long = SparkEnv.get.executorId.toLongOption.fold(0L)(_ % (jvms - 1) + 1)
}

/** An edge from an output of a physical node to an input of another. */
private[millrace] final case class Way(from: String, port: String, to: String, input: Int)

/**
 * Keeps the last records of each edge. Of a busy edge these are a sample: in each turn, which a call of `take` ends, a
 * task may add a limited number of records; after that it only checks whether a new turn has begun.
 */
private[millrace] final class Sampler {
  private final class Kept(val number: Long, val json: String)
  private final class Ring {
    private val kept = new java.util.ArrayDeque[Kept]()
    private var chars = 0
    def add(k: Kept): Unit = synchronized {
      kept.addLast(k)
      chars += k.json.length
      while (kept.size > Samples.perEdge || (chars > Samples.mostOfEdge && kept.size > 1))
        chars -= kept.pollFirst().json.length
    }
    def newestFirst: Seq[Kept] = synchronized(kept.descendingIterator.asScala.toVector)
  }

  @volatile private var turn = 0
  private val numbers = new AtomicLong()
  private var taken = -1L

  private val rings = new ConcurrentHashMap[Way, Ring]()
  private val keys = new ConcurrentHashMap[Way, HotKeys]()

  /** The traces of tasks, by level and index. */
  private val tasks = new ConcurrentHashMap[(Int, Int), Of]()

  def of(task: StreamTask): Trace =
    tasks.compute((task.levelNumber, task.index), (_, of) => if (of != null && of.task == task) of else new Of(task))

  /** By executor: the records that it kept, and when it last asked. */
  private val received = mutable.Map[String, (String, Long)]()
  private var news = false

  def share(executor: String, kept: String): Int = synchronized {
    val now = System.currentTimeMillis()
    received(executor) = (Option(kept).orElse(received.get(executor).map(_._1)).getOrElse("[]"), now)
    received.filterInPlace { case (_, (_, at)) => at > now - Sampler.silentMs }
    news |= kept != null
    Samples.mostTaken / received.size
  }

  def take(most: Int): String = synchronized {
    turn += 1
    val now = numbers.get
    if (now == taken && !news) null
    else {
      taken = now
      news = false
      (own(most) +: received.values.toSeq.map(_._1))
        .map(_.drop(1).dropRight(1))
        .filter(_.nonEmpty)
        .mkString("[", ",", "]")
    }
  }

  private def own(most: Int): String = {
    val ways = rings.asScala.toSeq.map { case (way, ring) => way -> ring.newestFirst }
    // Of very many edges, fewer records each are returned, so that the total is bounded.
    val each = Iterator
      .iterate(Samples.perEdge)(_ / 2)
      .takeWhile(_ > 1)
      .find(n => ways.map(_._2.take(n).map(_.json.length).sum).sum <= most)
      .getOrElse(1)
    var left = most
    ways
      .sortBy(-_._2.headOption.fold(0L)(_.number))
      .map { case (way, all) =>
        val fitting = all.take(each).takeWhile { k => left -= k.json.length; left >= 0 }
        val o = Json.mapper.createObjectNode()
        o.put("from", way.from)
        o.put("port", way.port)
        o.put("to", way.to)
        o.put("input", way.input)
        val head = Json.mapper.writeValueAsString(o)
        val hot = keys.get(way).json
        s"""${head.dropRight(1)},"keys":$hot,"records":[${fitting.map(_.json).mkString(",")}]}"""
      }
      .mkString("[", ",", "]")
  }

  /** Samples of the records that reach one node's input in one task. */
  private final class Slot(val ring: Ring, val keys: HotKeys#Of, val port: Port) { var turn = -1; var left = 0 }
  private val nowhere = new Slot(null, null, null)

  private final class Of(val task: StreamTask) extends Trace {
    private var began = -1
    private var room = 0

    override def of(node: Node): Trace = new At(node)

    private final class At(watched: Node) extends Trace {
      private val slots = new Array[Slot](Math.max(1, watched.spec.parents.size))

      override def entered(node: Node, input: Int, r: Record): Unit = if (input < slots.length) {
        var s = slots(input)
        if (s == null) { s = slot(node, input); slots(input) = s }
        if (s ne nowhere) {
          val now = turn
          if (s.turn != now) { s.turn = now; s.left = Samples.perEdge; s.keys.next() }
          if (s.keys.chooses()) choose(s, r)
          if (s.left > 0) show(s, r)
        }
      }
    }

    private def choose(s: Slot, r: Record): Unit =
      try s.keys.add(Json.mapper.writeValueAsString(Json.node(r.key, s.port.key.seen)))
      catch { case NonFatal(_) => () }

    private def show(s: Slot, r: Record): Unit = {
      s.left -= 1
      if (began != s.turn) { began = s.turn; room = Samples.mostOfTask }
      // Watching a job must never end it.
      if (room > 0)
        try keep(s, r)
        catch { case NonFatal(_) => s.left = 0 }
    }

    private def keep(s: Slot, r: Record): Unit = {
      val o = Json.mapper.createObjectNode()
      val number = numbers.incrementAndGet() * Sampler.jvms + Sampler.jvm
      o.put("number", number)
      o.put("seen", System.currentTimeMillis())
      Samples.put(o, "key", Json.node(r.key, s.port.key.seen))
      Samples.put(o, "value", Json.node(r.value match { case c: Change => c.newValue; case v => v }, s.port.value))
      o.put("timestamp", r.timestamp)
      o.replace("headers", Samples.headers(r))
      task.cause match {
        case Some((topic, partition, offset)) =>
          o.put("topic", topic)
          o.put("partition", partition)
          o.put("offset", offset)
        case None =>
          o.putNull("topic")
          o.putNull("partition")
          o.putNull("offset")
      }
      val json = Json.mapper.writeValueAsString(o)
      room -= json.length
      s.ring.add(new Kept(number, json))
    }

    private def slot(node: Node, input: Int): Slot = node.spec.parents.lift(input) match {
      // Between two physical nodes of one node of the document there is no edge.
      case Some((from, port)) if node.parents.lift(input).forall(p => p == null || p.node != node.node) =>
        val way = Way(from, port, node.id, input)
        // The keys must exist before the ring, because `take` looks for the keys of each ring.
        val hot = keys.computeIfAbsent(way, _ => new HotKeys)
        new Slot(
          rings.computeIfAbsent(way, _ => new Ring),
          hot.of(task.taskId(node.spec.sub)),
          node.spec.inputs.lift(input).getOrElse(node.spec.ports.head._2)
        )
      case _ => nowhere
    }
  }
}
