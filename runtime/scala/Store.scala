package org.apache.spark.sql.millrace

import java.util.{Arrays, HashMap => JHashMap, TreeMap}

import org.apache.spark.sql.types.DataType

/** Bytes as a key of a hash table. */
private[millrace] final class Bytes(val array: Array[Byte]) {
  private val hash = Arrays.hashCode(array)
  override def hashCode: Int = hash
  override def equals(other: Any): Boolean = other match {
    case b: Bytes => b.hash == hash && Arrays.equals(b.array, array)
    case _ => false
  }
}

object Bytes {
  /** Smallest key after all keys that start with the prefix; null if there is none. */
  def after(prefix: Array[Byte]): Array[Byte] = {
    var i = prefix.length - 1
    while (i >= 0 && prefix(i) == -1) i -= 1
    if (i < 0) null else { val r = Arrays.copyOf(prefix, i + 1); r(i) = (r(i) + 1).toByte; r }
  }
  /** The next key in unsigned order: `key` and a zero byte. Makes an inclusive bound of an exclusive one. */
  def next(key: Array[Byte]): Array[Byte] = Arrays.copyOf(key, key.length + 1)
  def compare(a: Array[Byte], b: Array[Byte]): Int = Arrays.compareUnsigned(a, b)
  def putLong(to: Array[Byte], at: Int, v: Long): Unit = { var i = 0; while (i < 8) { to(at + i) = (v >>> (56 - 8 * i)).toByte; i += 1 } }
  def getLong(from: Array[Byte], at: Int): Long = { var v = 0L; var i = 0; while (i < 8) { v = (v << 8) | (from(at + i) & 0xff); i += 1 }; v }
  def putInt(to: Array[Byte], at: Int, v: Int): Unit = { var i = 0; while (i < 4) { to(at + i) = (v >>> (24 - 8 * i)).toByte; i += 1 } }
  def getInt(from: Array[Byte], at: Int): Int = { var v = 0; var i = 0; while (i < 4) { v = (v << 8) | (from(at + i) & 0xff); i += 1 }; v }
  /** `key` followed by big-endian longs. */
  def concat(key: Array[Byte], longs: Long*): Array[Byte] = {
    val r = Arrays.copyOf(key, key.length + 8 * longs.length)
    var i = 0
    while (i < longs.length) { putLong(r, key.length + 8 * i, longs(i)); i += 1 }
    r
  }
}

/** Spark's state of one level and task: (store, key) -> (value, timestamp). The handle changes with every micro-batch. */
private[millrace] trait StateHandle {
  def get(store: String, key: Array[Byte]): (Array[Byte], Long)
  def put(store: String, key: Array[Byte], value: Array[Byte], timestamp: Long): Unit
  def delete(store: String, key: Array[Byte]): Unit
  def all: Iterator[(String, Array[Byte], Array[Byte], Long)]
}

/**
 * Write-back cache over Spark's state. Values are kept as Catalyst values while in work and packed once, when the micro-batch ends.
 * An ordered store keeps all of its keys in memory, sorted; which of their values are in memory as well is bounded by `Store.kept`.
 */
