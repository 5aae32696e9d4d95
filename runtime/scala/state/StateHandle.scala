package org.apache.spark.sql.millrace

import java.util.{Arrays, HashMap => JHashMap}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.execution.streaming.state.RocksDBAccess
import org.apache.spark.sql.streaming.MapState
import org.apache.spark.unsafe.types.UTF8String

/** A row as it is in the state. */
private[millrace] final class StoredRow(val key: Array[Byte], val value: Array[Byte], val timestamp: Long)

/**
 * Spark's state of one level and task: (store, key) -> (value, timestamp). The handle changes with every micro-batch.
 *
 * Rows of one store whose keys have the same length are ordered by their keys: they form a run of the store.
 */
private[millrace] trait StateHandle {
  def get(store: String, key: Array[Byte]): (Array[Byte], Long)
  def put(store: String, key: Array[Byte], value: Array[Byte], timestamp: Long): Unit
  def delete(store: String, key: Array[Byte]): Unit

  /** All runs in the state: store and length of the keys. Costs one seek for each. */
  def runs: Seq[(String, Int)]

  /** The first rows of a run in [from, to), in the order of their keys, at most `most`. */
  def read(store: String, length: Int, from: Array[Byte], to: Array[Byte], most: Int): Seq[StoredRow]

  /** Called at the end of a batch: nothing is read afterwards. */
  def release(): Unit = ()

  /** All rows of a run, read piece by piece: rows that were read may be written meanwhile. */
  final def all(store: String, length: Int): Iterator[StoredRow] = Iterator
    .unfold(Bytes.first) { from =>
      if (from == null) None
      else {
        val rows = read(store, length, from, Bytes.end, StateHandle.page)
        if (rows.isEmpty) None else Some((rows, if (rows.size < StateHandle.page) null else Bytes.next(rows.last.key)))
      }
    }
    .flatten
}

private[millrace] object StateHandle { private val page = 1024 }

/** State in a MapState of Spark, which is stored in RocksDB. */
private[millrace] final class MapHandle(map: MapState[InternalRow, InternalRow])
    extends RocksDBHandle(RocksDBAccess.of(map, LevelProcessor.stateName)) {
  override def get(store: String, k: Array[Byte]): (Array[Byte], Long) = {
    val v = map.getValue(row(store, k))
    if (v == null) null else (v.getBinary(0), v.getLong(1))
  }
  override def put(store: String, k: Array[Byte], value: Array[Byte], timestamp: Long): Unit = {
    map.updateValue(row(store, k), new GenericInternalRow(Array[Any](value, timestamp)))
    access.written()
  }
  override def delete(store: String, k: Array[Byte]): Unit = { map.removeKey(row(store, k)); access.written() }
}

