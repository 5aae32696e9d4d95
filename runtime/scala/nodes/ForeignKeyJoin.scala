package org.apache.spark.sql.millrace

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, XXH64}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform

/* A join by a foreign key consists of three nodes [FK1] to [FK8]. `foreign_key_subscribe`, beside the left table, sends
 * the right side which row refers to which key; `foreign_key_lookup`, beside the right table, stores this and answers,
 * at once and when the right row changes; `foreign_key_resolve`, beside the left table again, joins an answer with the
 * left row, unless that row has changed in between: messages carry a hash of the row. */
private[millrace] object ForeignKey {

  /** The instructions to the right side in a subscription. */
  val Unsubscribe = 0
  val UnsubscribeAndAnswer = 1
  val AnswerAlways = 2
  val AnswerIfFound = 3

  val subscription: StructType = new StructType()
    .add("hash", BinaryType)
    .add("instruction", IntegerType)
    .add("primary", BinaryType)
    .add("task", IntegerType)
  val subscriber: StructType = new StructType().add("hash", BinaryType).add("task", IntegerType)

  /** The type of subscribers with the type of the hashed rows, which a state notes with the type of its values. */
  def subscriberOf(row: DataType): StructType = StructType(
    subscriber.map(f => if (f.dataType == BinaryType) f.copy(metadata = hashing(row)) else f)
  )
  private def hashing(row: DataType) = new MetadataBuilder().putString("row", Conversion.text(row)).build()

  /** The hash of a row whose type has changed, and with it its bytes: it fits any row that exists. */
  val anyRow: Array[Byte] = Array.emptyByteArray
  def outdated(before: StructField, now: StructField): Boolean =
    now.metadata.contains("row") && before.metadata != now.metadata
  def fits(asked: Array[Byte], row: Array[Byte]): Boolean =
    java.util.Arrays.equals(asked, row) || (asked != null && asked.length == 0 && row != null)
  def answer(value: DataType): StructType = new StructType().add("hash", BinaryType).add("value", value)

  /** A hash of 128 bits; null for no value. */
  def hash(codec: Codec, value: Any): Array[Byte] = if (value == null) null
  else {
    val b = codec.encode(value)
    Bytes.concat(
      Array.emptyByteArray,
      XXH64.hashUnsafeBytes(b, Platform.BYTE_ARRAY_OFFSET.toLong, b.length, 42L),
      XXH64.hashUnsafeBytes(b, Platform.BYTE_ARRAY_OFFSET.toLong, b.length, 7919L)
    )
  }
}

private[millrace] final class SubscribeSpec(b: Build) extends HopSpec(b) {
  val in: TablePort = b.table(0)
  private val left = TableSpec.of(in)
  val outer: Boolean = b.textOpt("type").contains("left")

  /** The type of the right table's key, which may be built after this node; the expression is cast to it. */
  private val key = KeyType(b.dataType("key_type"))
  val foreignKey: Expr = b.expr("foreign_key", Layout.pair(in.key, in.value), Some(key.seen))
  private[millrace] val parentVersioned = left.outputVersioned
  left.enableSendingOldValues(force = true)
  override val ports: Seq[(String, Port)] = Seq("out" -> StreamPort(key, ForeignKey.subscription))
  override def topic: String = b.textOpt("topic").getOrElse(s"$node-subscription-registration-topic")
  override def create(): Node = new Subscribe(this)
}

private[millrace] final class Subscribe(s: SubscribeSpec) extends HopNode(s) {
  import ForeignKey._
  private val primaryKeys = Codec.key(s.in.key)
  private val foreignKeys = Codec.key(s.ports.head._2.key)
  private val values = Codec.of(s.in.value)
  private var task = 0
  override def init(c: TaskContext): Unit = task = c.taskId(s.sub).split('_').last.toInt

  override def process(r: Record, input: Int): Unit = {
    val c = r.change
    if (s.parentVersioned && !c.isLatest) dropped("outdated")
    else if (c.oldValue != null || c.newValue != null) {
      val old = if (c.oldValue == null) null else s.foreignKey(r.key, c.oldValue)
      val now = if (c.newValue == null) null else s.foreignKey(r.key, c.newValue)
      if (s.outer) {
        if (old != null && changed(old, now)) subscribe(r, old, Unsubscribe)
        subscribe(r, now, AnswerAlways)
      } else if (c.newValue == null) {
        if (old != null) subscribe(r, old, UnsubscribeAndAnswer) else ended("unchanged")
      } else if (now == null) {
        dropped("null_foreign_key")
        if (old != null) subscribe(r, old, UnsubscribeAndAnswer)
      } else if (old != null && changed(old, now)) {
        subscribe(r, old, Unsubscribe)
        subscribe(r, now, AnswerAlways)
      } else subscribe(r, now, AnswerIfFound)
    } else ended("unchanged")
  }

  private def changed(a: Any, b: Any): Boolean = !java.util.Arrays.equals(foreignKeys.encode(a), foreignKeys.encode(b))
  private def subscribe(r: Record, foreignKey: Any, instruction: Int): Unit =
    hop(
      r.withKey(foreignKey)
        .withValue(
          new GenericInternalRow(
            Array[Any](hash(values, r.change.newValue), instruction, primaryKeys.encode(r.key), task)
          )
        )
    )
}

