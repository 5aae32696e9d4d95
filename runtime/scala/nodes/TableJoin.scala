package org.apache.spark.sql.millrace

import org.apache.spark.sql.types._

/** `join_table` on two tables with the same key [TT1] to [TT6]. */
private[millrace] final class TableJoinSpec(b: Build) extends NodeSpec(b) with TableSpec with StoreOwner {
  val left: TablePort = b.table(0)
  val right: TablePort = b.table(1)
  private val (leftTable, rightTable) = (TableSpec.of(left), TableSpec.of(right))
  if (left.key.seen != right.key.seen)
    b.fail("right", "type", s"the key types differ: ${left.key.seen.sql} and ${right.key.seen.sql}")
  val kind: String = b.textOpt("type").getOrElse("inner")
  val joiner: Expr = b.expr("joiner", Layout.joiner(left.key, left.value, right.value))
  val store: StoreSettings = StoreSettings.of(b.store("key_value", "versioned"))
  private[millrace] val versionedSides: Array[Boolean] = Array(leftTable.outputVersioned, rightTable.outputVersioned)
  private[millrace] var sendOld = false

  if (kind != "inner") leftTable.enableSendingOldValues(force = true)
  if (kind == "outer") rightTable.enableSendingOldValues(force = true)
  leftTable.readable()
  rightTable.readable()

  override protected def enable(force: Boolean): Boolean = {
    leftTable.enableSendingOldValues(force = true)
    rightTable.enableSendingOldValues(force = true)
    sendOld = true
    true
  }
  override def readable(): Unit = ()
  override def answers: Boolean = store.named || (leftTable.answers && rightTable.answers)
  override def outputVersioned: Boolean = store.history != null
  override def history: java.lang.Long = if (store.named) store.history else null
  override val closingDelay: Long =
    if (leftTable.closingDelay < 0 || rightTable.closingDelay < 0) -1L
    else math.max(leftTable.closingDelay, rightTable.closingDelay)
  override def ports: Seq[(String, Port)] = Seq("out" -> TablePort(left.key, joiner.dataType, this))
  override def keeps(input: Int): Boolean = true
  override def derived: Boolean = !store.named
  override private[millrace] def own: Option[KeptRows] = Option.when(store.named)(KeptRows.table(store, left.key))
  override def create(): Node = new TableJoin(this)
}

private[millrace] final class TableJoin(s: TableJoinSpec) extends Node(s) with TableView with ReadableStore {
  private val sides = Array(TableInput.of(this, 0), TableInput.of(this, 1))
  private val own = if (s.store.named) new OwnTable(this, s.left.key, s.joiner.dataType, s.store) else null
  override def init(c: TaskContext): Unit = { sides.foreach(_.init(c)); if (own != null) own.init(c) }

  override def remember(r: Record, input: Int): Unit = sides(input).remember(r)

  override def process(r: Record, input: Int): Unit = {
    sides(input).observe(r)
    val c = r.change
    if (r.key == null) dropped("null_key")
    else if (s.versionedSides(input) && !c.isLatest) dropped("outdated")
    else {
      val other = sides(1 - input).read(r.key, r)
      val value = if (other == null) null else other.value
      if (!matters(c, value, input)) {
        if (s.kind == "inner") missed() else ended(NodeReason.noMatch)
      } else {
        val timestamp = if (other == null) r.timestamp else math.max(r.timestamp, other.timestamp)
        val newValue = if (exists(c.newValue, value, input)) join(r, c.newValue, value, input) else null
        val oldValue = if (s.sendOld && exists(c.oldValue, value, input)) join(r, c.oldValue, value, input) else null
        send(new Record(r.key, new Change(newValue, oldValue, c.isLatest), timestamp, r.headers))
      }
    }
  }

  /** Whether an update of one side can affect the result, given the other side's value. */
  private def matters(c: Change, other: Any, input: Int): Boolean =
    if (other != null) true
    else if (s.kind == "inner" || (s.kind == "left" && input == 1)) false
    else c.newValue != null || c.oldValue != null

  /** Whether there is a result for a value of the updated side and the other side's. */
  private def exists(value: Any, other: Any, input: Int): Boolean =
    if (s.kind == "outer") value != null || other != null
    else if (s.kind == "left" && input == 1) true
    else value != null

  private def join(r: Record, value: Any, other: Any, input: Int): Any =
    if (input == 0) s.joiner(r.key, value, other, r.timestamp) else s.joiner(r.key, other, value, r.timestamp)

  private def send(r: Record): Unit =
    if (own == null) forward(r)
    else {
      val put = own.put(r.key, r.change.newValue, r.timestamp)
      if (put != KeyedTable.Refused)
        forward(r.withValue(new Change(r.change.newValue, r.change.oldValue, put == KeyedTable.Latest)))
    }

  override def isVersioned: Boolean = own != null && own.versioned
  override def readAsOf(key: Any, asOf: Long, at: Record): Entry =
    if (own != null) own.get(key, asOf) else read(key, at)

  /** Looks up the result. Without a store, the join is computed from the current values of both sides. */
  override def read(key: Any, at: Record): Entry =
    if (own != null) own.get(key)
    else {
      val l = sides(0).read(key, at)
      if (l == null && s.kind != "outer") null
      else {
        val r = sides(1).read(key, at)
        if (r == null && (s.kind == "inner" || l == null)) null
        else {
          val value = s.joiner(key, if (l == null) null else l.value, if (r == null) null else r.value, at.timestamp)
          if (value == null) null
          else new Entry(value, math.max(if (l == null) -1L else l.timestamp, if (r == null) -1L else r.timestamp))
        }
      }
    }
  override def dumps: Seq[StoreDump] = if (own == null) Nil else own.dumps
  override private[millrace] def access: StoreAccess = own.access
}
