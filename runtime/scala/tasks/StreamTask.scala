package org.apache.spark.sql.millrace

import java.util.{HashMap => JHashMap}

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * Options that all tasks of a deployment share. `run` is its name, `application` its part of the names of internal
 * topics. In a simulation the wall clock is moved only by control rows; in real time rows come one by one.
 * `storeMemory`: estimated bytes of heap that the stores of one task may use.
 */
private[millrace] final case class TaskOptions(
    run: String,
    application: String,
    simulation: Boolean,
    partitions: Int,
    workers: WorkerOptions,
    realTime: Boolean,
    storeMemory: Long,
    changes: StateChanges = StateChanges.none,
    records: RecordHandlers = RecordHandlers.none
) {
  private val salts = Internals.salts(partitions)

  /**
   * The salt of a task index, see [[Internals.salts]]. A level may have fewer tasks than shuffle partitions, never
   * more.
   */
  def salt(index: Int): Int = salts(index)
  def indexOf(salt: Int): Int = salts.indexOf(salt)
}

/** How Python workers of process nodes are started. `timeoutMs` limits a call, `memoryMb` the process's data. */
private[millrace] final case class WorkerOptions(python: String, path: String, timeoutMs: Long, memoryMb: Long)
private[millrace] object WorkerOptions {
  def parse(j: JsonNode): WorkerOptions = WorkerOptions(
    j.path("python").asText("python3"),
    j.path("python_path").asText(""),
    j.path("python_timeout_ms").asLong(60000L),
    j.path("python_memory_mb").asLong(2048L)
  )
}

/**
 * A running task of one level: its nodes, stores and clocks. Rows come in the order of their places; each is pushed
 * through the graph, depth first, before the next is taken [PL3]. The task is kept between micro-batches, and rebuilt
 * from the state if the state is not the one that it wrote.
 */
