package org.apache.spark.sql.millrace

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.types._

/**
 * `join_stream`: joins records of a key with times within [left - before, left + after] of each other [SJ1] to [SJ9].
 */
private[millrace] final class StreamJoinSpec(b: Build) extends NodeSpec(b) {
  val left: StreamPort = b.stream(0)
  val right: StreamPort = b.stream(1)
  if (left.key.seen != right.key.seen)
    b.fail("right", "type", s"the key types differ: ${left.key.seen.sql} and ${right.key.seen.sql}")
  val kind: String = b.textOpt("type").getOrElse("inner")
  val before: Long = b.long("before")
  val after: Long = b.long("after")
  val grace: Long = b.longOpt("grace").getOrElse(0L)
  val joiner: Expr = b.expr("joiner", Layout.joiner(left.key, left.value, right.value))
  override val ports: Seq[(String, Port)] = Seq("out" -> StreamPort(left.key, joiner.dataType))
  override private[millrace] def kept: Seq[KeptRows] =
    StreamJoin.names.toSeq.map(side => KeptRows(s"$id$$$side", left.key, cut = 12)) ++ Option.when(kind != "inner")(
      KeptRows(s"$id$$single", left.key, skip = 9)
    )
  override def create(): Node = new StreamJoin(this)
}

private[millrace] final class StreamJoin(s: StreamJoinSpec) extends Node(s) {
  private val keys = Codec.key(s.left.key)
  private val values = Array(s.left.value, s.right.value)

  /** Whether a side keeps its records if they find no partner. */
  private val keeps = Array(s.kind != "inner", s.kind == "outer")

  /** How far a side looks back and ahead on the other, in ms. */
  private val back = Array(s.before, s.after)
  private val ahead = Array(s.after, s.before)
  private val windows = new Array[KeyFirstWindows](2)
  private var clock: Clock = _

  /** Records without a partner so far; null for an inner join. */
  private var single: Singles = _
  override private[millrace] def missReason: String = NodeReason.noMatchYet
  override def buffers: Seq[String] = (StreamJoin.names.toSeq :+ "single").map(name => s"$id$$$name")

  override def init(c: TaskContext): Unit = {
    val retention = s.before + s.after + s.grace
    for (side <- 0 to 1) {
      val port = if (side == 0) s.left else s.right
      windows(side) = StreamJoin.windows(c, this, s"$id$$${StreamJoin.names(side)}", keys, port, retention)
    }
    clock = c.clock(id)
    if (s.kind != "inner") single = new Singles(c, id, s.left.value, s.right.value)
  }

  /** Joins the record with its partners, then stores it as a partner of later ones, even if the joiner fails. */
  override def process(r: Record, input: Int): Unit = {
    val key = if (r.key == null || r.value == null) null else keys.encode(r.key)
    try pair(r, key, input)
    catch {
      case stop: Stop => throw stop
      case e: Exception => failures.failed(this, e, r.timestamp)
    }
    if (key != null)
      windows(input).put(key, r.timestamp, new GenericInternalRow(Array[Any](r.value)), r.timestamp)
  }

  private def pair(r: Record, key: Array[Byte], side: Int): Unit = {
    val time = r.timestamp
    clock.advance(time)
    if (keeps(side) && r.key == null && r.value != null) forward(r.withValue(join(r.key, r.value, null, side, time)))
    else if (r.key == null) dropped("null_key")
    else if (r.value == null) dropped("null_value")
    else {
      if (single != null && time == clock.value) release(r, side)
      val until = math.max(0L, time + ahead(side))
      val partners = windows(1 - side).fetch(key, math.max(0L, time - back(side)), until, ascending = true)
      if (!partners.hasNext && keeps(side)) {
        if (until < clock.value) forward(r.withValue(join(r.key, r.value, null, side, time)))
        else { single.add(time, side, key, r.value); ended("waits") }
      } else if (!partners.hasNext) {
        if (single == null) missed() else ended(NodeReason.noMatchYet)
      } else
        partners.foreach { p =>
          if (single != null) single.remove(p.start, 1 - side, key)
          val at = math.max(time, p.start)
          forward(
            new Record(
              r.key,
              join(r.key, r.value, p.entry.value.asInstanceOf[InternalRow].get(0, values(1 - side)), side, at),
              at,
              r.headers
            )
          )
        }
    }
  }

  private def join(key: Any, own: Any, other: Any, side: Int, time: Long): Any =
    if (side == 0) s.joiner(key, own, other, time) else s.joiner(key, other, own, time)

  /** Sends unpaired records whose window has closed, by time, right side first, then by key and arrival [SJ4]. */
  private def release(r: Record, side: Int): Unit = {
    val now = clock.value
    if (single.earliest != Long.MaxValue && single.earliest + ahead(side) + s.grace < now) {
      single.earliest = Long.MaxValue
      val open = new Array[Boolean](2)
      var last: Array[Byte] = null
      var at = single.after(null)
      var done = false
      while (!done && at != null) {
        val (time, from) = (Singles.time(at), Singles.side(at))
        single.earliest = time
        if (open(0) && open(1)) done = true
        else if (time + (if (from == 0) s.after else s.before) + s.grace >= now) open(from) = true
        else {
          val key = keys.decode(Singles.key(at))
          single
            .values(at, from)
            .foreach(v => forward(new Record(key, join(key, v, null, from, time), time, r.headers)))
          if (last != null) single.delete(last)
          last = at
        }
        if (!done) at = single.after(at)
      }
      if (last != null) single.delete(last)
    }
  }
}

