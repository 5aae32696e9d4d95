package org.apache.spark.sql.millrace

import java.util.{HashMap => JHashMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.types.DataType

/**
 * The stores and clocks of one task, and the notes in its state: a token, the types of values, the deployment's last
 * change.
 */
private[millrace] final class ProcessorStateManager(options: TaskOptions, scanned: Set[String]) {
  import ProcessorStateManager._
  private var state: StateHandle = _
  private val stores = new java.util.LinkedHashMap[String, CachedStore]()

  /** By store, except indexes: the sub-topology of the node that opened it first. */
  private val storeSubs = new JHashMap[String, Int]()
  private val clocks = new java.util.LinkedHashMap[String, Clock]()

  /** By store in the state: the lengths of its keys when the task was opened. */
  private val restored = new JHashMap[String, Seq[Int]]()

  /** By store in the state: the type of its values. */
  private val types = new JHashMap[String, String]()
  private val typesNoted = new java.util.HashSet[String]()

  /** The number of the deployment's last change that was applied to the state. */
  private var change = 0L
  private var changeNoted = 0L
  private var written = false

  /** Whether the token was renewed in this batch. */
  private var renewed = false

  /** Identifies the last writer of the state: if the token there is another one, this task did not write it. */
  var token = 0L

  // ---- restoration ----

  /**
   * Reads the clocks from the state, and deletes stores that were given up since it was written. Rows of stores are
   * read when they are needed.
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

  /** Continues with the state that the task wrote, in another batch. */
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

  /** Deletes rows derived for nodes no longer in the graph. Called when all nodes have opened their stores. */
  def forgetDerived(): Unit =
    restored.keySet.asScala.filter(name => name.contains("$") && !stores.containsKey(name)).toSeq.foreach(forget)

  private def forget(name: String): Unit = {
    rowsOf(name).foreach(r => state.delete(name, r.key))
    restored.remove(name)
    if (types.remove(name) != null) { typesNoted.remove(name); state.delete(typeStore, name.getBytes("UTF-8")) }
    written = true
  }

  /** Rewrites all rows of a store if the type of its values has changed. */
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
   * Returns the store of that name, opened by a node of the sub-topology `sub`. Stores that processors may scan are
   * ordered for all nodes that use them.
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
      if (rows.value < 0 && restored.containsKey(name)) rows.set(rowsOf(name).size) // a moved state has no such clock
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

  /** Marks a store as an index: its rows are not reported. */
  def isIndex(name: String): Unit = storeSubs.remove(name)
  def opened(name: String): CachedStore = stores.get(name)

  /** Shows the restored rows to the trace. */
  def show(): Unit = stores.values.forEach(s => s.show(rowsOf(s.name)))
  def follow(trace: Trace): Unit = stores.values.forEach(_.trace = trace)

  /** The number of rows in a sub-topology's stores; -1 if it has none. */
  def rows(sub: Int): Long = {
    val held =
      stores.values.asScala.filter(s => storeSubs.containsKey(s.name) && storeSubs.get(s.name) == sub).map(_.rows)
    if (held.isEmpty) -1L else held.sum
  }

  // ---- writing ----

  /** Writes changes before the batch ends if it has very many distinct keys, which bounds the memory. */
  def relieve(): Unit =
    if (heap > options.storeMemory || stores.values.stream.anyMatch(_.crowded)) {
      stores.values.forEach(s => if (s.flushTo(state)) written = true)
      evict()
    }

  private def heap: Long = { var sum = 0L; stores.values.forEach(s => sum += s.heap); sum }

  /** Evicts the largest stores from memory until the others fit. Called after a flush. */
  private def evict(): Unit = {
    var sum = heap
    if (sum > options.storeMemory) stores.values.asScala.toSeq.sortBy(-_.heap).foreach { s =>
      if (sum > options.storeMemory) { sum -= s.heap; s.evict() }
    }
  }

  /** Writes all changes. */
  def flush(): Unit = {
    var any = written
    written = false
    stores.values.forEach(s => if (s.flushTo(state)) any = true)
    evict()
    clocks.values.forEach { c =>
      if (c.dirty) { state.put(clockStore, c.name.getBytes("UTF-8"), mark, c.value); c.dirty = false; any = true }
    }
    // Once per batch is enough: in real time this is called for each row.
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

  /** Sets a clock in a state from which a task will start. */
  def note(s: StateHandle, name: String, time: Long): Unit = s.put(clockStore, name.getBytes("UTF-8"), mark, time)

  /** The token of a state; 0 if no task has written it yet. */
  def tokenOf(s: StateHandle): Long = { val found = s.get(tokenStore, mark); if (found == null) 0L else found._2 }
}
