package org.apache.spark.sql.millrace

import java.util.{ArrayList => JArrayList, Arrays, Comparator, HashMap => JHashMap}

import org.apache.spark.sql.types.DataType

/** A byte array as the key of a hash table. */
private[millrace] final class Bytes(val array: Array[Byte]) {
  private val hash = Arrays.hashCode(array)
  override def hashCode: Int = hash
  override def equals(other: Any): Boolean = other match {
    case b: Bytes => b.hash == hash && Arrays.equals(b.array, array)
    case _ => false
  }
}

object Bytes {

  /** The smallest key after all keys that start with the prefix; null if there is none. */
  def after(prefix: Array[Byte]): Array[Byte] = {
    var i = prefix.length - 1
    while (i >= 0 && prefix(i) == -1) i -= 1
    if (i < 0) null else { val r = Arrays.copyOf(prefix, i + 1); r(i) = (r(i) + 1).toByte; r }
  }

  /** The next key in unsigned order: `key` and a zero byte. As an exclusive upper bound, it includes `key`. */
  def next(key: Array[Byte]): Array[Byte] = Arrays.copyOf(key, key.length + 1)
  def compare(a: Array[Byte], b: Array[Byte]): Int = Arrays.compareUnsigned(a, b)
  val order: Comparator[Array[Byte]] = (a: Array[Byte], b: Array[Byte]) => Arrays.compareUnsigned(a, b)

  /** Bounds of ranges: `first` is at or before all keys, `end` after them. Only `before` may compare `end`. */
  private[millrace] val first: Array[Byte] = Array.emptyByteArray
  private[millrace] val end: Array[Byte] = new Array[Byte](0)
  private[millrace] def before(a: Array[Byte], b: Array[Byte]): Boolean =
    (a ne end) && ((b eq end) || Arrays.compareUnsigned(a, b) < 0)
  private[millrace] def min(a: Array[Byte], b: Array[Byte]): Array[Byte] = if (before(b, a)) b else a
  private[millrace] def max(a: Array[Byte], b: Array[Byte]): Array[Byte] = if (before(a, b)) b else a
  def putLong(to: Array[Byte], at: Int, v: Long): Unit = {
    var i = 0
    while (i < 8) { to(at + i) = (v >>> (56 - 8 * i)).toByte; i += 1 }
  }
  def getLong(from: Array[Byte], at: Int): Long = {
    var v = 0L
    var i = 0
    while (i < 8) { v = (v << 8) | (from(at + i) & 0xff); i += 1 }
    v
  }
  def putInt(to: Array[Byte], at: Int, v: Int): Unit = {
    var i = 0
    while (i < 4) { to(at + i) = (v >>> (24 - 8 * i)).toByte; i += 1 }
  }
  def getInt(from: Array[Byte], at: Int): Int = {
    var v = 0
    var i = 0
    while (i < 4) { v = (v << 8) | (from(at + i) & 0xff); i += 1 }
    v
  }

  /** `key` followed by big-endian longs. */
  def concat(key: Array[Byte], longs: Long*): Array[Byte] = {
    val r = Arrays.copyOf(key, key.length + 8 * longs.length)
    var i = 0
    while (i < longs.length) { putLong(r, key.length + 8 * i, longs(i)); i += 1 }
    r
  }
}

/**
 * A write-back cache over Spark's state. Values in use are Catalyst values, and are packed once, when the micro-batch
 * ends. `counted`: the number of rows, which is kept with the state.
 */
