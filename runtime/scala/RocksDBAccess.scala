package org.apache.spark.sql.execution.streaming.state

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.CompositeKeyStateEncoder
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statevariables.MapStateImpl
import org.apache.spark.sql.streaming.MapState

/**
 * Seeks in the RocksDB column family of a map state. Spark has ranges for keys of fixed size only, and none on a
 * MapState, so this uses its internal classes: it is in their package for what they show there, and by reflection takes
 * what is private. Keys are the bytes that Spark's own encoder makes of them.
 */
private[sql] final class RocksDBAccess[K](map: MapState[K, _], name: String) {
  private val encoder = RocksDBAccess.keys.get(map).asInstanceOf[CompositeKeyStateEncoder[K, Any]]
  private val provider = RocksDBAccess.store.get(map) match {
    case s: RocksDBStateStoreProvider#RocksDBStateStore => s.creatingProvider
    case other => throw new IllegalStateException(s"the state is not kept in RocksDB but in ${other.getClass.getName}")
  }
  private val (keyEncoder, valueEncoder) = {
    val found = RocksDBAccess.encoders
      .invoke(provider)
      .asInstanceOf[ConcurrentHashMap[String, (RocksDBKeyStateEncoder, RocksDBValueStateEncoder, Any)]]
      .get(name)
    (found._1, found._2)
  }
  private var cursor: RocksDBIterator = _
  private var stale = false
  private var found: ByteArrayPair = _

  /** The bytes with which all keys of the task begin. */
  val start: Array[Byte] = keyEncoder.encodePrefixKey(encoder.encodeGroupingKey())

  /** The task's key in RocksDB. */
  def encoded(key: K): Array[Byte] = keyEncoder.encodeKey(encoder.encodeCompositeKey(key))

  /** The state was written: what is read from now on has it. */
  def written(): Unit = stale = true

  /** Goes to the first key at or after these bytes. */
  def seek(at: Array[Byte]): Unit = {
    if (cursor == null) cursor = provider.rocksDB.reusableIterator(name)
    else if (stale) cursor.refresh()
    stale = false
    cursor.seek(at)
  }

  /** Reads the entry there and goes on; false at the end. */
  def next(): Boolean = if (cursor.hasNext) { found = cursor.next(); true }
  else false
  def keyBytes: Array[Byte] = found.key
  def key: K = encoder.decodeCompositeKey(keyEncoder.decodeKey(found.key))
  def value: UnsafeRow = valueEncoder.decodeValue(found.value)

  def close(): Unit = if (cursor != null) { cursor.close(); cursor = null }
}

private object RocksDBAccess {
  private def field(name: String) = {
    val f = classOf[MapStateImpl[_, _]].getDeclaredField(name)
    f.setAccessible(true)
    f
  }
  val store: java.lang.reflect.Field = field("store")
  val keys: java.lang.reflect.Field = field("stateTypesEncoder")
  val encoders: java.lang.reflect.Method = {
    val m = classOf[RocksDBStateStoreProvider].getDeclaredMethods.find(_.getName.endsWith("keyValueEncoderMap")).get
    m.setAccessible(true)
    m
  }
}
