package org.apache.spark.sql.millrace

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types._

/**
 * The store of a table: one value per key with its timestamp or, if versioned, a history of values. The result of `put`
 * determines whether the update is forwarded: refused updates are not, those that are not the latest are marked.
 */
private[millrace] trait KeyedTable {
  def versioned: Boolean
  def get(key: Array[Byte]): Entry

  /** The value that was valid at a time; a table without versions has only the current one. */
  def get(key: Array[Byte], asOf: Long): Entry

  /** A null value deletes. */
  def put(key: Array[Byte], value: Any, timestamp: Long): Int
  def entries: Iterator[(Array[Byte], Entry)]

  /** How rows are shown. `decode` decodes the bytes of a key. */
  def view(name: String, node: String, key: DataType, value: DataType, decode: Array[Byte] => Any): StoreView
}

private[millrace] object KeyedTable {
  val Refused = -1
  val Outdated = 0
  val Latest = 1

  def open(c: TaskContext, owner: Node, settings: StoreSettings, valueType: DataType): KeyedTable =
    if (settings.history == null) new PlainTable(c.store(settings.state, valueType, ordered = false))
    else new VersionedTable(c, owner, settings.state, valueType, settings.history)
}

private[millrace] final class PlainTable(store: Store) extends KeyedTable {
  override def versioned: Boolean = false
  override def get(key: Array[Byte]): Entry = store.get(key)
  override def get(key: Array[Byte], asOf: Long): Entry = store.get(key)
  override def put(key: Array[Byte], value: Any, timestamp: Long): Int = {
    store.put(key, value, timestamp)
    KeyedTable.Latest
  }
  override def entries: Iterator[(Array[Byte], Entry)] = store.all
  override def view(name: String, node: String, key: DataType, value: DataType, decode: Array[Byte] => Any): StoreView =
    new StoreView(name, node, key, value, decode)
}

/**
 * Versions of each key, the newest first: rows are ordered by key and descending timestamp, so that every lookup is one
 * step in this order. A deletion is a version without a value [VS1] [VS2].
 *
 * Kafka Streams does not keep a deletion with the timestamp of the latest version, unless an earlier version ends
 * there. Versions that end are values, deletions that arrived when there was a later version, and deletions that a
 * value with the same timestamp replaced. The latter two are marked by a negative timestamp.
 */
private[millrace] final class VersionedTable(
    c: TaskContext,
    owner: Node,
    name: String,
    valueType: DataType,
    history: Long
) extends KeyedTable {
  private val store = c.store(name, new StructType().add("value", valueType), ordered = true)
  private val clock = c.clock("store:" + name)

  override def versioned: Boolean = true

  private def at(key: Array[Byte], timestamp: Long): Array[Byte] = Bytes.concat(key, Long.MaxValue - timestamp)
  private def timeOf(row: Array[Byte]): Long = Long.MaxValue - Bytes.getLong(row, row.length - 8)

  private def marked(row: Array[Byte]): Boolean = store.get(row).timestamp < 0
  private def deleted(row: Array[Byte]): Boolean = store.get(row).value.asInstanceOf[InternalRow].isNullAt(0)

  /** Whether a version before the newest one, `row`, ends at the time of `row`. */
  private def ends(key: Array[Byte], row: Array[Byte]): Boolean = marked(row) || {
    val before = floor(key, timeOf(row) - 1)
    before != null && (marked(before) || !deleted(before))
  }

  /** The row of the newest version at or before `asOf`, or null. */
  private def floor(key: Array[Byte], asOf: Long): Array[Byte] =
    store.firstOf(key, 8, at(key, asOf), Bytes.next(at(key, 0L)))

  private def read(row: Array[Byte]): Entry =
    if (row == null) null
    else {
      val v = store.get(row).value.asInstanceOf[InternalRow]
      if (v.isNullAt(0)) null else new Entry(v.get(0, valueType), timeOf(row))
    }

  override def get(key: Array[Byte]): Entry = read(floor(key, Long.MaxValue))

  /** The value as of a time. Before the history, only a latest version that is as old is known. */
  override def get(key: Array[Byte], asOf: Long): Entry = {
    val row = floor(key, asOf)
    if (asOf >= clock.value - history) read(row)
    else { val e = get(key); if (e != null && e.timestamp <= asOf) e else null }
  }

  override def put(key: Array[Byte], value: Any, timestamp: Long): Int =
    if (timestamp < clock.value - history) {
      c.dropped(owner, "expired", "time" -> timestamp, "kept_from" -> (clock.value - history))
      KeyedTable.Refused
    } else {
      clock.advance(timestamp)
      val newest = floor(key, Long.MaxValue)
      val latest = newest == null || timeOf(newest) <= timestamp
      val replaces = newest != null && timeOf(newest) == timestamp
      if (value == null && replaces && !deleted(newest) && !ends(key, newest)) store.delete(newest)
      else {
        val mark = if (value == null) !latest else replaces && (deleted(newest) || marked(newest))
        store.put(
          at(key, timestamp),
          new GenericInternalRow(Array[Any](value)),
          if (mark) -1L - timestamp else timestamp
        )
        forget(key)
      }
      if (latest) KeyedTable.Latest else KeyedTable.Outdated
    }

  /** Deletes versions that were replaced before the history begins. */
  private def forget(key: Array[Byte]): Unit = {
    val horizon = clock.value - history
    if (horizon > 0) {
      val valid = floor(key, horizon)
      if (valid != null) {
        def after(row: Array[Byte]) = store.firstOf(key, 8, Bytes.next(row), Bytes.next(at(key, 0L)))
        var old = after(valid)
        while (old != null) { store.delete(old); old = after(old) }
      }
    }
  }

  override def entries: Iterator[(Array[Byte], Entry)] = {
    var last: Array[Byte] = null
    store.all
      .filter { case (k, _) =>
        val key = java.util.Arrays.copyOf(k, k.length - 8)
        val newest = last == null || !java.util.Arrays.equals(last, key)
        last = key
        newest
      }
      .flatMap { case (k, _) => Option(read(k)).map(e => (java.util.Arrays.copyOf(k, k.length - 8), e)) }
  }

  /** Shows every version as a row of its own, by key and the time from which it is valid. */
  override def view(name: String, node: String, key: DataType, value: DataType, decode: Array[Byte] => Any): StoreView =
    new StoreView(
      name,
      node,
      new StructType().add("key", key).add("valid_from", LongType),
      value,
      k => new GenericInternalRow(Array[Any](decode(java.util.Arrays.copyOf(k, k.length - 8)), timeOf(k))),
      e => { val v = e.value.asInstanceOf[InternalRow]; if (v.isNullAt(0)) null else v.get(0, valueType) }
    )
}