private[millrace] abstract class CachedStore(
    val name: String,
    valueType: DataType,
    state: () => StateHandle,
    counted: Clock
) extends Store {

  /**
   * The cached row of a key. Not `loaded`: the row exists, and its value is `packed` or else in the state. `loaded`
   * without an entry: there is no row.
   */
  protected final class Slot(var packed: Array[Byte], var timestamp: Long) {
    var entry: Entry = _
    var loaded = false
    var dirty = false

    /** Whether the state may have a row of the key. */
    var written: Boolean = packed != null
    def absent: Boolean = loaded && entry == null
  }
  protected val packer = new Packer(valueType)
  private var dirty = new JArrayList[(Array[Byte], Slot)]()

  /** Null if the task is not traced; `view` is null if the store's rows are not shown. */
  private[millrace] var trace: Trace = _
  private[millrace] var view: StoreView = _

  /** The number of slots whose value is in memory. */
  protected var loaded = 0

  /** The bytes of keys and values that were read or written, and the number of rows, for the average row size. */
  private var seenBytes = 0L
  private var seen = 0L

  def ordered: Boolean

  /** The number of entries. */
  def rows: Long = Math.max(0L, counted.value)
  override def size: Long = rows
  protected final def changeRows(by: Int): Unit = counted.set(rows + by)

  /** The estimated size in bytes: rows times the average size of a row. */
  def bytes: Long = if (seen == 0) 0L else (rows.toDouble * seenBytes / seen).toLong

  /** The estimated heap in use, in bytes. */
  private[millrace] def heap: Long =
    slots * CachedStore.slotBytes + (if (seen == 0) 0L else 2L * slots * seenBytes / seen)
  protected def slots: Long
  protected final def see(key: Array[Byte], packed: Array[Byte]): Unit = {
    seenBytes += key.length + packed.length + 8
    seen += 1
  }

  /** Returns the entry, and reads it first if necessary. */
  protected final def load(key: Array[Byte], s: Slot): Entry = {
    if (!s.loaded) {
      if (s.packed != null) { s.entry = new Entry(packer.unpack(s.packed), s.timestamp); s.packed = null }
      else {
        val found = state().get(name, key)
        if (found != null) { s.entry = new Entry(packer.unpack(found._1), found._2); see(key, found._1) }
        s.written = found != null
      }
      s.loaded = true
      loaded += 1
    }
    s.entry
  }

  override def put(key: Array[Byte], value: Any, timestamp: Long): Unit =
    if (value == null) delete(key) else write(key, new Entry(value, timestamp))
  protected def write(key: Array[Byte], e: Entry): Unit

  /** Marks a slot as changed: the next flush writes it. */
  protected final def note(key: Array[Byte], s: Slot): Unit = {
    if (!s.dirty) { s.dirty = true; dirty.add((key, s)) }
    show(key, s.entry)
  }
  protected final def show(key: Array[Byte], entry: Entry): Unit =
    if (trace != null && view != null) trace.stored(view, key, entry)

  /** Shows rows of the state to the trace, up to the number that it accepts. */
  private[millrace] def show(rows: Iterator[StoredRow]): Unit = if (trace != null && view != null)
    rows
      .takeWhile(_ => trace.restoring(view))
      .foreach(r => show(r.key, new Entry(packer.unpack(r.value), r.timestamp)))

  /**
   * Writes all changes; afterwards the cache equals the state. Rows that were added and deleted since the last flush
   * are not written.
   */
  private[millrace] def flushTo(s: StateHandle): Boolean = {
    val any = !dirty.isEmpty
    var i = 0
    while (i < dirty.size) {
      val (key, slot) = dirty.get(i)
      if (slot.entry == null) { if (slot.written) s.delete(name, key) }
      else {
        val packed = packer.pack(slot.entry.value)
        s.put(name, key, packed, slot.entry.timestamp)
        see(key, packed)
      }
      slot.dirty = false
      slot.written = slot.entry != null
      flushed(key, slot)
      i += 1
    }
    if (any) dirty = new JArrayList()
    if (loaded > CachedStore.kept) { forgetValues(); loaded = 0 }
    any
  }
  protected def flushed(key: Array[Byte], s: Slot): Unit = ()

  /** Called after a flush: releases values that can be read again. */
  protected def forgetValues(): Unit

  /** Called after a flush: releases everything. */
  private[millrace] def evict(): Unit = { forgetValues(); loaded = 0 }

  /** Whether more values are in memory than [[CachedStore.limit]]. */
  private[millrace] def crowded: Boolean = loaded > CachedStore.limit
}

private[millrace] object CachedStore {

  /** Values that stay in memory from one micro-batch to the next, per store and task. */
  val kept = 50000

  /** The number of values in memory at which a store is flushed in the middle of a micro-batch. */
  val limit = 500000

  /** The heap bytes of a slot without its key and value: entries of maps, objects and their headers. */
  val slotBytes = 180L
}

/** A store without order: a key is looked up in the state when it is first used. */
private[millrace] final class HashedStore(name: String, valueType: DataType, state: () => StateHandle, counted: Clock)
    extends CachedStore(name, valueType, state, counted) {
  private val hashed = new JHashMap[Bytes, Slot]()
  override def ordered: Boolean = false
  override protected def slots: Long = hashed.size.toLong

  /** Remembers the last slot: a value that is read is usually written next, with the same array as its key. */
  private def slot(key: Array[Byte]): Slot = {
    if (key ne lastKey) {
      val k = new Bytes(key)
      var s = hashed.get(k)
      if (s == null) { s = new Slot(null, 0L); hashed.put(k, s) }
      lastKey = key
      lastSlot = s
    }
    lastSlot
  }
  private var lastKey: Array[Byte] = _
  private var lastSlot: Slot = _

  override def get(key: Array[Byte]): Entry = load(key, slot(key))
  override def delete(key: Array[Byte]): Unit = write(key, null)
  override protected def write(key: Array[Byte], e: Entry): Unit = {
    val s = slot(key)
    val before = load(key, s)
    if (before == null && e != null) changeRows(1) else if (before != null && e == null) changeRows(-1)
    s.entry = e
    note(key, s)
  }
  override protected def forgetValues(): Unit = { hashed.clear(); lastKey = null; lastSlot = null }

  /** Reads and sorts the rows of the state, for dumps. */
  override def all: Iterator[(Array[Byte], Entry)] = {
    flushTo(state())
    val rows = state().runs
      .filter(_._1 == name)
      .flatMap(run => state().all(name, run._2))
      .map(r => (r.key, new Entry(packer.unpack(r.value), r.timestamp)))
      .toArray
    Arrays.sort(rows, (a: (Array[Byte], Entry), b: (Array[Byte], Entry)) => Bytes.compare(a._1, b._1))
    rows.iterator
  }
  private def unordered = throw new IllegalStateException(s"store $name is not ordered")
  override def range(from: Array[Byte], to: Array[Byte], ascending: Boolean): Iterator[(Array[Byte], Entry)] = unordered
  override def rangeOf(
      key: Array[Byte],
      tail: Int,
      from: Array[Byte],
      to: Array[Byte],
      ascending: Boolean
  ): Iterator[(Array[Byte], Entry)] = unordered
  override def first(from: Array[Byte], to: Array[Byte]): Array[Byte] = unordered
  override def firstOf(key: Array[Byte], tail: Int, from: Array[Byte], to: Array[Byte]): Array[Byte] = unordered
  override def sweep(from: Array[Byte], to: Array[Byte])(expired: Array[Byte] => Boolean): Unit = unordered
}
