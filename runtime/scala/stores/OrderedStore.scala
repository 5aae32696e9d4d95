package org.apache.spark.sql.millrace

import java.util.{ArrayList => JArrayList, Arrays, NavigableMap, TreeMap, TreeSet}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.types.DataType

/**
 * A store with ranges in the order of its keys. A part of the state is in memory: keys, with or without their values,
 * and the intervals in which no other keys exist. Outside of these, a lookup reads one row and a range reads a piece of
 * the state, whose interval is known from then on. Ranges of many rows are read piece by piece and not kept.
 *
 * In the state, only keys of the same length are in order: `lengths` has the lengths that occur. `range` merges them,
 * [[rangeOf]] needs only one.
 *
 * `room`: the bytes of heap that the store may use, an estimate. A store that is new, or small enough to be read at
 * once, is kept in memory as a whole until it needs more.
 */
private[millrace] final class OrderedStore(
    name: String,
    valueType: DataType,
    state: () => StateHandle,
    counted: Clock,
    written: () => Unit,
    runs: Seq[Int],
    room: Long
) extends CachedStore(name, valueType, state, counted) {
  private val memory = new TreeMap[Array[Byte], Slot](Bytes.order)
  private val lengths = new TreeSet[Integer]()
  runs.foreach(lengths.add(_))

  /** Whether all keys are in memory. */
  private var whole = runs.isEmpty
  private val known = new Intervals

  /** By length of the keys: intervals in which no other keys of that length exist. */
  private val knownOf = new TreeMap[Integer, Intervals]()

  override def ordered: Boolean = true
  override protected def slots: Long = memory.size.toLong + known.size + knownOf.values.asScala.map(_.size.toLong).sum

  private def knows(key: Array[Byte]): Boolean = whole || known.covers(key) || {
    val own = knownOf.get(key.length)
    own != null && own.covers(key)
  }

  // ---- one key ----

  override def get(key: Array[Byte]): Entry = { val s = slot(key); if (s == null) null else load(key, s) }

  /**
   * The slot of a key; null if the key is known to have no row. In a large map each search costs as much as a lookup in
   * the state, so there is one for each record: it also adds the key, and a row that is read is usually written next.
   */
  private def slot(key: Array[Byte]): Slot = {
    if (lastSlot == null || !Arrays.equals(key, lastKey)) last(key, memory.computeIfAbsent(key, unknown))
    lastSlot
  }
  private val unknown: java.util.function.Function[Array[Byte], Slot] = key =>
    if (knows(key)) null
    else {
      val s = new Slot(null, 0L)
      load(key, s)
      s
    }

  /** The slot that was used last; null once a slot has left the memory. */
  private var lastKey: Array[Byte] = _
  private var lastSlot: Slot = _
  private def last(key: Array[Byte], s: Slot): Unit = { lastKey = key; lastSlot = s }
  private def forgetLast(): Unit = last(null, null)

  override protected def write(key: Array[Byte], e: Entry): Unit = {
    var s = slot(key)
    if (s == null) {
      s = new Slot(null, 0L)
      memory.put(key, s)
      last(key, s)
      lengths.add(key.length)
      changeRows(1)
    } else if (s.absent) { lengths.add(key.length); changeRows(1) }
    if (!s.loaded) { s.loaded = true; s.packed = null; loaded += 1 }
    s.entry = e
    note(key, s)
  }

  override def add(key: Array[Byte], value: Any, timestamp: Long): Unit = {
    val s = new Slot(null, 0L)
    s.loaded = true
    s.entry = new Entry(value, timestamp)
    loaded += 1
    val before = memory.put(key, s)
    last(key, s)
    if (before != null) throw new IllegalStateException(s"a row was added twice to the store $name")
    if (key.length != lastLength) { lengths.add(key.length); lastLength = key.length }
    changeRows(1)
    note(key, s)
  }
  private var lastLength = -1

  /**
   * Deletes a key. In a known interval it leaves the memory at once; its slot stays among the changes until the
   * deletion is written.
   */
  override def delete(key: Array[Byte]): Unit = {
    val s = slot(key)
    if (s != null && !s.absent) {
      changeRows(-1)
      if (!s.loaded) { s.loaded = true; s.packed = null; loaded += 1 }
      s.entry = null
      if (knows(key)) { memory.remove(key); forgetLast(); loaded -= 1 }
      note(key, s)
    }
  }

  override protected def flushed(key: Array[Byte], s: Slot): Unit =
    if (s.entry == null && memory.remove(key, s)) { forgetLast(); loaded -= 1 }
  override protected def forgetValues(): Unit = {
    forgetLast()
    val all = memory.values.iterator
    while (all.hasNext) {
      val s = all.next()
      if (s.absent) all.remove() else { s.entry = null; s.packed = null; s.loaded = false }
    }
  }
  override private[millrace] def evict(): Unit = {
    memory.clear()
    forgetLast()
    known.clear()
    knownOf.clear()
    whole = lengths.isEmpty
    loaded = 0
    evicted()
  }

  // ---- known intervals ----

  /**
   * Returns the end of the known interval that contains `from`, for keys of this length, or of any length if it is -1.
   * If necessary, reads a piece of the state, which ends at `to` at the latest.
   */
  private def reach(length: Int, from: Array[Byte], to: Array[Byte]): Array[Byte] = {
    if (!whole && rows <= OrderedStore.small && rows * CachedStore.slotBytes < room) readWhole()
    if (whole) Bytes.end
    else {
      var at = known.endOf(from)
      if (at == null && length >= 0) { val own = knownOf.get(length); if (own != null) at = own.endOf(from) }
      if (at == null) {
        val own = if (length < 0) known else knownOf.computeIfAbsent(length, _ => new Intervals)
        val piece = read(length, from, Bytes.min(to, own.startAfter(from)))
        piece.rows.forEach(keep(_))
        own.add(from, piece.end)
        at = piece.end
      }
      at
    }
  }
  private def keep(r: StoredRow): Unit =
    if (!memory.containsKey(r.key) && !knows(r.key)) memory.put(r.key, new Slot(r.value, r.timestamp))

  private def readWhole(): Unit = {
    lengths.forEach(n => state().all(name, n).foreach { r => see(r.key, r.value); keep(r) })
    known.clear()
    knownOf.clear()
    whole = true
  }

  /** Rows of the state in order: all that exist before `end`. */
  private final class Piece(val rows: JArrayList[StoredRow], val end: Array[Byte])
  private def read(length: Int, from: Array[Byte], to: Array[Byte]): Piece = {
    val rows = new JArrayList[StoredRow]()
    var end = to
    if (Bytes.before(from, to)) {
      val which = if (length >= 0) Seq(length) else lengths.asScala.toSeq.map(_.intValue)
      val most = math.max(OrderedStore.fewest, OrderedStore.piece / math.max(1, which.size))
      which.foreach { n =>
        val found = state().read(name, n, from, end, most)
        found.foreach { r => see(r.key, r.value); rows.add(r) }
        if (found.size == most) end = Bytes.min(end, Bytes.next(found.last.key))
      }
      rows.removeIf(r => !Bytes.before(r.key, end))
      if (which.size > 1) rows.sort((a: StoredRow, b: StoredRow) => Bytes.compare(a.key, b.key))
    }
    new Piece(rows, end)
  }

  // ---- ranges ----

  override def range(from: Array[Byte], to: Array[Byte], ascending: Boolean): Iterator[(Array[Byte], Entry)] =
    between(-1, low(from), high(to), ascending)

  override def rangeOf(
      key: Array[Byte],
      tail: Int,
      from: Array[Byte],
      to: Array[Byte],
      ascending: Boolean
  ): Iterator[(Array[Byte], Entry)] = {
    val length = key.length + tail
    // Most keys have few rows: once all of them are known, the next range of the key reads nothing.
    if (!whole) reach(length, key, high(Bytes.after(key)))
    between(length, low(from), high(to), ascending)
  }

  private def low(from: Array[Byte]): Array[Byte] = if (from == null) Bytes.first else from
  private def high(to: Array[Byte]): Array[Byte] = if (to == null) Bytes.end else to

  private def between(
      length: Int,
      from: Array[Byte],
      to: Array[Byte],
      ascending: Boolean
  ): Iterator[(Array[Byte], Entry)] =
    if (!Bytes.before(from, to)) Iterator.empty
    else {
      var at = from
      var pieces = 0
      while (Bytes.before(at, to) && pieces < OrderedStore.pieces) { at = reach(length, at, to); pieces += 1 }
      if (!Bytes.before(at, to)) here(length, from, to, ascending)
      else {
        val found = merged(length, from, to)
        (if (ascending) found
         else found.map { case (k, _) => (k, null) }.toArray[(Array[Byte], StoredRow)].reverseIterator)
          .map { case (k, r) => (k, entry(k, r)) }
          .filter(_._2 != null)
      }
    }

  /** The rows of a range that is known as a whole. Its slots are collected in one pass over the map. */
  private def here(
      length: Int,
      from: Array[Byte],
      to: Array[Byte],
      ascending: Boolean
  ): Iterator[(Array[Byte], Entry)] = {
    var found: JArrayList[java.util.Map.Entry[Array[Byte], Slot]] = null
    val all = memory.tailMap(from, true).entrySet.iterator
    var ended = false
    while (!ended && all.hasNext) {
      val e = all.next()
      if (!Bytes.before(e.getKey, to)) ended = true
      else if (length < 0 || e.getKey.length == length) {
        if (found == null) found = new JArrayList(4)
        found.add(e)
      }
    }
    if (found == null) Iterator.empty
    else {
      if (!ascending) java.util.Collections.reverse(found)
      found.iterator.asScala
        .map { e =>
          val s = e.getValue
          // The slot may have been replaced since.
          (e.getKey, if (s.absent) present(e.getKey) else load(e.getKey, s))
        }
        .filter(_._2 != null)
    }
  }
  private def within(from: Array[Byte], to: Array[Byte]): NavigableMap[Array[Byte], Slot] =
    if (to eq Bytes.end) memory.tailMap(from, true) else memory.subMap(from, true, to, false)
  private def present(key: Array[Byte]): Entry = { val s = memory.get(key); if (s == null) null else load(key, s) }

  /**
   * The keys of a range that is not known as a whole, in order, from the memory as it is now and from the state; keys
   * from the state come with their rows.
   */
  private def merged(only: Int, low: Array[Byte], high: Array[Byte]): Iterator[(Array[Byte], StoredRow)] =
    new Iterator[(Array[Byte], StoredRow)] {
      private val here =
        within(low, high).keySet.toArray(new Array[Array[Byte]](0)).filter(k => only < 0 || k.length == only)
      private var i = 0
      private var piece = read(only, low, high)
      private var j = 0
      private def refill(): Unit = while (j >= piece.rows.size && Bytes.before(piece.end, high)) {
        piece = read(only, piece.end, high)
        j = 0
      }
      override def hasNext: Boolean = { refill(); i < here.length || j < piece.rows.size }
      override def next(): (Array[Byte], StoredRow) = {
        refill()
        val c =
          if (j >= piece.rows.size) -1 else if (i >= here.length) 1 else Bytes.compare(here(i), piece.rows.get(j).key)
        if (c < 0) { i += 1; (here(i - 1), null) }
        else {
          if (c == 0) i += 1
          j += 1
          val r = piece.rows.get(j - 1)
          (r.key, r)
        }
      }
    }

  /** The current entry of a key. `r`: its row in the state, if that was read. */
  private def entry(key: Array[Byte], r: StoredRow): Entry = {
    val s = memory.get(key)
    if (s != null) load(key, s)
    else if (knows(key)) null
    else if (r == null) get(key)
    else new Entry(packer.unpack(r.value), r.timestamp)
  }

  override def first(from: Array[Byte], to: Array[Byte]): Array[Byte] = first(-1, low(from), high(to))
  override def firstOf(key: Array[Byte], tail: Int, from: Array[Byte], to: Array[Byte]): Array[Byte] =
    first(key.length + tail, low(from), high(to))

  private def first(length: Int, from: Array[Byte], to: Array[Byte]): Array[Byte] = {
    var at = from
    var found: Array[Byte] = null
    while (found == null && Bytes.before(at, to)) {
      val end = Bytes.min(reach(length, at, to), to)
      var next = memory.ceilingEntry(at)
      while (found == null && next != null && Bytes.before(next.getKey, end)) {
        if (!next.getValue.absent && (length < 0 || next.getKey.length == length)) found = next.getKey
        else next = memory.higherEntry(next.getKey)
      }
      at = end
    }
    found
  }

  /** Deletes from the state at once; the keys are read once and not kept. */
  override def sweep(from: Array[Byte], to: Array[Byte])(expired: Array[Byte] => Boolean): Unit = {
    val (low, high) = (this.low(from), this.high(to))
    val keys =
      if (whole) within(low, high).keySet.toArray(new Array[Array[Byte]](0)).iterator
      else merged(-1, low, high).map(_._1)
    forgetLast()
    keys.filter(expired).foreach { k =>
      val s = memory.get(k)
      if (if (s == null) !knows(k) else !s.absent) {
        changeRows(-1)
        if (s != null) {
          memory.remove(k)
          forgetLast()
          gone(k, s)
        } else deleted(k)
        show(k, null)
      }
    }
  }

  override def expire(key: Array[Byte]): Unit = {
    forgetLast()
    val s = memory.remove(key)
    if (if (s == null) !knows(key) else !s.absent) {
      changeRows(-1)
      if (s == null) deleted(key) else gone(key, s)
      show(key, null)
    }
  }

  /** Ends a slot that was removed from the memory. A row that was never written leaves no trace in the state. */
  private def gone(key: Array[Byte], s: Slot): Unit = {
    if (s.loaded) loaded -= 1
    s.entry = null
    s.packed = null
    s.loaded = true
    if (s.written) { deleted(key); s.written = false }
  }
  private def deleted(key: Array[Byte]): Unit = { state().delete(name, key); written() }

  override def whenEvicted(notify: () => Unit): Unit = evicted = notify
  private var evicted: () => Unit = () => ()
}