private[millrace] final class CachedStore(val name: String, valueType: DataType, val ordered: Boolean, state: () => StateHandle, counted: Clock) extends Store {
  private final class Slot(var entry: Entry, var loaded: Boolean, var dirty: Boolean)
  private val packer = new Packer(valueType)
  private val hashed: JHashMap[Bytes, Slot] = if (ordered) null else new JHashMap()
  private val sorted: TreeMap[Array[Byte], Slot] = if (ordered) new TreeMap((a: Array[Byte], b: Array[Byte]) => Arrays.compareUnsigned(a, b)) else null
  private var dirty = new java.util.ArrayList[(Array[Byte], Slot)]()
  /** Null where nobody follows the task, or the store's rows are nothing to show. */
  private[millrace] var trace: Trace = _
  private[millrace] var view: StoreView = _
  private var loaded = 0
  /** Bytes of keys and values written, and how many writes: what an entry takes on average. */
  private var writtenBytes = 0L
  private var writes = 0L

  /** The number of entries; kept with the state. */
  def rows: Long = Math.max(0L, counted.value)
  /** An estimate: entries times the average size of what was written lately. */
  def bytes: Long = if (writes == 0) 0L else (rows.toDouble * writtenBytes / writes).toLong

  private[millrace] def restore(key: Array[Byte]): Unit = if (ordered) sorted.put(key, new Slot(null, false, false))

  private def load(key: Array[Byte], s: Slot): Entry = {
    if (!s.loaded) {
      val found = state().get(name, key)
      s.entry = if (found == null) null else new Entry(packer.unpack(found._1), found._2)
      s.loaded = true; loaded += 1
    }
    s.entry
  }

  override def get(key: Array[Byte]): Entry =
    if (ordered) { val s = sorted.get(key); if (s == null) null else load(key, s) } else load(key, slot(key))

  /** What is read is mostly written next, by the same array. */
  private def slot(key: Array[Byte]): Slot = {
    if (key ne lastKey) {
      val k = new Bytes(key)
      var s = hashed.get(k)
      if (s == null) { s = new Slot(null, false, false); hashed.put(k, s) }
      lastKey = key; lastSlot = s
    }
    lastSlot
  }
  private var lastKey: Array[Byte] = _
  private var lastSlot: Slot = _

  override def put(key: Array[Byte], value: Any, timestamp: Long): Unit =
    if (value == null) delete(key) else write(key, new Entry(value, timestamp))

  private def write(key: Array[Byte], e: Entry): Unit = {
    var s: Slot = null
    if (ordered) {
      s = sorted.get(key)
      if (s == null) { s = new Slot(null, false, false); sorted.put(key, s); counted.set(rows + 1) }
      if (!s.loaded) { s.loaded = true; loaded += 1 }
    } else {
      s = slot(key)
      val before = load(key, s)
      if (before == null && e != null) counted.set(rows + 1) else if (before != null && e == null) counted.set(rows - 1)
    }
    s.entry = e
    note(key, s)
  }
  private def note(key: Array[Byte], s: Slot): Unit = {
    if (!s.dirty) { s.dirty = true; dirty.add((key, s)) }
    if (trace != null && view != null) trace.stored(view, key, s.entry)
  }

  /** A deleted key leaves an ordered store at once; its slot waits among the changes until the deletion is written. */
  override def delete(key: Array[Byte]): Unit =
    if (!ordered) write(key, null)
    else {
      val s = sorted.remove(key)
      if (s != null) {
        counted.set(rows - 1)
        if (s.loaded) loaded -= 1
        s.entry = null; s.loaded = true
        note(key, s)
      }
    }

  override def range(from: Array[Byte], to: Array[Byte], ascending: Boolean): Iterator[(Array[Byte], Entry)] = {
    val v = view(from, to)
    if (v == null) Iterator.empty
    else {
      val keys = (if (ascending) v.keySet else v.descendingKeySet).toArray(new Array[Array[Byte]](0))
      keys.iterator.map(k => (k, get(k))).filter(_._2 != null)
    }
  }

  private def view(from: Array[Byte], to: Array[Byte]): java.util.NavigableMap[Array[Byte], Slot] = {
    if (!ordered) throw new IllegalStateException(s"store $name is not ordered")
    if (from == null && to == null) sorted
    else if (from == null) sorted.headMap(to, false)
    else if (to == null) sorted.tailMap(from, true)
    else if (Arrays.compareUnsigned(from, to) >= 0) null
    else sorted.subMap(from, true, to, false)
  }

  override def first(from: Array[Byte], to: Array[Byte]): Array[Byte] = {
    if (!ordered) throw new IllegalStateException(s"store $name is not ordered")
    val found = if (from == null) { if (sorted.isEmpty) null else sorted.firstKey } else sorted.ceilingKey(from)
    if (found == null || (to != null && Arrays.compareUnsigned(found, to) >= 0)) null else found
  }

  override def size: Long = rows

  /** Of a store that is not ordered: reads the state and sorts, for dumps. */
  override def all: Iterator[(Array[Byte], Entry)] =
    if (ordered) range(null, null)
    else {
      flushTo(state())
      val rows = state().all.filter(_._1 == name).map { case (_, k, v, t) => (k, new Entry(packer.unpack(v), t)) }.toArray
      java.util.Arrays.sort(rows, (a: (Array[Byte], Entry), b: (Array[Byte], Entry)) => Arrays.compareUnsigned(a._1, b._1))
      rows.iterator
    }

  /** Writes what changed; afterwards the cache equals the state. */
  private[millrace] def flushTo(s: StateHandle): Boolean = {
    val any = !dirty.isEmpty
    var i = 0
    while (i < dirty.size) {
      val (key, slot) = dirty.get(i)
      if (slot.entry == null) s.delete(name, key)
      else {
        val packed = packer.pack(slot.entry.value)
        s.put(name, key, packed, slot.entry.timestamp)
        writtenBytes += key.length + packed.length + 8; writes += 1
      }
      slot.dirty = false
      i += 1
    }
    if (any) dirty = new java.util.ArrayList()
    if (loaded > CachedStore.kept) {
      if (ordered) sorted.values.forEach { s => s.entry = null; s.loaded = false } else { hashed.clear(); lastKey = null; lastSlot = null }
      loaded = 0
    }
    any
  }

  /** Keys and their sizes are what a task's memory is bound by: a flush in the middle of a batch keeps them, and frees the values. */
  private[millrace] def crowded: Boolean = loaded > CachedStore.limit
}

private[millrace] object CachedStore {
  /** Values that stay in memory from one micro-batch to the next, per store and task. */
  val kept = 50000
  /** Values in memory at which a store is flushed although the micro-batch goes on. */
  val limit = 500000
}