private[millrace] final class LookupSpec(b: Build) extends HopSpec(b) {

  /** The input with the right table; the other one receives subscriptions. */
  val tableInput: Int = b.inputs.indexWhere(_.isInstanceOf[TablePort])
  if (tableInput < 0) b.fail("right", "port", "must be a table")
  val right: TablePort = b.table(tableInput)
  private val table = TableSpec.of(right)
  private val subscribe = b.parent(1 - tableInput).asInstanceOf[SubscribeSpec]
  private[millrace] val outer: Boolean = subscribe.outer
  private[millrace] val asked: KeyType = subscribe.ports.head._2.key
  private[millrace] val leftValue: DataType = subscribe.in.value
  if (asked.seen != right.key.seen)
    b.fail("foreign_key", "type", s"gives ${asked.seen.sql}, needs ${right.key.seen.sql}")
  private[millrace] val parentVersioned = table.outputVersioned
  table.enableSendingOldValues(force = true)
  table.readable()
  override val ports: Seq[(String, Port)] = Seq("out" -> StreamPort(subscribe.in.key, ForeignKey.answer(right.value)))

  /**
   * Whether a value is encoded without bytes, such as an empty text. It arrives in an answer as null: Kafka Streams
   * does not distinguish them there.
   */
  private[millrace] val empty: Any => Boolean = {
    val codec = table match { case t: SourceSpec => t.valueCodec; case _ => Codec.of(right.value) }
    if (Set("string", "bytes", "protobuf")(codec.format)) v => codec.encode(v).length == 0 else _ => false
  }
  override def topic: String = b.textOpt("topic").getOrElse(s"$node-subscription-response-topic")

  /** The node that subscribes: subscribers note the task of its sub-topology that waits for the answer. */
  private[millrace] val asker: NodeSpec = subscribe
  override private[millrace] def kept: Seq[KeptRows] =
    KeptRows(s"$id$$subscribers", right.key, counted = true) +: KeptRows.copyAt(this, tableInput)
  override def create(): Node = new ForeignLookup(this)
}

