package org.apache.spark.sql.millrace

import java.util.{ArrayDeque, HashMap => JHashMap, PriorityQueue}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * What all tasks of a deployment know. `run` names it, `application` is its part of the names of internal topics; in a simulation the wall clock moves by
 * control rows only; in real time rows come one by one.
 */
private[millrace] final case class TaskOptions(run: String, application: String, simulation: Boolean, partitions: Int, workers: WorkerOptions, realTime: Boolean,
    changes: StateChanges = StateChanges.none) {
  private val salts = Internals.salts(partitions)
  /** Of a task's index. A level may have fewer tasks than there are shuffle partitions, never more. */
  def salt(index: Int): Int = salts(index)
  def indexOf(salt: Int): Int = salts.indexOf(salt)
}

/** How Python workers of process nodes are started. */
private[millrace] final case class WorkerOptions(python: String, path: String, timeoutMs: Long, memoryMb: Long)

/**
 * One task of one level at work: the nodes, their stores and clocks. Rows come in the order of their places; each is pushed through the graph, depth first,
 * before the next is taken [PL3]. The task lives on between micro-batches and is rebuilt from the state when the state is not the one that it wrote.
 */
private[millrace] final class StreamTask(level: LevelSpec, val index: Int, salt: Int, options: TaskOptions) extends TaskContext with Failures with SourceAccess {
  private var state: StateHandle = _
  private val stores = new java.util.LinkedHashMap[String, CachedStore]()
  /** Of each store that is no index: the sub-topology of the node that asked for it first. */
  private val storeSubs = new JHashMap[String, Int]()
  private val clocks = new java.util.LinkedHashMap[String, Clock]()
  private val out = new ArrayDeque[InternalRow]()
  private val hops = new ArrayDeque[InternalRow]()
  private val droppedBy = new JHashMap[(String, String), Array[Long]]()
  private val deadLetters = new JHashMap[String, Array[Long]]()
  private val schedules = new PriorityQueue[Due]((a: Due, b: Due) => { val c = java.lang.Long.compare(a.next.value, b.next.value); if (c != 0) c else Integer.compare(a.number, b.number) })
  private val wallSchedules = new PriorityQueue[Due](schedules.comparator)
  private val scheduled = new JHashMap[String, Integer]()
  private val timed = new JHashMap[Integer, Clock]()
  /** Of each topic-partition: the last offset that was read, and how many records since the last report. */
  private val offsets = new JHashMap[(String, Int), Array[Long]]()
  private var stopped = false
  /** Written with every flush: the state is this task's own if it holds the same. */
  private[millrace] var token = 0L

  // ---- the record in work -------------------------------------------------------------------------------------------
  override def topic: UTF8String = recordTopic
  override def partition: Int = recordPartition
  override def offset: Long = recordOffset
  private var recordTopic: UTF8String = _
  /** Of the record in work, if it came through a topic of the application's own. */
  private var internalTopic: UTF8String = _
  private var recordPartition = -1
  private var recordOffset = -1L
  private var originTopic: UTF8String = _
  private var originPartition = -1
  private var originOffset = -1L
  private var originMerge = 0L
  private var originPath: Array[Byte] = Array.emptyByteArray
  private var emitted = 0
  private val turns = if (options.simulation) new Turns(level.level, index, options.partitions) else null
  private var rawKey: Array[Byte] = _
  private var rawBytes: Array[Byte] = _
  /** Of a packed row: what encodes its value, should it become a dead letter. */
  private var rawCodec: Codec = _
  private var rawPlain: Any = _
  private var rawHeaders: Headers = Headers.empty
  private var rawTimestamp = -1L

  // ---- the nodes ------------------------------------------------------------------------------------------------------
  private val nodes = new JHashMap[String, Node]()
  level.nodes.foreach(s => nodes.put(s.id, s.create()))
  private val specs: Map[String, NodeSpec] = level.nodes.map(s => s.id -> s).toMap
  /** By dest. */
  private val entrances = new JHashMap[Integer, Entrance]()
  wire()

  private def portOf(id: String, port: String): Port =
    specs.get(id).map(_.ports).orElse(level.foreign.get(id)).flatMap(_.collectFirst { case (`port`, p) => p })
      .getOrElse(throw new IllegalStateException(s"no port $port of $id"))

  private def wire(): Unit = {
    level.nodes.foreach { s =>
      val node = nodes.get(s.id)
      val edges = level.edges.filter(e => e.from == s.id && !e.hop)
      def wired(e: Edge, dest: Int) = e.port -> new Link(new WireNode(s, dest, portOf(e.from, e.port)), 0)
      // First to who keeps a copy of the table, on a later level: it must know an update before what the same record causes arrives there.
      val copies = if (s.derived) Array.empty[(String, Link)] else mirrorsOf(s).map("out" -> _) ++
        edges.filter(e => e.keeps && e.toLevel != level.level && (e.derived || edges.length > 1)).map(e => wired(e, e.dest | Graph.keep)) ++
        edges.filter(e => e.reads && e.toLevel != level.level).map(e => wired(e, e.dest))
      val links = (copies ++ edges.filter(e => e.toLevel == level.level || !e.reads).map { e =>
        if (e.toLevel == level.level) e.port -> new Link(nodes.get(e.to), e.input, e.unwrap) else wired(e, e.dest)
      }).toSeq
      if (s.derived) node.mirrors = mirrorsOf(s)
      node.links = links.map(_._2).toArray
      node.portLinks = s.ports.map { case (port, _) => port -> links.collect { case (`port`, link) => link }.toArray }.toMap
      node.parents = s.parents.map(p => nodes.get(p._1)).toArray
      node match {
        case source: SourceNode => entrances.put(s.index, new SourceEntrance(source))
        case _ if s.parents.isEmpty => entrances.put(s.index, new PackedEntrance(node, 0, s.ports.head._2, unwrap = false, null))
        case _ =>
      }
    }
    level.edges.filter(e => e.toLevel == level.level && (e.hop || e.fromLevel != level.level)).foreach { e =>
      entrances.put(e.dest, new PackedEntrance(nodes.get(e.to), e.input, portOf(e.from, e.port), e.unwrap, e))
      if (e.keeps) entrances.put(e.dest | Graph.keep, new KeepingEntrance(nodes.get(e.to), e.input, portOf(e.from, e.port)))
    }
  }

  /** Of the derived tables that ask this one when they are looked up (itself, if it is one): the way to copies of them on later levels. */
  private def mirrorsOf(s: NodeSpec): Array[Link] = {
    val found = new java.util.LinkedHashSet[NodeSpec]()
    def visit(t: NodeSpec): Unit = if (t.derived && found.add(t)) below(t)
    def below(t: NodeSpec): Unit = level.edges.foreach(e => if (e.from == t.id && !e.hop && e.toLevel == level.level) visit(specs(e.to)))
    if (s.derived) visit(s) else if (s.ports.exists(_._2.isInstanceOf[TablePort])) below(s)
    found.asScala.toArray.filter { case t: TableSpec => t.answers; case _ => false }.flatMap { t =>
      level.edges.filter(e => e.from == t.id && e.toLevel != level.level && (e.keeps || e.reads)).map { e =>
        new Link(new MirrorNode(t, nodes.get(t.id).asInstanceOf[TableView], new WireNode(t, if (e.keeps) e.dest | Graph.keep else e.dest, portOf(e.from, e.port))), 0)
      }
    }
  }

  private abstract class Entrance(val node: Node) {
    val sub: Int = node.spec.sub
    /** True where a DataFrame sent the rows through a topic. */
    val external: Boolean = false
    /** Rows since the last report. */
    var taken = 0L
    lazy val streamTime: Clock = StreamTask.this.streamTime(sub)
    def take(row: InternalRow): Unit
    /** Where the record in work comes from, if it is not where the input record came from. */
    protected final def from(row: InternalRow): Unit = if (!row.isNullAt(Envelope.OUT_TOPIC)) {
      val topic = row.getUTF8String(Envelope.OUT_TOPIC)
      recordTopic = if (topic.numBytes == 0) null else topic.clone()
      internalTopic = recordTopic
      recordPartition = row.getInt(Envelope.OUT_PARTITION); recordOffset = Bytes.getLong(row.getBinary(Envelope.PARTITION_KEY), 0)
    }
  }
  private final class SourceEntrance(source: SourceNode) extends Entrance(source) {
    /** The topic-partition of the last row; rows come in runs of one. */
    private var lastTopic: UTF8String = _
    private var lastPartition = -1
    private var last: Array[Long] = _
    override def take(row: InternalRow): Unit = {
      if (!(originTopic eq lastTopic) || originPartition != lastPartition) {
        lastTopic = originTopic; lastPartition = originPartition
        last = offsets.computeIfAbsent((String.valueOf(originTopic), originPartition), _ => Array(-1L, 0L))
      }
      // Another source of the task may have read the record before.
      if (originOffset > last(0)) { last(0) = originOffset; last(1) += 1 }
      rawBytes = Envelope.binary(row, Envelope.VALUE)
      source.received += 1
      val r = source.read(rawKey, rawBytes, rawTimestamp, rawHeaders, StreamTask.this)
      if (r != null) { source.received -= 1; this.streamTime.advance(r.timestamp); source.receive(r, 0) }
    }
  }
  private final class PackedEntrance(node: Node, input: Int, port: Port, unwrap: Boolean, edge: Edge) extends Entrance(node) {
    private val codec = Codec.key(port.key)
    private val changes = port.isInstanceOf[TablePort] || port.isInstanceOf[GroupedPort]
    private val packer = new Packer(if (changes) Packer.changeType(port.value) else port.value)
    private lazy val valueCodec = Codec.of(port.value)
    override val external: Boolean = edge != null && edge.external
    private val topic = if (edge == null || !edge.hop) null else UTF8String.fromString(s"${options.application}-${edge.topic}")
    /** Of the last record of the internal topic, as far as anything asks for it. */
    private lazy val offset = clock(s"$$offset/${edge.to}/${edge.input}")
    override def take(row: InternalRow): Unit = {
      if (topic == null) from(row)
      else {
        recordTopic = topic; internalTopic = topic; recordPartition = index
        recordOffset = if (level.countsOffsets) offset.advance(offset.value + 1) else -1L
      }
      val v = Packed.unpack(packer, Envelope.binary(row, Envelope.VALUE), port.value, changes)
      val plain = v match { case c: Change => c.newValue; case x => x }
      rawCodec = valueCodec; rawPlain = plain
      this.streamTime.advance(rawTimestamp)
      node.receive(new Record(codec.decode(rawKey), if (unwrap) plain else v, rawTimestamp, rawHeaders), input)
    }
  }
  /** Takes what an input is to know before its turn; nothing else happens by it. */
  private final class KeepingEntrance(node: Node, input: Int, port: Port) extends Entrance(node) {
    private val codec = Codec.key(port.key)
    private val packer = new Packer(Packer.changeType(port.value))
    override def take(row: InternalRow): Unit = {
      taken -= 1
      val change = Packed.unpack(packer, Envelope.binary(row, Envelope.VALUE), port.value, changes = true)
      val r = new Record(codec.decode(rawKey), change, rawTimestamp, rawHeaders)
      node.remember(r, input)
      node.mirror(r)
    }
  }
  /** Sends records to the same task of a later level. */
  private final class WireNode(spec: NodeSpec, dest: Int, port: Port) extends Node(spec) {
    private val codec = Codec.key(port.key)
    private val changes = port.isInstanceOf[TablePort]
    private val packer = new Packer(if (changes) Packer.changeType(port.value) else port.value)
    start(StreamTask.this, StreamTask.this)
    override def process(r: Record, input: Int): Unit =
      context.emit(if (atOrigin) new Outgoing(dest, index, codec.encode(r.key), Packed(packer, r.value, changes), r.timestamp, r.headers)
        else new Outgoing(dest, index, codec.encode(r.key), Packed(packer, r.value, changes), r.timestamp, r.headers,
          topic = if (recordTopic == null) "" else recordTopic.toString, partition = recordPartition, partitionKey = Bytes.concat(Array.emptyByteArray, recordOffset)))
  }
  private def atOrigin: Boolean = (recordTopic eq originTopic) && recordPartition == originPartition && recordOffset == originOffset

  /** Tells a later level what a lookup finds now. */
  private final class MirrorNode(spec: NodeSpec, view: TableView, wire: WireNode) extends Node(spec) {
    override def process(r: Record, input: Int): Unit = {
      val found = view.read(r.key, r)
      wire.process(if (found == null) r.withValue(new Change(null, null)) else new Record(r.key, new Change(found.value, null), found.timestamp, r.headers), 0)
    }
  }

  // ---- life -------------------------------------------------------------------------------------------------------------

  /** Before the first row on this machine: clocks and keys of ordered stores come from the state, then the nodes start. */
  def open(s: StateHandle): Unit = {
    state = s
    thread = ThreadNames.current
    val keys = new JHashMap[String, java.util.ArrayList[Array[Byte]]]()
    s.all.foreach { case (store, key, value, time) =>
      if (store == StreamTask.clockStore) { val c = new Clock(new String(key, "UTF-8")); c.set(time); c.dirty = false; clocks.put(c.name, c) }
      else if (store == StreamTask.tokenStore) token = time
      else if (store == StreamTask.changeStore) change = time
      else if (store == StreamTask.typeStore) types.put(new String(key, "UTF-8"), new String(value, "UTF-8"))
      else keys.computeIfAbsent(store, _ => new java.util.ArrayList()).add(key)
    }
    restored = keys
    if (token == 0L) change = options.changes.last else catchUp()
    follow(Trace.of(options.run, this))
    try level.nodes.foreach { n => starting = n; nodes.get(n.id).start(this, this) } catch { case s: Stop => unstarted = s }
    // What was derived for a node that is no longer there.
    if (unstarted == null) restored.keySet.asScala.filter(name => name.contains("$") && !stores.containsKey(name)).toSeq.foreach(forget)
  }
  /** The last of the deployment's changes that the state went through. */
  private var change = 0L
  private var changeNoted = 0L
  /** Of the stores in the state: the type of their values. */
  private val types = new JHashMap[String, String]()
  private val typesNoted = new java.util.HashSet[String]()

  /** Forgets what was given up since the state was written. */
  private def catchUp(): Unit = {
    changeNoted = change
    typesNoted.addAll(types.keySet)
    val gone = options.changes.after(change)
    if (gone.nonEmpty) {
      (restored.keySet.asScala ++ types.keySet.asScala).filter(StateChanges.drops(gone, _)).toSeq.foreach(forget)
      clocks.values.forEach(c => if (StateChanges.concerns(gone, c.name)) c.set(-1L))
    }
    change = options.changes.last
  }

  private def forget(name: String): Unit = {
    val keys = restored.remove(name)
    if (keys != null) keys.forEach(k => state.delete(name, k))
    if (types.remove(name) != null) { typesNoted.remove(name); state.delete(StreamTask.typeStore, name.getBytes("UTF-8")) }
    written = true
  }

  /** Reads every row of a store whose values have another type now, and writes it anew. */
  private def convert(name: String, valueType: DataType): Unit = {
    val (now, was) = (Conversion.text(valueType), types.put(name, Conversion.text(valueType)))
    if (was != null && was != now) {
      typesNoted.remove(name)
      val old = DataType.fromJson(was)
      val keys = restored.get(name)
      val converted = options.changes.conversion(name, old, valueType).getOrElse(
        throw new Refused(name, "", "state_incompatible", s"the state of $name holds values of the type ${old.sql}, which cannot be read as ${valueType.sql}"))
      if (keys != null) {
        val (from, to) = (new Packer(old), new Packer(valueType))
        val before = keys.size
        keys.removeIf { k =>
          val found = state.get(name, k)
          val value = from.unpack(found._1)
          val made = if (value == null) null else converted(value)
          if (made == null) state.delete(name, k) else state.put(name, k, to.pack(made), found._2)
          made == null
        }
        if (keys.size < before) clock(s"$$rows/$name").set(keys.size)
        written = true
      }
    }
  }
  /** The node whose `init` is at work: stores are asked for there. */
  private var starting: NodeSpec = _
  /** A node that did not start stops the task with its first row. */
  private var unstarted: Stop = _
  private var restored = new JHashMap[String, java.util.ArrayList[Array[Byte]]]()

  def resume(s: StateHandle): Unit = { state = s; thread = ThreadNames.current; stopped = false; renewed = false; out.clear(); hops.clear(); follow(Trace.of(options.run, this)) }
  /** Between two rows: asks anew who follows the task. */
  private[millrace] def followAgain(): Unit = follow(Trace.of(options.run, this))
  private[millrace] def realTime: Boolean = options.realTime
  private[millrace] def levelNumber: Int = level.level
  /** Topic, partition and offset of the input record in work; of what came through a topic of the application's own, of the one that it was made from. */
  private[millrace] def cause: Option[(String, Int, Long)] =
    if (recordTopic != null && !(recordTopic eq internalTopic) && recordOffset >= 0) Some((recordTopic.toString, recordPartition, recordOffset))
    else if (recordTopic != null && originTopic != null && originOffset >= 0) Some((originTopic.toString, originPartition, originOffset))
    else None
  private var trace: Trace = _
  private def follow(t: Trace): Unit = if (t != trace) {
    trace = t
    nodes.values.forEach(_.trace = t)
    stores.values.forEach(_.trace = t)
  }
  /** The place of the input record in work. */
  private[millrace] def merge: Long = originMerge
  /** That which runs the task in this batch. */
  private var thread: String = _

  /** Ends the nodes and the Python process. Gives what they said. */
  def close(): Seq[LogLine] = {
    level.nodes.foreach { s =>
      try nodes.get(s.id).close() catch { case e: Exception => StreamTask.logger.warn("{} did not close: {}", s.node: Any, e.getMessage) }
    }
    if (python != null) { if (python.busy) python.stop() else python.close(); python = null }
    lines.asScala.toSeq
  }

  /** Processes the rows; the result is lazy, and the state is written when it has been drained. */
  def run(rows: Iterator[InternalRow], done: () => Unit): Iterator[InternalRow] = new Iterator[InternalRow] {
    private var ended = false
    override def hasNext: Boolean = {
      while (out.isEmpty && !ended) {
        if (rows.hasNext) { step(rows.next()); sendHops(); relieve() }
        else { ended = true; if (!stopped) { finish(); done() } }
      }
      !out.isEmpty
    }
    override def next(): InternalRow = out.poll()
  }

  /** In real time no sort by places puts them there: what goes by key comes after all that the record does in its own task, as behind a topic [PL3]. */
  private def sendHops(): Unit = if (!hops.isEmpty) { out.addAll(hops); hops.clear() }

  private def step(row: InternalRow): Unit = if (!stopped) {
    val dest = row.getInt(Envelope.DEST)
    if (unstarted != null) { enter(row); stop(unstarted) }
    else if (dest >= 0) {
      val e = entrances.get(dest)
      if (e == null) out.add(row)
      else {
        enter(row)
        if (turns != null && e.external) originPath = turns.arrived(originPath, dest, rawTimestamp)
        try {
          if (row.isNullAt(Envelope.FAULT)) { e.taken += 1; e.take(row); punctuate(e) }
          else upstream(row)
        } catch {
          case s: Stop => stop(s)
          case f: ChildFailure => try failed(f.node, f.failure, rawTimestamp) catch { case s: Stop => stop(s) } // a sink whose parent is on another level
        }
      }
    } else if (dest == Envelope.CONTROL) {
      enter(row)
      try control(row.getBinary(Envelope.VALUE)) catch { case s: Stop => stop(s) }
      out.add(row)
    } else {
      if (dest == Envelope.STOP) stopped = true
      out.add(row)
    }
  }

  private def enter(row: InternalRow): Unit = {
    val merge = row.getLong(Envelope.MERGE)
    if (turns != null && merge != originMerge) turns.begin()
    originMerge = merge
    if (row.isNullAt(Envelope.TOPIC)) originTopic = null
    else { val t = row.getUTF8String(Envelope.TOPIC); if (!t.equals(originTopic)) originTopic = t.clone() }
    originPartition = row.getInt(Envelope.PARTITION)
    originOffset = row.getLong(Envelope.OFFSET)
    originPath = if (row.isNullAt(Envelope.PATH)) Array.emptyByteArray else row.getBinary(Envelope.PATH)
    emitted = 0
    rawTimestamp = if (row.isNullAt(Envelope.TIMESTAMP)) -1L else row.getLong(Envelope.TIMESTAMP)
    rawHeaders = Envelope.headers(row)
    rawKey = Envelope.binary(row, Envelope.KEY)
    rawBytes = null; rawCodec = null; rawPlain = null
    recordTopic = originTopic; internalTopic = null; recordPartition = originPartition; recordOffset = originOffset
  }

  /** A failure of a DataFrame's step, or of bytes that it could not read: met by the handler as if it had happened here. */
  private def upstream(row: InternalRow): Unit = {
    rawBytes = Envelope.binary(row, Envelope.VALUE)
    meet(Faults.parse(row.getUTF8String(Envelope.FAULT).toString), rawTimestamp)
  }

  private def stop(s: Stop): Unit = {
    out.clear() // what the failing record has sent so far does not count
    hops.clear()
    emitted = 0
    // Every task of the levels behind stops at the same place: what they have done by then needs nothing of what is missing here.
    val told = if (level.last) index to index else 0 until options.partitions
    told.foreach(i => emit(new Outgoing(Envelope.STOP, i, null, null, rawTimestamp, Headers.empty, fault = s.fault.json)))
    stopped = true
  }

  /** Very many distinct keys in one micro-batch: what changed is written before its end, to bound the memory. */
  private def relieve(): Unit = {
    steps += 1
    if ((steps & 8191) == 0 && !stopped && stores.values.stream.anyMatch(_.crowded)) stores.values.forEach(s => if (s.flushTo(state)) written = true)
  }
  private var steps = 0L
  private var written = false
  /** Whether the token is one of this batch. */
  private var renewed = false

  private def finish(): Unit = {
    var any = written
    written = false
    stores.values.forEach(s => if (s.flushTo(state)) any = true)
    clocks.values.forEach { c =>
      if (c.dirty) { state.put(StreamTask.clockStore, c.name.getBytes("UTF-8"), StreamTask.mark, c.value); c.dirty = false; any = true }
    }
    // Once a batch is enough: in real time this is called for each row.
    if (any && !(options.realTime && renewed)) {
      token = StreamTask.random.nextLong(); renewed = true
      state.put(StreamTask.tokenStore, StreamTask.mark, StreamTask.mark, token)
      noteSchema()
    }
  }

  private def noteSchema(): Unit = {
    if (changeNoted != change) { state.put(StreamTask.changeStore, StreamTask.mark, StreamTask.mark, change); changeNoted = change }
    if (typesNoted.size < types.size) types.forEach { (name, t) =>
      if (typesNoted.add(name)) state.put(StreamTask.typeStore, name.getBytes("UTF-8"), t.getBytes("UTF-8"), 0L)
    }
  }

  // ---- TaskContext --------------------------------------------------------------------------------------------------------

  override def taskId(sub: Int): String = s"${sub}_$index"
  override def clock(name: String): Clock = clocks.computeIfAbsent(name, new Clock(_))
  override def streamTime(sub: Int): Clock = timed.computeIfAbsent(sub, s => clock(s"$$stream/$s"))
  override def partitionTime(sub: Int): Clock = clock(s"$$partition/$sub/$recordTopic/$recordPartition")
  override def nodeOf(id: String): Node = nodes.get(id)

  /** Stores that processors may scan, whoever else uses them. */
  private val scanned: Set[String] = level.nodes.collect { case p: PythonSpec => p.stores.map(_.spec.state) }.flatten.toSet

  override def store(name: String, valueType: DataType, wantsOrder: Boolean): Store = {
    val ordered = wantsOrder || scanned(name)
    val found = stores.get(name)
    if (found != null) {
      if (ordered && !found.ordered) throw new IllegalStateException(s"store $name was opened unordered before")
      found
    } else {
      convert(name, valueType)
      val rows = clock(s"$$rows/$name")
      val s = new CachedStore(name, valueType, ordered, () => state, rows)
      val keys = restored.get(name)
      if (keys != null) {
        if (rows.value < 0) rows.set(keys.size) // a state that was moved here
        if (ordered) keys.forEach(k => s.restore(k))
      }
      s.trace = trace
      stores.put(name, s); storeSubs.put(name, starting.sub)
      s
    }
  }

  override def index(name: String, ordered: Boolean): Store = { val s = store(name, LongType, ordered); storeSubs.remove(name); s }

  override def show(name: String, view: => StoreView): Unit = if (options.simulation) stores.get(name).view = view

  /** The Python process of this task's processors; a new one if the last was lost. */
  def worker: Worker = {
    if (python == null || !python.alive) python = new Worker(options.workers)
    python
  }
  def livingWorker: Worker = if (python != null && python.alive) python else null
  private var python: Worker = _

  override def dropped(node: Node, reason: String, details: (String, Long)*): Unit = drop(node.node, reason, details)
  private def drop(node: String, reason: String, details: Seq[(String, Long)] = Nil): Unit = {
    droppedBy.computeIfAbsent((node, reason), _ => new Array[Long](1))(0) += 1
    if (trace != null) trace.dropped(node, reason, deadLetter = false, details)
  }

  override def simulation: Boolean = options.simulation
  override def wallClock: Long = if (options.simulation) Math.max(0L, clock(StreamTask.wall).value) else System.currentTimeMillis()
  override def log(node: Node, message: String): Unit = {
    StreamTask.logger.info("{} {}: {}", Array[AnyRef](node.node, taskId(node.spec.sub), message): _*)
    if (lines.size < TaskReport.mostLines) lines.add(new LogLine("info", node.node, message))
  }
  /** What user code prints, and what is wrong with it without stopping it. Very many lines are left out and counted. */
  def say(node: Node, level: String, message: String): Unit =
    if (lines.size >= TaskReport.mostLines) unsaid.merge(node.node, 1L, (a, b) => a + b)
    else {
      val words = Array[AnyRef](node.node, taskId(node.spec.sub), message)
      if (level == "warning") StreamTask.logger.warn("{} {}: {}", words: _*) else StreamTask.logger.info("{} {}: {}", words: _*)
      lines.add(new LogLine(level, node.node, message))
    }
  private val lines = new java.util.ArrayList[LogLine]()
  private val unsaid = new JHashMap[String, java.lang.Long]()

  override def at(topic: UTF8String, partition: Int, offset: Long)(body: => Unit): Unit = {
    val (t, p, o) = (recordTopic, recordPartition, recordOffset)
    recordTopic = topic; recordPartition = partition; recordOffset = offset
    try body finally { recordTopic = t; recordPartition = p; recordOffset = o }
  }

  override def emit(o: Outgoing): Unit = {
    val path =
      if (!o.hop) Turns.beside(originPath, emitted)
      else if (turns != null) turns.next(originPath, o.dest, o.task, o.timestamp)
      else Turns.after(originPath, emitted)
    emitted += 1
    val task = if (o.task < 0) salt else options.salt(o.task)
    (if (o.hop && options.realTime) hops else out).add(Envelope.row(o, task, originMerge, originTopic, originPartition, originOffset, path))
  }

  // ---- failures -------------------------------------------------------------------------------------------------------------

  override def failed(node: Node, e: Exception, timestamp: Long): Unit = meet(Faults.of("processing", node.node, e, record), timestamp)
  override def unreadable(node: Node, e: Exception, goOn: Boolean): Unit = {
    val f = Faults.of("deserialization", node.node, e, record)
    if (goOn) drop(f.node, f.reason) else meet(f, rawTimestamp)
  }
  override def stop(node: Node, kind: String, e: Exception): Nothing = throw new Stop(Faults.of(kind, node.node, e, record))
  /** As a person finds it on Kafka: of what came through an internal topic it is the input record that it was made from. */
  private def record: FaultRecord =
    if (recordTopic != null && (recordTopic eq internalTopic)) new FaultRecord(String.valueOf(originTopic), originPartition, originOffset, rawTimestamp, rawKey)
    else new FaultRecord(if (recordTopic == null) null else recordTopic.toString, recordPartition, recordOffset, rawTimestamp, rawKey)

  private def meet(f: Fault, timestamp: Long): Unit = level.settings.handler(f.kind) match {
    case "continue" => drop(f.node, f.reason)
    case "dead_letter" =>
      // A punctuation has no record that could become one.
      if (originTopic == null && rawKey == null) drop(f.node, f.reason)
      else {
        deadLetters.computeIfAbsent(f.node, _ => new Array[Long](1))(0) += 1
        if (trace != null) trace.dropped(f.node, f.reason, deadLetter = true, Nil)
        val headers = Faults.headers(rawHeaders, f, String.valueOf(recordTopic), recordPartition, recordOffset)
        emit(new Outgoing(Envelope.DEAD_LETTER, -1, rawKey, if (rawCodec == null) rawBytes else rawCodec.encode(rawPlain), timestamp, headers, level.settings.deadLetterTopic))
      }
    case _ => throw new Stop(if (f.record == null) f.at(record) else f)
  }

  // ---- punctuation -------------------------------------------------------------------------------------------------------------

  private final class Due(val number: Int, val node: Node, val interval: Long, val next: Clock, val streamTime: Boolean, callback: Long => Unit) extends Schedule {
    var cancelled = false
    override def cancel(): Unit = cancelled = true
    def fire(now: Long): Unit =
      if (trace == null) call(now)
      else { trace.punctuated(node, streamTime, now); try call(now) finally trace.left() }
    private def call(now: Long): Unit = try callback(now) catch {
      case s: Stop => throw s
      case e: Exception => failed(node, e, now)
    }
    /** The next multiple behind `now`; missed ones collapse into one [PA4]. */
    def advance(now: Long): Unit = next.set(if (now < next.value + interval) next.value + interval else next.value + ((now - next.value) / interval + 1) * interval)
  }

  override def schedule(node: Node, intervalMs: Long, streamTime: Boolean)(callback: Long => Unit): Schedule = {
    if (intervalMs < 1) throw new IllegalArgumentException(s"the interval must be at least 1 ms, is $intervalMs ms")
    val number = scheduled.merge(node.id, 1, (a, b) => a + b)
    val next = clock(s"$$schedule/${node.id}/$number")
    if (next.value < 0) next.set(if (streamTime) 0L else wallClock + intervalMs)
    val due = new Due(scheduled.values.stream.mapToInt(_.intValue).sum, node, intervalMs, next, streamTime, callback)
    (if (streamTime) schedules else wallSchedules).add(due)
    due
  }

  private def punctuate(e: Entrance): Unit = if (!schedules.isEmpty) fire(schedules, d => d.node.spec.sub == e.sub, e.streamTime.value)

  /** All that are due at `now`, earliest first; one call each, however many intervals passed. */
  private def fire(queue: PriorityQueue[Due], concerns: Due => Boolean, now: Long): Unit = {
    recordTopic = null; recordPartition = -1; recordOffset = -1L
    rawKey = null; rawBytes = null; rawCodec = null; rawPlain = null; rawHeaders = Headers.empty
    val others = new java.util.ArrayList[Due]()
    while (!queue.isEmpty && queue.peek().next.value <= now) {
      val d = queue.poll()
      if (!concerns(d)) others.add(d)
      else if (!d.cancelled) {
        d.fire(now)
        if (!d.cancelled) { d.advance(now); queue.add(d) }
      }
    }
    queue.addAll(others)
  }

  private def control(json: Array[Byte]): Unit = {
    val j = Json.mapper.readTree(json)
    if (j.has("wall_clock")) {
      val now = clock(StreamTask.wall).advance(j.get("wall_clock").asLong)
      if (!wallSchedules.isEmpty) fire(wallSchedules, _ => true, now)
    }
    if (j.path("dump").asBoolean(false)) dump()
  }

  private def dump(): Unit = {
    val shown = new java.util.HashSet[String]()
    level.nodes.foreach(s => nodes.get(s.id).dumps.foreach { d =>
      if (shown.add(d.name)) d.rows().foreach { r =>
        val o = Json.mapper.createObjectNode()
        o.replace("key", Json.node(r.key, d.keyType)); o.replace("value", Json.node(r.value, d.valueType))
        if (r.timestamp == null) o.putNull("timestamp") else o.put("timestamp", r.timestamp)
        emit(new Outgoing(Envelope.DUMP, -1, null, Json.mapper.writeValueAsBytes(o), 0L, Headers.empty, d.name))
      }
      else ()
    })
  }

  // ---- reports -------------------------------------------------------------------------------------------------------------

  /** What happened since the last call. */
  def report(): TaskReport = {
    val r = new TaskReport(level.level, index)
    level.nodes.foreach { s =>
      val n = nodes.get(s.id)
      r.node(s.node, if (level.continued(s.id)) 0L else n.received, if (level.continues(s.id)) 0L else n.sent)
      n.received = 0; n.sent = 0
    }
    droppedBy.forEach { case ((node, reason), n) => r.dropped(node, reason, n(0)) }
    droppedBy.clear()
    deadLetters.forEach((node, n) => r.deadLetters(node, n(0)))
    deadLetters.clear()
    lines.forEach(l => r.log(l))
    lines.clear()
    unsaid.forEach { (node, n) =>
      StreamTask.logger.warn("{} {}: {} more lines are left out", node, index: Any, n)
      r.log(new LogLine("warning", node, s"$n more lines are left out"))
    }
    unsaid.clear()
    level.nodes.foreach(s => nodes.get(s.id).dumps.foreach { d => val c = stores.get(d.state); if (c != null) r.store(d.name, d.node, index, c.rows, c.bytes) })
    level.nodes.map(_.sub).distinct.foreach { sub =>
      var n = 0L
      var source = false
      entrances.values.forEach { e => if (e.sub == sub) { n += e.taken; e.taken = 0L; if (e.isInstanceOf[SourceEntrance]) source = true } }
      val held = stores.values.asScala.filter(s => storeSubs.containsKey(s.name) && storeSubs.get(s.name) == sub).map(_.rows)
      r.task(sub, n, thread, streamTime(sub).value, if (source) offsets.asScala.map { case (tp, o) => tp -> ReadUpTo(o(0), o(1)) }.toMap else Map.empty, if (held.isEmpty) -1L else held.sum)
    }
    offsets.values.forEach(o => o(1) = 0L)
    r
  }
}

private[millrace] object StreamTask {
  val clockStore = "$clock"
  val tokenStore = "$token"
  val changeStore = "$change"
  val typeStore = "$types"
  val wall = "$wall"
  private val mark: Array[Byte] = Array(0)
  private val random = new java.security.SecureRandom()
  private[millrace] val logger = org.slf4j.LoggerFactory.getLogger("millrace.task")
}
