package org.apache.spark.sql.millrace

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types._

/**
 * `join_self`: a join of a stream with itself that keeps its records once, as Kafka Streams' optimization
 * `single.store.self.join` does [SJ9]. A record always joins itself, whatever the type of the join and its window.
 */
private[millrace] final class SelfJoinSpec(b: Build) extends NodeSpec(b) {
  val in: StreamPort = b.stream(0)
  val before: Long = b.long("before")
  val after: Long = b.long("after")
  val retention: Long = before + after + b.longOpt("grace").getOrElse(0L)
  val joiner: Expr = b.expr("joiner", Layout.joiner(in.key, in.value, in.value))
  override val ports: Seq[(String, Port)] = Seq("out" -> StreamPort(in.key, joiner.dataType))
  override private[millrace] def kept: Seq[KeptRows] = Seq(KeptRows(s"$id$$${StreamJoin.names(0)}", in.key, cut = 12))
  override def create(): Node = new SelfJoin(this)
}

private[millrace] final class SelfJoin(s: SelfJoinSpec) extends Node(s) {
  private val keys = Codec.key(s.in.key)
  private val buffer = s"$id$$${StreamJoin.names(0)}"
  private var windows: KeyFirstWindows = _
  private var clock: Clock = _
  override private[millrace] def missReason: String = NodeReason.noMatchYet
  override def buffers: Seq[String] = Seq(buffer)

  override def init(c: TaskContext): Unit = {
    windows = StreamJoin.windows(c, this, buffer, keys, s.in, s.retention)
    clock = c.clock(id)
  }

  /** Joins the record, then stores it as a partner of later ones, even if the joiner fails. */
  override def process(r: Record, input: Int): Unit =
    if (r.key == null) dropped("null_key")
    else if (r.value == null) dropped("null_value")
    else {
      val key = keys.encode(r.key)
      try join(r, key)
      catch {
        case stop: Stop => throw stop
        case e: Exception => failures.failed(this, e, r.timestamp)
      }
      windows.put(key, r.timestamp, new GenericInternalRow(Array[Any](r.value)), r.timestamp)
    }

  /** First as the left record with earlier ones, then as the right one; with itself before later timestamps. */
  private def join(r: Record, key: Array[Byte]): Unit = {
    val time = r.timestamp
    val itself = r.withValue(s.joiner(r.key, r.value, r.value, time))
    clock.advance(time)
    var waits = time > clock.value - s.retention + 1
    var found = waits
    partners(key, time - s.before, time + s.after).foreach { p =>
      found = true
      send(r, r.value, valueOf(p), p.start)
    }
    partners(key, time - s.after, time + s.before).foreach { p =>
      found = true
      if (waits && time < p.start) {
        waits = false
        forward(itself)
      }
      send(r, valueOf(p), r.value, p.start)
    }
    if (waits) forward(itself)
    if (!found) missed()
  }

  private def partners(key: Array[Byte], from: Long, to: Long): Iterator[WindowEntry] =
    windows.fetch(key, math.max(0L, from), math.max(0L, to), ascending = true)
  private def valueOf(p: WindowEntry): Any = p.entry.value.asInstanceOf[InternalRow].get(0, s.in.value)

  private def send(r: Record, left: Any, right: Any, other: Long): Unit = {
    val at = math.max(r.timestamp, other)
    forward(new Record(r.key, s.joiner(r.key, left, right, at), at, r.headers))
  }
}