private[millrace] final class ForeignLookup(s: LookupSpec) extends HopNode(s) {
  import ForeignKey._
  private val right = TableInput.of(this, s.tableInput)
  private val keys = Codec.key(s.right.key)

  /** Subscribers by length of the foreign key, foreign key and primary key. */
  private var subscribers: Store = _

  override def init(c: TaskContext): Unit = {
    right.init(c)
    subscribers = c.store(buffers.head, subscriberOf(s.leftValue), ordered = true)
  }
  override def buffers: Seq[String] = Seq(s"$id$$subscribers")

  private def prefix(key: Any): Array[Byte] = {
    val k = keys.encode(key)
    val p = new Array[Byte](4 + k.length)
    Bytes.putInt(p, 0, k.length)
    System.arraycopy(k, 0, p, 4, k.length)
    p
  }

  override def process(r: Record, input: Int): Unit = if (input == s.tableInput) changed(r) else subscribed(r)

  private def subscribed(r: Record): Unit = {
    val w = r.value.asInstanceOf[InternalRow]
    val hash = if (w.isNullAt(0)) null else w.getBinary(0)
    val (instruction, primary, task) = (w.getInt(1), w.getBinary(2), w.getInt(3))
    if (r.key == null && instruction != AnswerAlways) dropped("null_foreign_key")
    else {
      if (r.key != null) {
        val at = prefix(r.key) ++ primary
        if (instruction == Unsubscribe || instruction == UnsubscribeAndAnswer) subscribers.delete(at)
        else subscribers.put(at, new GenericInternalRow(Array[Any](hash, task)), r.timestamp)
      }
      val found = if (r.key == null) null else right.read(r.key, r)
      val timestamp = if (found == null) r.timestamp else math.max(r.timestamp, found.timestamp)
      instruction match {
        case UnsubscribeAndAnswer => reply(r, primary, task, hash, null, timestamp)
        case AnswerAlways =>
          if (found == null && !s.outer) misses += 1
          reply(r, primary, task, hash, if (found == null) null else found.value, timestamp)
        case AnswerIfFound =>
          if (found != null) reply(r, primary, task, hash, found.value, timestamp) else missed()
        case _ => ended("unsubscribed")
      }
    }
  }

  private def changed(r: Record): Unit = {
    right.observe(r)
    if (r.key == null) dropped("null_key")
    else if (s.parentVersioned && !r.change.isLatest) dropped("outdated")
    else {
      val p = prefix(r.key)
      val asking = subscribers.range(p, Bytes.after(p))
      if (asking.isEmpty) { if (s.outer) ended(NodeReason.noMatch) else missed() }
      asking.foreach { case (at, e) =>
        val w = e.value.asInstanceOf[InternalRow]
        reply(
          r,
          java.util.Arrays.copyOfRange(at, p.length, at.length),
          w.getInt(1),
          if (w.isNullAt(0)) null else w.getBinary(0),
          r.change.newValue,
          r.timestamp
        )
      }
    }
  }

  /** Sends the answer back to the task that subscribed. */
  private def reply(r: Record, primary: Array[Byte], task: Int, hash: Array[Byte], value: Any, timestamp: Long): Unit =
    hopTo(
      new Record(
        null,
        new GenericInternalRow(Array[Any](hash, if (value == null || s.empty(value)) null else value)),
        timestamp,
        r.headers
      ),
      primary,
      task
    )
}

private[millrace] final class ResolveSpec(b: Build) extends NodeSpec(b) with SourceTableSpec {
  val tableInput: Int = b.inputs.indexWhere(_.isInstanceOf[TablePort])
  if (tableInput < 0) b.fail("left", "port", "must be a table")
  val left: TablePort = b.table(tableInput)
  private val lookup = b.parent(1 - tableInput).asInstanceOf[LookupSpec]
  val outer: Boolean = b.textOpt("type").contains("left")
  private[millrace] val rightValue: DataType = lookup.right.value
  val joiner: Expr = b.expr("joiner", Layout.joiner(left.key, left.value, rightValue))
  override val key: KeyType = left.key
  override val value: DataType = joiner.dataType
  override val store: StoreSettings = StoreSettings.of(b.store("key_value", "versioned"))
  TableSpec.of(left).readable()
  override def ports: Seq[(String, Port)] = Seq("out" -> TablePort(key, value, this))
  override def reads(input: Int): Boolean = input == tableInput
  override def create(): Node = new Resolve(this)
}

private[millrace] final class Resolve(s: ResolveSpec) extends Node(s) with SourceTable {
  override protected def table: SourceTableSpec = s
  private val left = TableInput.of(this, s.tableInput)
  private val values = Codec.of(s.left.value)
  override def init(c: TaskContext): Unit = { super.init(c); left.init(c) }
  override def remember(r: Record, input: Int): Unit = left.remember(r)

  override def process(r: Record, input: Int): Unit =
    if (input == s.tableInput) { left.observe(r); ended("looked_up") }
    else {
      val w = r.value.asInstanceOf[InternalRow]
      val asked = if (w.isNullAt(0)) null else w.getBinary(0)
      val right = if (w.isNullAt(1)) null else w.get(1, s.rightValue)
      val found = left.read(r.key, r)
      val row = if (found == null) null else found.value
      if (!ForeignKey.fits(asked, ForeignKey.hash(values, row))) dropped("stale")
      else if (right == null && (!s.outer || row == null)) update(r.withValue(null))
      else update(r.withValue(s.joiner(r.key, row, right, r.timestamp)))
    }
}

object ForeignKeyJoins extends Family {
  override val factories: Map[String, Build => NodeSpec] = Map(
    "foreign_key_subscribe" -> (new SubscribeSpec(_)),
    "foreign_key_lookup" -> (new LookupSpec(_)),
    "foreign_key_resolve" -> (new ResolveSpec(_))
  )
}
