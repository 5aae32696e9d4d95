package org.apache.spark.sql.execution.streaming.state

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.{
  CompositeKeyStateEncoder,
  TransformWithStateKeyValueRowSchemaUtils
}
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.StatefulProcessorHandleImpl
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statevariables.MapStateImpl
import org.apache.spark.sql.streaming.{MapState, StatefulProcessorHandle}
import org.apache.spark.sql.types.StructType

/** How Spark composes the keys of a map state: each follows the task's grouping key. */
private[sql] trait MapKeys[K] {
  def grouping: UnsafeRow
  def composite(key: K): UnsafeRow
  def user(composite: UnsafeRow): K
}

/**
 * Seeks in the RocksDB column family of a map state. Spark supports ranges only for keys of fixed size, and none on a
 * MapState, so this class uses Spark's internals: it is in their package, and accesses private members by reflection.
 * Keys are the bytes that Spark's own encoder produces.
 */
private[sql] final class RocksDBAccess[K](
    encoders: RocksDBAccess.Encoders,
    open: () => RocksDBIterator,
    keys: MapKeys[K]
) {
  private val (keyEncoder, valueEncoder) = encoders
  private var cursor: RocksDBIterator = _
  private var stale = false
  private var found: ByteArrayPair = _

  /** The bytes with which all keys of the task begin. */
  val start: Array[Byte] = keyEncoder.encodePrefixKey(keys.grouping)

  /** The bytes of a key in RocksDB. */
  def encoded(key: K): Array[Byte] = keyEncoder.encodeKey(keys.composite(key))

  /** Notes that the state was written, so that subsequent reads see it. */
  def written(): Unit = stale = true

  /** Moves to the first key at or after these bytes. */
  def seek(at: Array[Byte]): Unit = {
    if (cursor == null) cursor = open()
    else if (stale) cursor.refresh()
    stale = false
    cursor.seek(at)
  }

  /** Reads the current entry and moves to the next; false at the end. */
  def next(): Boolean = if (cursor.hasNext) { found = cursor.next(); true }
  else false
  def keyBytes: Array[Byte] = found.key
  def key: K = keys.user(keyEncoder.decodeKey(found.key))
  def value: UnsafeRow = valueEncoder.decodeValue(found.value)

  def close(): Unit = if (cursor != null) { cursor.close(); cursor = null }
}

