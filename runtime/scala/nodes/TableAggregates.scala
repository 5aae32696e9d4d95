package org.apache.spark.sql.millrace

import org.apache.spark.sql.types._

/**
 * `group_by` of a table: sends new and old value to their groups, as one update if the group is the same, otherwise the
 * old one first [GT1].
 */
private[millrace] final class GroupBySpec(b: Build) extends HopSpec(b) {
  private val in = b.table(0)
  private val parent = TableSpec.of(in)
  private val keyOf = b.exprOf(b.text("key"), "group_by", Layout.record(in.key, in.value))
  private val valueOf = b.exprOf(b.text("value"), "group_by", Layout.record(in.key, in.value))
  private val parentVersioned = parent.outputVersioned
  private val group = KeyType(keyOf.dataType)
  parent.enableSendingOldValues(force = true)
  override val ports: Seq[(String, Port)] = Seq("out" -> GroupedPort(group, valueOf.dataType))

  override def create(): Node = new HopNode(this) {
    private val keys = Codec.key(group)
    override def process(r: Record, input: Int): Unit = {
      val c = r.change
      if (r.key == null)
        throw new Misfit(Why("update_without_key", "an update of a grouped table needs a key, but its key is null"))
      if (parentVersioned && !c.isLatest) ended("outdated")
      else {
        val (newKey, newValue) =
          if (c.newValue == null) (null, null) else (keyOf(r, c.newValue, context), valueOf(r, c.newValue, context))
        val (oldKey, oldValue) =
          if (c.oldValue == null) (null, null) else (keyOf(r, c.oldValue, context), valueOf(r, c.oldValue, context))
        val adds = newKey != null && newValue != null
        val subtracts = oldKey != null && oldValue != null
        if (adds && subtracts && java.util.Arrays.equals(keys.encode(newKey), keys.encode(oldKey)))
          hop(r.withKey(newKey).withValue(new Change(newValue, oldValue, c.isLatest)))
        else {
          if (subtracts) hop(r.withKey(oldKey).withValue(new Change(null, oldValue, c.isLatest)))
          if (adds) hop(r.withKey(newKey).withValue(new Change(newValue, null, c.isLatest)))
          if (!adds && !subtracts) ended("no_group")
        }
      }
    }
  }
}

/** Receives the groups, for the aggregation that follows. */
private[millrace] final class GroupedTableSpec(b: Build) extends NodeSpec(b) {
  override val ports: Seq[(String, Port)] = Seq("out" -> b.grouped(0))
  override def create(): Node = new Node(this) {
    override def process(r: Record, input: Int): Unit = forward(r)
  }
}

/** Aggregation of a grouped table: subtracts old values and adds new ones [GT2] to [GT4]. */
private[millrace] final class TableAggregationSpec(b: Build) extends NodeSpec(b) with TableSpec with StoreOwner {
  private val in = b.grouped(0)
  val key: KeyType = in.key
  val value: DataType = b.op match {
    case "count" => LongType
    case "reduce" => in.value
    case _ => b.dataType("type")
  }
  private[millrace] val adder: Recipe = b.op match {
    case "count" => new CountRecipe
    case "reduce" => new ReduceRecipe(b.expr("reducer", Layout.reducer(value), Some(value)))
    case _ =>
      new AggregateRecipe(
        b.expr("initializer", Layout.nothing, Some(value)),
        b.expr("aggregator", Layout.aggregator(value, key, in.value), Some(value)),
        null
      )
  }

  /** Removes a value from the aggregate; null for a count, which is decremented. */
  private[millrace] val subtractor: Expr = b.op match {
    case "count" => null
    case "reduce" => b.expr("subtractor", Layout.reducer(value), Some(value))
    case _ => b.expr("subtractor", Layout.aggregator(value, key, in.value), Some(value))
  }
  val store: StoreSettings = StoreSettings.of(b.store("key_value", "versioned"))
  private[millrace] var sendOld = false
  override protected def enable(force: Boolean): Boolean = { sendOld = true; true }
  override def readable(): Unit = ()
  override def outputVersioned: Boolean = store.history != null
  override def history: java.lang.Long = store.history
  override def closingDelay: Long = -1L
  override private[millrace] def own: Option[KeptRows] = Some(KeptRows.table(store, key))
  override def ports: Seq[(String, Port)] = Seq("out" -> TablePort(key, value, this))
  override def create(): Node = new TableAggregation(this)
}

private[millrace] final class TableAggregation(s: TableAggregationSpec) extends Node(s) with StoredTable {
  override protected val own = new OwnTable(this, s.key, s.value, s.store)
  override protected def sendsOld: Boolean = s.sendOld
  private val adder = s.adder.make()
  private val reduces = s.op == "reduce"

  private def subtract(agg: Any, r: Record): Any =
    if (s.subtractor == null) agg.asInstanceOf[Long] - 1L
    else if (reduces) s.subtractor(agg, r.change.oldValue)
    else s.subtractor(agg, r.key, r.change.oldValue, r.timestamp)

  override def process(r: Record, input: Int): Unit = {
    if (r.key == null) throw new Misfit(Why("group_without_key", "a group of a table needs a key, but its key is null"))
    val c = r.change
    val k = own.keys.encode(r.key)
    val found = own.get(k)
    val old = if (found == null) null else found.value
    val subtracts = c.oldValue != null && old != null
    val between = if (subtracts) subtract(old, r) else old
    val agg =
      if (c.newValue == null) between
      else adder.add(if (between == null) adder.initial else between, r.key, c.newValue, r.timestamp)
    // The aggregate's own time counts if the aggregate was used: a reduction that starts again ignores it.
    val took = subtracts || (c.newValue != null && found != null && !(reduces && between == null))
    val timestamp = if (took) math.max(r.timestamp, found.timestamp) else r.timestamp
    replace(r, k, agg, old, timestamp)
  }
}

object TableAggregates extends Family {
  override val factories: Map[String, Build => NodeSpec] = Map(
    "group_by" -> (new GroupBySpec(_)),
    "grouped_table" -> (new GroupedTableSpec(_)),
    "count@table" -> (new TableAggregationSpec(_)),
    "reduce@table" -> (new TableAggregationSpec(_)),
    "aggregate@table" -> (new TableAggregationSpec(_))
  )
}
