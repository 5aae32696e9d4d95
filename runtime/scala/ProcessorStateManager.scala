package org.apache.spark.sql.millrace

import java.util.{HashMap => JHashMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.types.DataType

/**
 * The stores and clocks of one task, and what its state notes about itself: a token, the types of values, the
 * deployment's last change.
 */
private[millrace] final class ProcessorStateManager(options: TaskOptions, scanned: Set[String]) {
  import ProcessorStateManager._
  private var state: StateHandle = _
  private val stores = new java.util.LinkedHashMap[String, CachedStore]()

  /** Of each store that is no index: the sub-topology of the node that asked for it first. */
  private val storeSubs = new JHashMap[String, Int]()
  private val clocks = new java.util.LinkedHashMap[String, Clock]()

  /** Of the stores in the state: the lengths of their keys when the task was opened. */
  private val restored = new JHashMap[String, Seq[Int]]()

  /** Of the stores in the state: the type of their values. */
  private val types = new JHashMap[String, String]()
  private val typesNoted = new java.util.HashSet[String]()

  /** The last of the deployment's changes that the state went through. */
  private var change = 0L
  private var changeNoted = 0L
  private var written = false

  /** Whether the token is one of this batch. */
  private var renewed = false

  /** Written with every flush: the state is this task's own if it has the same. */
  var token = 0L

  // ---- restoration ----

  /**
   * Clocks come from the state; what was given up since it was written is deleted. Rows of stores are read when they
   * are needed.
   */
  def restore(s: StateHandle): Unit = {
    state = s
    s.runs.groupMap(_._1)(_._2).foreach { case (store, lengths) => restored.put(store, lengths) }
    def noted(store: String)(take: StoredRow => Unit): Unit = { rowsOf(store).foreach(take); restored.remove(store) }
    noted(clockStore) { r =>
      val c = new Clock(new String(r.key, "UTF-8"))
      c.set(r.timestamp)
      c.dirty = false
      clocks.put(c.name, c)
    }
    noted(tokenStore) { r => token = r.timestamp }
    noted(changeStore) { r => change = r.timestamp }
    noted(typeStore) { r => types.put(new String(r.key, "UTF-8"), new String(r.value, "UTF-8")) }
    if (token == 0L) change = options.changes.last else catchUp()
  }
  private def lengthsOf(name: String): Seq[Int] = restored.getOrDefault(name, Nil)
  private def rowsOf(name: String): Iterator[StoredRow] = lengthsOf(name).iterator.flatMap(state.all(name, _))

  /** The task goes on with the state that it wrote, in another batch. */
  def resume(s: StateHandle): Unit = { state = s; renewed = false }

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

  /** Deletes what was derived for nodes that are no longer in the graph, once all nodes have asked for their stores. */
  def forgetDerived(): Unit =
    restored.keySet.asScala.filter(name => name.contains("$") && !stores.containsKey(name)).toSeq.foreach(forget)

  private def forget(name: String): Unit = {
    rowsOf(name).foreach(r => state.delete(name, r.key))
    restored.remove(name)
    if (types.remove(name) != null) { typesNoted.remove(name); state.delete(typeStore, name.getBytes("UTF-8")) }
    written = true
  }

  /** Reads every row of a store whose values have another type now, and writes it again. */
  private def convert(name: String, valueType: DataType): Unit = {
    val (now, was) = (Conversion.text(valueType), types.put(name, Conversion.text(valueType)))
    if (was != null && was != now) {
      typesNoted.remove(name)
      val old = DataType.fromJson(was)
      val converted = options.changes
        .conversion(name, old, valueType)
        .getOrElse(
          throw new Refused(
            name,
            "",
            Why(
              "state_incompatible",
              s"the state of $name holds values of type ${old.sql}, which cannot be read as ${valueType.sql}",
              "store" -> name,
              "before" -> old.sql,
              "now" -> valueType.sql
            )
          )
        )
      val (from, to) = (new Packer(old), new Packer(valueType))
      var deleted = 0
      rowsOf(name).foreach { r =>
        val value = from.unpack(r.value)
        val made = if (value == null) null else converted(value)
        if (made == null) { state.delete(name, r.key); deleted += 1 }
        else state.put(name, r.key, to.pack(made), r.timestamp)
        written = true
      }
      val rows = clock(s"$$rows/$name")
      if (deleted > 0 && rows.value >= 0) rows.set(rows.value - deleted)
    }
  }

  // ---- stores and clocks ----

  def clock(name: String): Clock = clocks.computeIfAbsent(name, new Clock(_))

  /**
   * The store of that name, opened by a node of the sub-topology `sub`. Stores that processors may scan are ordered for
   * all nodes that use them.
   */
  def store(name: String, valueType: DataType, wantsOrder: Boolean, sub: Int, trace: Trace): CachedStore = {
    val ordered = wantsOrder || scanned(name)
    val found = stores.get(name)
    if (found != null) {
      if (ordered && !found.ordered) throw new IllegalStateException(s"store $name is already open without an order")
      found
    } else {
      convert(name, valueType)
      val rows = clock(s"$$rows/$name")
      if (rows.value < 0 && restored.containsKey(name)) rows.set(rowsOf(name).size) // a state that was moved here
      val s =
        if (ordered)
          new OrderedStore(
            name,
            valueType,
            () => state,
            rows,
            () => written = true,
            lengthsOf(name),
            options.storeMemory
          )
        else new HashedStore(name, valueType, () => state, rows)
      s.trace = trace
      stores.put(name, s)
      storeSubs.put(name, sub)
      s
    }
  }

  /** The store is an index: its rows are not reported. */
  def isIndex(name: String): Unit = storeSubs.remove(name)
  def opened(name: String): CachedStore = stores.get(name)

  /** Shows the trace the rows that were restored. */
  def show(): Unit = stores.values.forEach(s => s.show(rowsOf(s.name)))
  def follow(trace: Trace): Unit = stores.values.forEach(_.trace = trace)

  /** Rows of a sub-topology's stores; -1 if it has none. */
  def rows(sub: Int): Long = {
    val held =
      stores.values.asScala.filter(s => storeSubs.containsKey(s.name) && storeSubs.get(s.name) == sub).map(_.rows)
    if (held.isEmpty) -1L else held.sum
  }

  // ---- writing ----

  /** Very many distinct keys in one micro-batch: writes what changed before the batch ends, which bounds the memory. */
  def relieve(): Unit =
    if (heap > options.storeMemory || stores.values.stream.anyMatch(_.crowded)) {
      stores.values.forEach(s => if (s.flushTo(state)) written = true)
      evict()
    }

  private def heap: Long = { var sum = 0L; stores.values.forEach(s => sum += s.heap); sum }

  /** After a flush: the largest stores forget what they have in memory until the others fit. */
  private def evict(): Unit = {
    var sum = heap
    if (sum > options.storeMemory) stores.values.asScala.toSeq.sortBy(-_.heap).foreach { s =>
      if (sum > options.storeMemory) { sum -= s.heap; s.evict() }
    }
  }

  /** Writes what changed. */
  def flush(): Unit = {
    var any = written
    written = false
    stores.values.forEach(s => if (s.flushTo(state)) any = true)
    evict()
    clocks.values.forEach { c =>
      if (c.dirty) { state.put(clockStore, c.name.getBytes("UTF-8"), mark, c.value); c.dirty = false; any = true }
    }
    // Once a batch is enough: in real time this is called for each row.
    if (any && !(options.realTime && renewed)) {
      token = random.nextLong()
      renewed = true
      state.put(tokenStore, mark, mark, token)
      noteSchema()
    }
    if (!options.realTime) state.release()
  }

  private def noteSchema(): Unit = {
    if (changeNoted != change) { state.put(changeStore, mark, mark, change); changeNoted = change }
    if (typesNoted.size < types.size) types.forEach { (name, t) =>
      if (typesNoted.add(name)) state.put(typeStore, name.getBytes("UTF-8"), t.getBytes("UTF-8"), 0L)
    }
  }
}

private[millrace] object ProcessorStateManager {
  private val clockStore = "$clock"
  private val tokenStore = "$token"
  private val changeStore = "$change"
  private val typeStore = "$types"
  private val mark: Array[Byte] = Array(0)
  private val random = new java.security.SecureRandom()

  /** 0 where no task has written yet. */
  def tokenOf(s: StateHandle): Long = { val found = s.get(tokenStore, mark); if (found == null) 0L else found._2 }
}