private[sql] object RocksDBAccess {
  type Encoders = (RocksDBKeyStateEncoder, RocksDBValueStateEncoder)

  /** The provider and the version of a running task's state, before its changes. */
  def stateOf(map: MapState[_, _]): Option[(RocksDBStateStoreProvider, Long)] = store.get(map) match {
    case s: RocksDBStateStoreProvider#RocksDBStateStore => Some((s.creatingProvider, s.version))
    case _ => None
  }

  /** Opens the state of a running task. */
  def of[K](map: MapState[K, _], name: String): RocksDBAccess[K] = {
    val (provider, _) = stateOf(map).getOrElse(
      throw new IllegalStateException(s"the state is not stored in RocksDB, but in ${store.get(map).getClass.getName}")
    )
    val encoder = keys.get(map).asInstanceOf[CompositeKeyStateEncoder[K, Any]]
    new RocksDBAccess(
      encodersOf(provider, name),
      () => provider.rocksDB.reusableIterator(name),
      new MapKeys[K] {
        override def grouping: UnsafeRow = encoder.encodeGroupingKey()
        override def composite(key: K): UnsafeRow = encoder.encodeCompositeKey(key)
        override def user(composite: UnsafeRow): K = encoder.decodeCompositeKey(composite)
      }
    )
  }

  /** Opens a state that was loaded for reading, with keys of that schema; None if it has no rows. */
  def of(provider: RocksDBStateStoreProvider, name: String, schema: StructType): Option[RocksDBAccess[InternalRow]] =
    of(encodersOf(provider, name), () => provider.rocksDB.reusableIterator(name), schema)

  private def of(
      encoders: Encoders,
      open: () => RocksDBIterator,
      schema: StructType
  ): Option[RocksDBAccess[InternalRow]] = {
    val cursor = open()
    val first =
      try {
        cursor.seek(Array.emptyByteArray)
        Option.when(cursor.hasNext)(encoders._1.decodeKey(cursor.next().key))
      } finally cursor.close()
    val Seq(groupingSize, userSize) = schema.map(_.dataType.asInstanceOf[StructType].size)
    first.map { k =>
      val own = k.getStruct(0, groupingSize).copy()
      val alone = UnsafeProjection.create(StructType(schema.take(1)))(InternalRow(own)).copy()
      val project = UnsafeProjection.create(schema)
      new RocksDBAccess(
        encoders,
        open,
        new MapKeys[InternalRow] {
          override def grouping: UnsafeRow = alone
          override def composite(key: InternalRow): UnsafeRow = project(InternalRow(own, key))
          override def user(composite: UnsafeRow): InternalRow = composite.getStruct(1, userSize)
        }
      )
    }
  }

  /**
   * The same for a map state that a task is using, or has not used yet: with encoders of its own, since those of the
   * task are not shared. `open`: opens an iterator over a column family, by its number.
   */
  def beside(
      provider: RocksDBStateStoreProvider,
      name: String,
      userKeys: StructType,
      values: StructType,
      open: Short => RocksDBIterator
  ): Option[RocksDBAccess[InternalRow]] =
    Option(familyOf.invoke(provider.rocksDB, name).asInstanceOf[ColumnFamilyInfo]).flatMap { family =>
      val grouping = keySchemaOf.invoke(provider).asInstanceOf[StructType]
      val schema = TransformWithStateKeyValueRowSchemaUtils.getCompositeKeySchema(grouping, userKeys)
      val spec = PrefixKeyScanStateEncoderSpec(schema, 1)
      val data = new UnsafeRowDataEncoder(spec, values)
      val encoders = (
        RocksDBStateEncoder.getKeyEncoder(data, spec, true),
        RocksDBStateEncoder.getValueEncoder(data, values, false, provider.rocksDB.delimiterSize)
      )
      of(encoders, () => open(family.cfId), schema)
    }

  /**
   * Lets a map state of an earlier micro-batch work on the state of this one, instead of a new one, whose encoders
   * Spark would analyze and generate again. Returns false if Spark has to create it: where the state is new to this
   * JVM.
   */
  def renew(map: MapState[_, _], name: String, handle: StatefulProcessorHandle): Boolean = handle match {
    case h: StatefulProcessorHandleImpl =>
      storeOfHandle.get(h) match {
        case s: RocksDBStateStoreProvider#RocksDBStateStore if holds(s.creatingProvider, name) =>
          store.set(map, s)
          metrics.set(map, metricsOfHandle.get(h))
          true
        case _ => false
      }
    case _ => false
  }

  /** Lets a map state work on another version of its state. */
  def move(map: MapState[_, _], to: StateStore): Unit = store.set(map, to)
  private def holds(provider: RocksDBStateStoreProvider, name: String): Boolean =
    provider.rocksDB.checkColFamilyExists(name) && encodersOf(provider, name) != null

  private def field(of: Class[_], name: String) = {
    val f = of.getDeclaredField(name)
    f.setAccessible(true)
    f
  }
  private val store = field(classOf[MapStateImpl[_, _]], "store")
  private val metrics = field(classOf[MapStateImpl[_, _]], "metrics")
  private val keys = field(classOf[MapStateImpl[_, _]], "stateTypesEncoder")
  private val storeOfHandle = field(classOf[StatefulProcessorHandleImpl], "store")
  private val metricsOfHandle = field(classOf[StatefulProcessorHandleImpl], "metrics")
  private val familyOf = {
    val m = classOf[RocksDB].getDeclaredMethod("getColumnFamilyInfo", classOf[String])
    m.setAccessible(true)
    m
  }
  private def ofProvider(name: String) = {
    val m = classOf[RocksDBStateStoreProvider].getDeclaredMethods.find(_.getName.endsWith("$" + name)).get
    m.setAccessible(true)
    m
  }
  private val encoders = ofProvider("keyValueEncoderMap")
  private val keySchemaOf = ofProvider("keySchema")
  private def encodersOf(provider: RocksDBStateStoreProvider, name: String) = {
    val found = encoders
      .invoke(provider)
      .asInstanceOf[ConcurrentHashMap[String, (RocksDBKeyStateEncoder, RocksDBValueStateEncoder, Any)]]
      .get(name)
    if (found == null) null else (found._1, found._2)
  }
}