/** State in RocksDB. */
private[millrace] abstract class RocksDBHandle(protected val access: RocksDBAccess[InternalRow]) extends StateHandle {
  private val names = new JHashMap[String, UTF8String]()
  protected def row(store: String, key: Array[Byte]) = new GenericInternalRow(
    Array[Any](names.computeIfAbsent(store, UTF8String.fromString(_)), key)
  )

  private val prefixes = new JHashMap[(String, Int), Array[Byte]]()

  /**
   * The bytes in RocksDB with which the keys of a run begin. Spark writes a row's fields of variable size last, padded
   * to 8 bytes, and their sizes before them, so the bytes before a key are the same for all keys of its length.
   */
  private def prefix(store: String, length: Int): Array[Byte] = prefixes.computeIfAbsent(
    (store, length),
    _ => {
      val key = new Array[Byte](length)
      Arrays.fill(key, 0x5a.toByte)
      val encoded = access.encoded(row(store, key))
      val at = encoded.length - (length + 7) / 8 * 8
      if (at < 0 || !Arrays.equals(encoded, at, at + length, key, 0, length))
        throw new IllegalStateException(
          "this version of Spark writes keys of the state in a different format: rows cannot be read in order"
        )
      Arrays.copyOf(encoded, at)
    }
  )
  private def within(prefix: Array[Byte]): Boolean = {
    val k = access.keyBytes
    k.length >= prefix.length && Arrays.equals(k, 0, prefix.length, prefix, 0, prefix.length)
  }

  override def runs: Seq[(String, Int)] = {
    val found = Seq.newBuilder[(String, Int)]
    var at = access.start
    while (at != null) {
      access.seek(at)
      if (access.next() && within(access.start)) {
        val k = access.key
        val run = (k.getUTF8String(0).toString, k.getBinary(1).length)
        found += run
        at = Bytes.after(prefix(run._1, run._2))
      } else at = null
    }
    found.result()
  }

  override def read(store: String, length: Int, from: Array[Byte], to: Array[Byte], most: Int): Seq[StoredRow] = {
    val p = prefix(store, length)
    val shared = math.min(length, from.length)
    val at = Arrays.copyOf(p, p.length + shared)
    System.arraycopy(from, 0, at, p.length, shared)
    val rows = Seq.newBuilder[StoredRow]
    var n = 0
    access.seek(at)
    while (n < most && access.next() && within(p)) {
      val k = Arrays.copyOfRange(access.keyBytes, p.length, p.length + length)
      if (Bytes.before(k, to)) {
        // A bound that is longer than the keys sorts after the key with which it begins.
        if (!Bytes.before(k, from)) {
          val v = access.value
          rows += new StoredRow(k, v.getBinary(0), v.getLong(1))
          n += 1
        }
      } else n = most
    }
    rows.result()
  }
  override def release(): Unit = access.close()
}

/** State in memory, for simulations and for tests of the operator. */
private[millrace] final class HeldState extends StateHandle {
  private type Run = java.util.TreeMap[Array[Byte], StoredRow]

  /** The rows before their changes since [[mark]], the last change first; null if they are not kept. */
  private var before: java.util.ArrayDeque[(String, Array[Byte], StoredRow)] = _

  /** From now on keeps what [[undo]] needs. */
  def mark(): Unit = before = new java.util.ArrayDeque()

  /** Undoes all changes since [[mark]]. */
  def undo(): Unit = while (!before.isEmpty) {
    val (store, key, row) = before.pop()
    if (row == null) run(store, key.length).remove(key) else run(store, key.length).put(key, row)
  }
  private def changed(store: String, key: Array[Byte], was: StoredRow): Unit =
    if (before != null) before.push((store, key, was))

  private val held = new java.util.TreeMap[(String, Int), Run](Ordering[(String, Int)])
  private def run(store: String, length: Int): Run =
    held.computeIfAbsent((store, length), _ => new java.util.TreeMap[Array[Byte], StoredRow](Bytes.order))

  override def get(store: String, key: Array[Byte]): (Array[Byte], Long) = {
    val found = run(store, key.length).get(key)
    if (found == null) null else (found.value, found.timestamp)
  }
  override def put(store: String, key: Array[Byte], value: Array[Byte], timestamp: Long): Unit =
    changed(
      store,
      key.clone(),
      run(store, key.length).put(key.clone(), new StoredRow(key.clone(), value.clone(), timestamp))
    )
  override def delete(store: String, key: Array[Byte]): Unit = {
    val was = run(store, key.length).remove(key)
    if (was != null) changed(store, key.clone(), was)
  }
  override def runs: Seq[(String, Int)] = {
    val found = Seq.newBuilder[(String, Int)]
    held.forEach((run, rows) => if (!rows.isEmpty) found += run)
    found.result()
  }
  override def read(store: String, length: Int, from: Array[Byte], to: Array[Byte], most: Int): Seq[StoredRow] = {
    val rows = Seq.newBuilder[StoredRow]
    val found = run(store, length).tailMap(from, true).values.iterator
    var n = 0
    while (n < most && found.hasNext) {
      val r = found.next()
      if (Bytes.before(r.key, to)) { rows += r; n += 1 }
      else n = most
    }
    rows.result()
  }
}