private[millrace] final class StreamTask(
    level: LevelSpec,
    val index: Int,
    salt: Int,
    options: TaskOptions,
    private var python: PythonWorker = null
) extends TaskContext
    with Failures
    with SourceAccess {
  private[millrace] val record = new ProcessorRecordContext
  private[millrace] val inputs = new PartitionGroup
  private val collector = new RecordCollector(record, level.level, index, salt, options)
  private val metrics = new TaskMetrics
  private val states = new ProcessorStateManager(
    options,
    level.nodes
      .collect { case p: PythonSettings =>
        p.stores.map(_.spec.state) ++ p.tables.map { case (_, owner) => owner.store.state }
      }
      .flatten
      .toSet
  )
  private val streamTimes = new JHashMap[Integer, Clock]()
  private val schedules = new JHashMap[Integer, PunctuationQueue]() // of stream time, by sub-topology
  private val wallSchedules = new PunctuationQueue

  /** The number of schedules so far, by node. */
  private val scheduled = new JHashMap[String, Integer]()

  /** Whether a node's failure can make a dead letter. */
  private[millrace] val deadLetters =
    level.settings.deadLetters || options.records.decided.nonEmpty
  private val topology = new ProcessorTopology(level, this, options.application)
  private var stopped = false

  /** The thread that runs the task in this batch. */
  private var thread: String = _

  // ---- life ----

  /** Restores clocks and stores from the state and starts the nodes, before the first row on this machine. */
  def open(s: StateHandle): Unit = {
    thread = ThreadNames.current
    states.restore(s)
    follow(Trace.of(options.run, this))
    try topology.all.foreach { n => starting = n; n.start(this, this) }
    catch { case s: Stop => unstarted = s }
    if (unstarted == null) states.forgetDerived()
  }

  /** The node whose `init` is running: the one that opens stores. */
  private var starting: Node = _

  /** Set if a node did not start: the task stops with its first row. */
  private var unstarted: Stop = _

  def resume(s: StateHandle): Unit = {
    states.resume(s)
    thread = ThreadNames.current
    stopped = false
    collector.clear()
    follow(Trace.of(options.run, this))
  }
  private[millrace] def token: Long = states.token

  /** Checks again, between two rows, whether the task is traced. */
  private[millrace] def followAgain(): Unit = follow(Trace.of(options.run, this))
  private[millrace] def simulated: Boolean = options.simulation
  private[millrace] def realTime: Boolean = options.realTime
  private[millrace] def levelNumber: Int = level.level
  private[millrace] def cause: Option[(String, Int, Long)] = record.cause
  private var trace: Trace = _
  private def follow(t: Trace): Unit = if (t != trace) {
    trace = t
    topology.all.foreach(n => n.trace = if (t == null) null else t.of(n))
    states.follow(t)
  }

  /** Shows the rows of the stores to the trace before the first record. */
  private[millrace] def showStores(): Unit = if (trace != null && unstarted == null) states.show()

  /** The place of the current input record. */
  private[millrace] def merge: Long = record.merge

  /** Closes the nodes and the Python process. Returns the log lines of the nodes. */
  def close(): Seq[LogLine] = {
    val worker = retire()
    if (worker != null) worker.close()
    metrics.logged
  }

  /** Closes the nodes; returns the Python process, which a later task may use, or null. */
  private[millrace] def retire(): PythonWorker = {
    record.merge = 0L // lines that nodes print from now on belong to no record
    topology.all.foreach { n =>
      try n.close()
      catch { case e: Exception => StreamTask.logger.warn("{} could not be closed: {}", n.node: Any, e.getMessage) }
    }
    val worker = python
    python = null
    if (worker != null && worker.busy) { worker.stop(); null }
    else worker
  }
  private[millrace] def logged: Seq[LogLine] = metrics.logged

  /** Processes the rows. The result is lazy, and the state is written when it has been drained. */
  def run(rows: Iterator[InternalRow], done: () => Unit): Iterator[InternalRow] = new Iterator[InternalRow] {
    private var ended = false
    override def hasNext: Boolean = {
      while (collector.isEmpty && !ended) {
        if (rows.hasNext) { step(rows.next()); collector.flushHops(); relieve() }
        else { ended = true; if (!stopped) { flush(); done() } }
      }
      !collector.isEmpty
    }
    override def next(): InternalRow = collector.poll()
  }

  /** Runs `body` between two records, for tests that use stores, and returns the rows that it sends. */
  private[millrace] def between(place: InternalRow, done: () => Unit)(body: => Unit): Iterator[InternalRow] = {
    enter(place)
    body
    run(Iterator.empty, done)
  }
  private[millrace] def nodes: Seq[Node] = topology.all

  /** The failure with which the task did not start, or null. */
  private[millrace] def failure: Fault = if (unstarted == null) null else unstarted.fault

  private def flush(): Unit = {
    schedules.values.forEach(_.keepPlaces())
    wallSchedules.keepPlaces()
    states.flush()
  }

  private def step(row: InternalRow): Unit = if (!stopped) {
    val dest = row.getInt(Envelope.DEST)
    if (unstarted != null) { enter(row); stop(unstarted) }
    else if (dest >= 0) {
      val queue = inputs.queue(dest)
      if (queue == null) collector.add(row)
      else {
        enter(row)
        try {
          if (row.isNullAt(Envelope.FAULT)) { queue.taken += 1; queue.take(row); punctuate(queue) }
          else upstream(row)
        } catch {
          case s: Stop => refused(s)
          case f: ChildFailure =>
            try failed(f.node, f.failure, record.timestamp)
            catch { case s: Stop => stop(s) } // a sink whose parent is on another level
        }
      }
    } else if (dest == Envelope.CONTROL) {
      enter(row)
      try control(row.getBinary(Envelope.VALUE))
      catch { case s: Stop => stop(s) }
      collector.add(row)
    } else {
      if (dest == Envelope.STOP) stopped = true
      collector.add(row)
    }
  }

  private def enter(row: InternalRow): Unit = {
    if (calls) StreamTask.running.set(this)
    val before = record.merge
    record.enter(row)
    collector.begin(record.merge != before)
  }

  /** Handles a failure of a DataFrame step, or of bytes that it could not read, as if it had happened here. */
  private def upstream(row: InternalRow): Unit = {
    record.bytes = Envelope.binary(row, Envelope.VALUE)
    handle(Faults.parse(row.getUTF8String(Envelope.FAULT).toString), record.timestamp)
  }

  private def stop(s: Stop): Unit = {
    collector.clear() // rows that the failing record has sent so far are discarded
    s.letters.foreach(emit)
    /* All tasks of later levels stop at the same place: what they do before it needs no row that is missing here. */
    val stopping = if (level.last) index to index else 0 until options.partitions
    stopping.foreach(i =>
      emit(new Outgoing(Envelope.STOP, i, null, null, record.timestamp, Headers.empty, fault = s.fault.json))
    )
    stopped = true
  }

  private def relieve(): Unit = {
    steps += 1
    if ((steps & 8191) == 0 && !stopped) states.relieve()
  }
  private var steps = 0L

  // ---- TaskContext ----

  override def taskId(sub: Int): String = s"${sub}_$index"
  override def topic: UTF8String = record.topic
  override def partition: Int = record.partition
  override def offset: Long = record.offset
  override def at(topic: UTF8String, partition: Int, offset: Long)(body: => Unit): Unit =
    record.during(topic, partition, offset)(body)
  override def clock(name: String): Clock = states.clock(name)
  override def streamTime(sub: Int): Clock = streamTimes.computeIfAbsent(sub, s => clock(s"$$stream/$s"))
  override def partitionTime(sub: Int): Clock = clock(s"$$partition/$sub/${record.topic}/${record.partition}")
  override def nodeOf(id: String): Node = topology.node(id)
  override def store(name: String, valueType: DataType, ordered: Boolean): Store =
    states.store(name, valueType, ordered, starting.spec.sub, trace)
  override def index(name: String, ordered: Boolean): Store = {
    val s = store(name, LongType, ordered)
    states.isIndex(name)
    s
  }
  override def show(name: String, view: => StoreView): Unit = if (options.simulation) states.opened(name).view = view
  override def simulation: Boolean = options.simulation
  override def wallClock: Long =
    if (options.simulation) Math.max(0L, clock(StreamTask.wall).value) else System.currentTimeMillis()
  override def processingTime: Long =
    if (options.simulation) wallClock
    else {
      if (record.taken < 0) record.taken = System.currentTimeMillis()
      record.taken
    }
  override def turn: Long = record.turn
  override def origin: Long = record.origin
  override def emit(o: Outgoing): Unit = collector.send(o)
  override def log(node: Node, message: String): Unit = {
    metrics.log(node, taskId(node.spec.sub), merge, message)
    if (trace != null) trace.printed(node, "info", message)
  }
  override def noted(node: Node, level: String, message: String): Unit = {
    if (level == "warning") metrics.log(node, taskId(node.spec.sub), merge, level, message + record.place)
    if (trace != null) trace.printed(node, level, message)
  }
  def log(node: Node, level: String, message: String): Unit = {
    metrics.log(node, taskId(node.spec.sub), merge, level, message)
    if (trace != null) trace.printed(node, level, message)
  }

  /** The Python process of this task's processors; started again if it has died. */
  def worker: PythonWorker = {
    if (python == null || !python.alive) python = new PythonWorker(options.workers)
    python
  }

  /** Whether expressions of a node call functions in Python. */
  private val calls = level.nodes.exists(_.functions != null)
  private val functions = new JHashMap[String, PythonFunctions]()

  /** The functions that the expressions of a node call, by its physical id. */
  private[millrace] def functionsOf(step: String): PythonFunctions =
    functions.computeIfAbsent(step, s => new PythonFunctions(this, topology.node(s)))
  def livingWorker: PythonWorker = if (python != null && python.alive) python else null

  // ---- failures ----

  override def dropped(node: Node, reason: String, details: (String, Long)*): Unit = drop(node.node, reason, details)
  private def drop(node: String, reason: String, details: Seq[(String, Long)] = Nil): Unit = {
    metrics.dropped(node, reason)
    if (trace != null) trace.dropped(node, reason, deadLetter = false, details)
  }

  override def failed(node: Node, e: Exception, timestamp: Long): Unit =
    handle(Faults.of("processing", node.node, e, record.failed), timestamp)
  override def unreadable(node: Node, e: Exception, goOn: Boolean): Unit = {
    val f = Faults.of("deserialization", node.node, e, record.failed)
    if (goOn) drop(f.node, f.reason) else handle(f, record.timestamp)
  }
  override def rejected(node: Node, e: Exception, timestamp: Long, letter: Boolean): Unit = {
    val f = Faults.of("processing", node.node, e, record.failed)
    def send(): Unit = {
      metrics.deadLetter(f.node)
      emit(deadLetter(Envelope.DEAD_LETTER, f, timestamp))
    }
    if (letter && hasRecord) send()
    else if (letter) drop(f.node, "rejected")
    else
      options.records.decision(f, level.settings) match {
        case Some("continue") => drop(f.node, RecordHandlers.skipped)
        case Some("dead_letter") if hasRecord => send()
        case _ => throw new Stop(f)
      }
  }
  override def stop(node: Node, kind: String, e: Exception): Nothing = throw new Stop(
    Faults.of(kind, node.node, e, record.failed)
  )

  /** Stops the task, unless the record has no valid timestamp and a person has decided what happens to it. */
  private def refused(s: Stop): Unit =
    if (s.fault.kind == "timestamp" && options.records.handler(s.fault, level.settings) != "fail")
      handle(s.fault, record.timestamp)
    else stop(s)

  private def handle(failure: Fault, timestamp: Long): Unit = {
    val f = if (failure.record == null) failure.at(record.failed) else failure
    options.records.handler(f, level.settings) match {
      case "continue" =>
        drop(f.node, if (level.settings.handler(f.kind) == "continue") f.reason else RecordHandlers.skipped)
      case "dead_letter" if !hasRecord => drop(f.node, f.reason)
      case "dead_letter" =>
        metrics.deadLetter(f.node)
        emit(deadLetter(Envelope.DEAD_LETTER, f, timestamp))
      case Settings.letterThenFail if hasRecord =>
        throw new Stop(f, Seq(deadLetter(Envelope.LAST_LETTER, f, timestamp)))
      case Settings.function => handleInPython(f, timestamp)
      case _ => throw new Stop(f)
    }
  }

  /** Does with a failure what the document's function answers. */
  private def handleInPython(f: Fault, timestamp: Long): Unit = {
    val failed = new HandledRecord(
      if (record.topic == null) null else record.topic.toString,
      record.partition,
      record.offset,
      timestamp,
      record.key,
      record.value,
      record.headers
    )
    val answer = handlers.answer(f, failed, taskId(topology.all.find(_.node == f.node).fold(0)(_.spec.sub)))
    def send(dest: Int) = answer.letters.map(_.outgoing(dest, timestamp, level.settings.deadLetterTopic))
    if (answer.goesOn && answer.letters.isEmpty) drop(f.node, f.reason)
    else if (answer.goesOn) {
      metrics.deadLetter(f.node)
      if (trace != null) trace.dropped(f.node, f.reason, deadLetter = true, Nil)
      send(Envelope.DEAD_LETTER).foreach(emit)
    } else
      options.records.decision(f, level.settings) match {
        case Some("continue") => drop(f.node, RecordHandlers.skipped)
        case Some("dead_letter") if hasRecord =>
          metrics.deadLetter(f.node)
          emit(deadLetter(Envelope.DEAD_LETTER, f, timestamp))
        case _ => throw new Stop(answer.fault, if (level.settings.exactlyOnce) Nil else send(Envelope.LAST_LETTER))
      }
  }

  private lazy val handlers = new PythonHandlers(
    level.settings,
    () => worker,
    (node, level, message) => topology.all.find(_.node == node).foreach(log(_, level, message)),
    () => trace
  )

  /** Adds the modules that the code may import to the message that starts it. */
  private[millrace] def addModules(m: ObjectNode): Unit = PythonHandlers.addModules(m, level.settings)

  /** False in a punctuation, which has no record that could become a dead letter. */
  private def hasRecord: Boolean = record.originTopic != null || record.key != null

  private def deadLetter(dest: Int, f: Fault, timestamp: Long): Outgoing = {
    if (trace != null) trace.dropped(f.node, f.reason, deadLetter = true, Nil)
    val headers = Faults.headers(record.headers, f, String.valueOf(record.topic), record.partition, record.offset)
    new Outgoing(dest, -1, record.key, record.value, timestamp, headers, level.settings.deadLetterTopic)
  }

  // ---- punctuation ----

  override def schedule(node: Node, intervalMs: Long, streamTime: Boolean, start: Option[Long])(
      callback: Long => Unit
  ): Schedule = {
    if (intervalMs < 1) throw new IllegalArgumentException(s"the interval must be at least 1 ms, but is $intervalMs ms")
    val number = scheduled.merge(node.id, 1, (a, b) => a + b)
    val next = clock(s"$$schedule/${node.id}/$number")
    val place = clock(s"$$place/${node.id}/$number")
    val begins = next.value < 0
    if (begins) next.set(start.getOrElse(if (streamTime) 0L else wallClock + intervalMs))
    val made = new PunctuationSchedule(node, intervalMs, next, place, streamTime, callback)
    val now = if (streamTime) this.streamTime(node.spec.sub).value else wallClock
    if (begins && start.exists(_ < now)) made.advance(now)
    val queue =
      if (streamTime) schedules.computeIfAbsent(node.spec.sub, _ => new PunctuationQueue) else wallSchedules
    queue.schedule(made)
    made
  }

  private def punctuate(queue: RecordQueue): Unit = {
    val due = schedules.get(queue.sub)
    if (due != null && !due.isEmpty) { record.leave(); due.mayPunctuate(queue.streamTime.value) }
  }

  private def control(json: Array[Byte]): Unit = {
    val j = Json.mapper.readTree(json)
    if (j.has("wall_clock")) {
      val now = clock(StreamTask.wall).advance(j.get("wall_clock").asLong)
      if (!wallSchedules.isEmpty) { record.leave(); wallSchedules.mayPunctuate(now) }
    }
    if (j.path("dump").asBoolean(false)) dump()
  }

  private def dump(): Unit = {
    val shown = new java.util.HashSet[String]()
    topology.all.foreach(_.dumps.filter(_.named).foreach { d =>
      if (shown.add(d.name)) d.rows().foreach { r =>
        val o = Json.mapper.createObjectNode()
        o.replace("key", Json.node(r.key, d.keyType))
        o.replace("value", Json.node(r.value, d.valueType))
        if (r.timestamp == null) o.putNull("timestamp") else o.put("timestamp", r.timestamp)
        emit(new Outgoing(Envelope.DUMP, -1, null, Json.mapper.writeValueAsBytes(o), 0L, Headers.empty, d.name))
      }
      else ()
    })
  }

  // ---- reports ----

  /** Whether the next report has lines of the log, of which a task keeps few. */
  private[millrace] def hasLines: Boolean = metrics.hasLines

  /** Reports the figures since the last call. */
  def report(): TaskReport = {
    val r = new TaskReport(level.level, index)
    topology.all.foreach { n =>
      r.node(n.node, n.received, if (level.continues(n.id)) 0L else n.sent)
      n.received = 0
      n.sent = 0
      r.missed(n.node, n.missReason, n.misses)
      n.misses = 0
      if (n.latency != null) r.latency(n.node, n.latency.drain())
    }
    metrics.drainTo(r)
    val counted = new java.util.HashSet[String]()
    def size(state: String, name: String, node: String): Unit = {
      val s = states.opened(state)
      if (s != null && counted.add(state)) r.store(name, node, index, s.rows, s.bytes)
    }
    topology.all.foreach { n =>
      n.dumps.foreach(d => size(d.state, if (d.named) d.name else d.node, d.node))
      n.buffers.foreach(size(_, n.node, n.node))
    }
    level.nodes.map(_.sub).distinct.foreach { sub =>
      val (taken, source) = inputs.report(sub)
      r.task(sub, taken, thread, streamTime(sub).value, if (source) inputs.reported else Map.empty, states.rows(sub))
    }
    inputs.forgetReported()
    r
  }
}

private[millrace] object StreamTask {
  val wall = "$wall"
  private val running = new ThreadLocal[StreamTask]

  /** The task whose record this thread processes, if expressions of the task call functions in Python. */
  private[millrace] def current: StreamTask = running.get
  private[millrace] val logger = org.slf4j.LoggerFactory.getLogger("millrace.task")
}
