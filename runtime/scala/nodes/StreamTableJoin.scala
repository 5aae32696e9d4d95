package org.apache.spark.sql.millrace

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * `join_table` of a stream with a table [ST-1] to [ST-4]. With `grace`, the stream's records wait for late versions of
 * the table.
 */
private[millrace] final class StreamTableJoinSpec(b: Build) extends NodeSpec(b) {
  val left: StreamPort = b.stream(0)
  val right: TablePort = b.table(1)
  if (left.key.seen != right.key.seen)
    b.fail("right", "type", s"the key types differ: ${left.key.seen.sql} and ${right.key.seen.sql}")
  private val table = TableSpec.of(right)
  val outer: Boolean = b.textOpt("type").contains("left")
  val joiner: Expr = b.expr("joiner", Layout.joiner(left.key, left.value, right.value))
  val grace: java.lang.Long = b.longOpt("grace").map(Long.box).orNull
  table.readable()
  if (grace != null && table.history == null)
    b.fail("grace", "versioned", "needs a versioned table: connect a store.versioned to it")
  override val ports: Seq[(String, Port)] = Seq("out" -> StreamPort(left.key, joiner.dataType))
  override def reads(input: Int): Boolean = input == 1
  override private[millrace] def kept: Seq[KeptRows] =
    KeptRows.copyAt(this, 1) ++ Option.when(grace != null)(KeptRows(s"$id$$buffer", left.key, skip = 8, cut = 4))
  override def create(): Node = new StreamTableJoin(this)
}

private[millrace] final class StreamTableJoin(s: StreamTableJoinSpec) extends Node(s) {
  private val table = TableInput.of(this, 1)
  private var buffer: RecordBuffer = _
  override def buffers: Seq[String] = Seq(s"$id$$buffer")
  override def init(c: TaskContext): Unit = {
    table.init(c)
    if (s.grace != null) buffer = new RecordBuffer(c, id, s.left.key, s.left.value, s.grace)
  }

  override def remember(r: Record, input: Int): Unit = table.remember(r)

  override def process(r: Record, input: Int): Unit =
    if (input == 1) { table.observe(r); ended("looked_up") }
    else if (r.value == null) dropped("null_value")
    else if (r.key == null && !s.outer) dropped("null_key")
    else if (buffer == null) join(r)
    else {
      if (r.key == null)
        throw new Misfit(
          Why("waiting_without_key", "a record that waits for its table needs a key, but its key is null")
        )
      if (!buffer.put(r)) join(r)
      else {
        ended("waits")
        buffer.release(join(_, NodeReason.noMatchAfterWaiting))
      }
    }

  private def join(r: Record, miss: String = NodeReason.noMatch): Unit = {
    val found =
      if (r.key == null) null
      else if (table.versioned) table.readAsOf(r.key, r.timestamp, r)
      else table.read(r.key, r)
    if (found == null && !s.outer) missed(miss)
    else forward(r.withValue(s.joiner(r.key, r.value, if (found == null) null else found.value, r.timestamp)))
  }
}

/** The origin of a record, as expressions see it, which is kept while the record waits. */
private[millrace] object Origin {
  val dataType: StructType = new StructType()
    .add("topic", StringType)
    .add("partition", IntegerType)
    .add("offset", LongType)
    .add("headers", ArrayType(new StructType().add("key", StringType).add("value", BinaryType)))

  def of(r: Record, c: TaskContext): InternalRow = new GenericInternalRow(
    Array[Any](c.topic, c.partition, c.offset, pack(r.headers))
  )
  def headers(origin: InternalRow): Headers = unpack(origin)

  private def pack(h: Headers): Any = new org.apache.spark.sql.catalyst.util.GenericArrayData(
    h.map(x => new GenericInternalRow(Array[Any](UTF8String.fromString(x.key), x.value)): Any)
  )
  private def unpack(origin: InternalRow): Headers = {
    val a = origin.getArray(3)
    Array.tabulate(a.numElements()) { i =>
      val h = a.getStruct(i, 2)
      new Header(h.getUTF8String(0).toString, if (h.isNullAt(1)) null else h.getBinary(1))
    }
  }

  /** Runs `body` as if the record of that origin were the current one. */
  def during(origin: InternalRow, c: TaskContext)(body: => Unit): Unit =
    c.at(if (origin.isNullAt(0)) null else origin.getUTF8String(0), origin.getInt(1), origin.getLong(2))(body)
}