private[millrace] object OrderedStore {

  /** The number of rows to read at once, and the minimum for each length of keys. */
  private val piece = 512
  private val fewest = 4

  /** The number of pieces that a range may read into the memory. */
  private val pieces = 2

  /** The number of rows up to which a store is read as a whole. */
  private val small = 10000L
}

/** Disjoint intervals of keys, [start, end). */
private[millrace] final class Intervals {
  private val ends = new TreeMap[Array[Byte], Array[Byte]](Bytes.order)
  def size: Int = ends.size
  def clear(): Unit = ends.clear()

  /** The end of the interval that contains the key, or null. */
  def endOf(key: Array[Byte]): Array[Byte] = {
    val e = ends.floorEntry(key)
    if (e != null && Bytes.before(key, e.getValue)) e.getValue else null
  }
  def covers(key: Array[Byte]): Boolean = endOf(key) != null

  /** The start of the next interval after the key, or [[Bytes.end]]. */
  def startAfter(key: Array[Byte]): Array[Byte] = { val k = ends.higherKey(key); if (k == null) Bytes.end else k }

  /** Adds an interval, and joins it with those that it touches. */
  def add(start: Array[Byte], end: Array[Byte]): Unit = if (Bytes.before(start, end)) {
    var (low, high) = (start, end)
    val before = ends.floorEntry(start)
    if (before != null && !Bytes.before(before.getValue, start)) {
      low = before.getKey
      high = Bytes.max(high, before.getValue)
    }
    var next = ends.higherEntry(low)
    while (next != null && !Bytes.before(high, next.getKey)) {
      high = Bytes.max(high, next.getValue)
      ends.remove(next.getKey)
      next = ends.higherEntry(low)
    }
    ends.put(low, high)
  }
}