private object StreamJoin {
  val names = Array("left", "right")

  /** The buffer of a side: its records by key and time, several of one time. */
  def windows(
      c: TaskContext,
      node: Node,
      name: String,
      keys: Codec,
      port: StreamPort,
      retention: Long
  ): KeyFirstWindows = {
    val made = new KeyFirstWindows(
      c,
      node,
      StoreSettings.own(name, node.node),
      new StructType().add("value", port.value),
      retention,
      timeOrdered = false,
      duplicates = true
    )
    made.show(
      waiting(port.key.seen),
      port.value,
      (k, time) => new GenericInternalRow(Array[Any](keys.decode(k), time)),
      e => e.value.asInstanceOf[InternalRow].get(0, port.value)
    )
    made
  }

  /** Keys of the join's buffers, as they are shown. */
  def waiting(key: DataType): StructType = new StructType().add("key", key).add("time", LongType)
}

/** Records of outer sides that wait for a partner, by time, side and key; of equal ones, in the order of arrival. */
private[millrace] final class Singles(c: TaskContext, id: String, left: DataType, right: DataType) {
  private val types = Array(left, right)
  private val store = c.store(
    s"$id$$single",
    new StructType()
      .add("left", ArrayType(new StructType().add("value", left)))
      .add("right", ArrayType(new StructType().add("value", right))),
    ordered = true
  )
  private val first = c.clock(s"$id:single")

  /** A lower bound of the waiting records' times; Long.MaxValue if there is none. */
  def earliest: Long = if (first.value < 0) Long.MaxValue else first.value
  def earliest_=(t: Long): Unit = first.set(if (t == Long.MaxValue) -1L else t)

  private def at(time: Long, side: Int, key: Array[Byte]): Array[Byte] = {
    val k = new Array[Byte](9 + key.length)
    Bytes.putLong(k, 0, time)
    k(8) = (1 - side).toByte
    System.arraycopy(key, 0, k, 9, key.length)
    k
  }

  def add(time: Long, side: Int, key: Array[Byte], value: Any): Unit = {
    earliest = math.min(earliest, time)
    val k = at(time, side, key)
    val found = store.get(k)
    val all = (if (found == null) Seq.empty else listed(found, side)) :+ value
    val list = new GenericArrayData(all.map(v => new GenericInternalRow(Array[Any](v)): Any).toArray[Any])
    store.put(k, new GenericInternalRow(if (side == 0) Array[Any](list, null) else Array[Any](null, list)), time)
  }
  def values(at: Array[Byte], side: Int): Seq[Any] = listed(store.get(at), side)
  private def listed(e: Entry, side: Int): Seq[Any] = {
    val list = e.value.asInstanceOf[InternalRow].getArray(side)
    (0 until list.numElements()).map(i => list.getStruct(i, 1).get(0, types(side)))
  }
  def remove(time: Long, side: Int, key: Array[Byte]): Unit = store.delete(at(time, side, key))
  def delete(at: Array[Byte]): Unit = store.delete(at)

  /** The next place, or the first one after null; null at the end. */
  def after(at: Array[Byte]): Array[Byte] = store.first(if (at == null) null else Bytes.next(at), null)
}

private object Singles {
  def time(at: Array[Byte]): Long = Bytes.getLong(at, 0)
  def side(at: Array[Byte]): Int = 1 - at(8)
  def key(at: Array[Byte]): Array[Byte] = java.util.Arrays.copyOfRange(at, 9, at.length)
}

object StreamJoins extends Family {
  override val factories: Map[String, Build => NodeSpec] = Map(
    "join_stream" -> (new StreamJoinSpec(_)),
    "join_self" -> (new SelfJoinSpec(_))
  )
}