/** Waiting records, by time, key and arrival [ST-3]. */
private[millrace] final class RecordBuffer(c: TaskContext, id: String, key: KeyType, value: DataType, grace: Long) {
  private val store =
    c.store(s"$id$$buffer", new StructType().add("value", value).add("origin", Origin.dataType), ordered = true)
  private val clock = c.clock(s"$id:buffer")
  private val sequence = c.clock(s"$id:sequence")
  private val keys = Codec.key(key)

  /** Stores a record to wait. Returns false if it is too late for that. */
  def put(r: Record): Boolean =
    if (clock.value - grace > r.timestamp) false
    else {
      clock.advance(r.timestamp)
      sequence.set((sequence.value + 1) & 0x7fffffffL)
      val k = keys.encode(r.key)
      val at = new Array[Byte](k.length + 12)
      Bytes.putLong(at, 0, r.timestamp)
      System.arraycopy(k, 0, at, 8, k.length)
      Bytes.putInt(at, k.length + 8, sequence.value.toInt)
      store.put(at, new GenericInternalRow(Array[Any](r.value, Origin.of(r, c))), r.timestamp)
      true
    }

  /** Processes and removes all records whose grace period is over. */
  def release(work: Record => Unit): Unit = {
    val until = clock.value - grace
    if (until >= 0) {
      val end = RetainedStore.bigEndian(until + 1)
      if (store.first(null, end) != null) store.range(null, end).foreach { case (at, e) =>
        val row = e.value.asInstanceOf[InternalRow]
        val origin = row.getStruct(1, 4)
        val r = new Record(
          keys.decode(java.util.Arrays.copyOfRange(at, 8, at.length - 4)),
          row.get(0, value),
          e.timestamp,
          Origin.headers(origin)
        )
        Origin.during(origin, c)(work(r))
        store.delete(at)
      }
    }
  }
}

/** `join_global`: the table's key is computed from the stream's record [GK1]. */
private[millrace] final class GlobalJoinSpec(b: Build) extends NodeSpec(b) {
  val left: StreamPort = b.stream(0)
  val right: GlobalPort = b.global(1)
  val outer: Boolean = b.textOpt("type").contains("left")
  val keyOf: Expr = b.expr("key", Layout.record(left.key, left.value), Some(right.key.seen))
  val joiner: Expr = b.expr("joiner", Layout.joiner(left.key, left.value, right.value, right.key))
  override val ports: Seq[(String, Port)] = Seq("out" -> StreamPort(left.key, joiner.dataType))

  override def create(): Node = new Node(this) {
    override def process(r: Record, input: Int): Unit = if (input == 0) {
      val key = keyOf(r, context)
      if (r.value == null) dropped("null_value")
      else if (key == null && !outer) dropped("null_key")
      else {
        val found = if (key == null) null else parents(1).asInstanceOf[TableNode].lookup(key)
        if (found == null && !outer) missed()
        else {
          val value = if (found == null) null else found.value
          forward(r.withValue(joiner(r.key, r.value, value, r.timestamp, key)))
        }
      }
    }
  }
}

/** `join_table` is one of two joins, depending on its left input. */
object TableJoins extends Family {
  override val factories: Map[String, Build => NodeSpec] = Map(
    "join_table" -> { b =>
      b.inputs.head match { case _: StreamPort => new StreamTableJoinSpec(b); case _ => new TableJoinSpec(b) }
    },
    "join_global" -> (new GlobalJoinSpec(_))
  )
}
