package org.apache.spark.sql.millrace

import org.apache.spark.sql.types._

/**
 * A table while the graph is built: whether it sends old values, is materialized, is versioned. Consumers query this in
 * the order of the graph: what a filter finds out about its parent does not change if the parent is materialized later
 * [KT2] [KT3].
 */
trait TableSpec extends NodeSpec with TableSource {
  private var sending = false

  final override def enableSendingOldValues(force: Boolean): Boolean = {
    if (!sending && enable(force)) sending = true
    sending
  }

  /** Starts sending old values, or requests them from a table that can. Returns whether they will be sent. */
  protected def enable(force: Boolean): Boolean

  /** Called for a consumer's lookups: from now on a source keeps its values; other tables pass the request on. */
  def readable(): Unit

  /** Whether lookups can be answered, because a consumer has requested it. */
  def answers: Boolean = true

  /** Whether updates may be out of order, so that consumers that keep only the latest must check `isLatest` [VS3]. */
  def outputVersioned: Boolean

  /** How far lookups can go back, in ms; null if there are only current values. */
  def history: java.lang.Long

  /** How long after a window's end updates may still arrive, in ms; -1 if there is no window upstream. */
  def closingDelay: Long
  final override def versioned: Boolean = history != null

  /** The table's own rows, if it keeps rows by key. */
  private[millrace] def own: Option[KeptRows] = None
  override private[millrace] def kept: Seq[KeptRows] = own.toSeq ++ inputs.indices.flatMap(KeptRows.copyAt(this, _))
}

private[millrace] object TableSpec {
  def of(p: TablePort): TableSpec = p.owner.asInstanceOf[TableSpec]
}

/**
 * A table that other nodes look up while they process a record. Expressions on the way see that record's time, headers
 * and origin.
 */
private[millrace] trait TableView extends TableNode {
  def read(key: Any, at: Record): Entry
  def readAsOf(key: Any, asOf: Long, at: Record): Entry

  /** Whether lookups as of an earlier time are possible. */
  def isVersioned: Boolean
  final override def lookup(key: Any): Entry = read(key, TableView.none)
  final override def lookup(key: Any, asOf: Long): Entry = readAsOf(key, asOf, TableView.none)
}

private[millrace] object TableView { private val none = new Record(null, null, 0L, Headers.empty) }

/**
 * A table at an input. If it is on another level, its updates arrive over a wire and the input keeps a copy, so lookups
 * see the table as it was when the records behind the updates were processed, although the other level has finished the
 * whole micro-batch.
 */
private[millrace] final class TableInput(
    owner: Node,
    input: Int,
    key: KeyType,
    valueType: DataType,
    history: java.lang.Long,
    derived: Boolean
) {
  private var view: TableView = _
  private var copy: KeyedTable = _
  private val keys = Codec.key(key)

  def init(c: TaskContext): Unit = owner.parents(input) match {
    case null =>
      copy = KeyedTable.open(c, owner, StoreSettings.own(s"${owner.id}$$copy$input", owner.node, history), valueType)
    case v: TableView => view = v
    case other => throw new IllegalStateException(s"${other.id} cannot be read by ${owner.id}")
  }

  /**
   * Call it with every update, before it is processed. Updates of a derived table do not determine when lookups see
   * them: see [[remember]].
   */
  def observe(r: Record): Unit = if (!(derived && owner.spec.keeps(input))) remember(r)

  /** Sets the value that lookups return from now on. */
  def remember(r: Record): Unit = if (copy != null && r.key != null && (history != null || r.change.isLatest))
    copy.put(keys.encode(r.key), r.change.newValue, r.timestamp)

  def versioned: Boolean = if (view != null) view.isVersioned else copy.versioned
  def read(k: Any, at: Record): Entry = if (view != null) view.read(k, at) else copy.get(keys.encode(k))
  def readAsOf(k: Any, asOf: Long, at: Record): Entry =
    if (view != null) view.readAsOf(k, asOf, at) else copy.get(keys.encode(k), asOf)
}

private[millrace] object TableInput {
  def of(owner: Node, input: Int): TableInput = {
    val p = owner.spec.inputs(input).asInstanceOf[TablePort]
    new TableInput(owner, input, p.key, p.value, TableSpec.of(p).history, TableSpec.of(p).derived)
  }
}

/** A store with the codec of its keys, whose contents can be shown. */
private[millrace] final class OwnTable(owner: Node, key: KeyType, valueType: DataType, val settings: StoreSettings) {
  val keys: Codec = Codec.key(key)
  private var table: KeyedTable = _
  private var context: TaskContext = _
  def init(c: TaskContext): Unit = {
    context = c
    table = KeyedTable.open(c, owner, settings, valueType)
    c.show(settings.state, table.view(settings.name, settings.node, key.seen, valueType, keys.decode))
  }
  def versioned: Boolean = table.versioned

  /** Access for processors, which only read it. The store is ordered if there is one that reads it. */
  def access: StoreAccess = table match {
    case _: VersionedTable => forTests
    case _ =>
      new KeyValueAccess(accessed("key_value"), keys, context.store(settings.state, valueType, ordered = true), true)
  }
  def get(k: Any): Entry = table.get(keys.encode(k))
  def get(k: Any, asOf: Long): Entry = table.get(keys.encode(k), asOf)
  def get(k: Array[Byte]): Entry = table.get(k)
  def put(k: Any, value: Any, timestamp: Long): Int = table.put(keys.encode(k), value, timestamp)
  def put(k: Array[Byte], value: Any, timestamp: Long): Int = table.put(k, value, timestamp)
  def value(k: Any): Any = { val e = get(k); if (e == null) null else e.value }
  def dumps: Seq[StoreDump] = Seq(forTests.dump)
  private def accessed(kind: String) = new ProcessorStore(StoreSpec(settings, kind), key.seen, valueType)
  private lazy val forTests: StoreAccess = table match {
    case v: VersionedTable => new VersionedAccess(accessed("versioned"), keys, v, owner)
    case t => new TableAccess(accessed("key_value"), keys, t, owner)
  }
}

/** A table whose rows are in a store of its own. */
private[millrace] trait StoredTable extends TableView with ReadableStore {
  protected def own: OwnTable
  protected def sendsOld: Boolean
  override def init(c: TaskContext): Unit = own.init(c)

  /** Stores a row and forwards the change, unless the store refuses it as too old. */
  protected final def replace(r: Record, k: Array[Byte], now: Any, old: Any, timestamp: Long): Unit = {
    val put = own.put(k, now, timestamp)
    if (put != KeyedTable.Refused)
      forward(
        new Record(r.key, new Change(now, if (sendsOld) old else null, put == KeyedTable.Latest), timestamp, r.headers)
      )
  }

  override def isVersioned: Boolean = own.versioned
  override def read(key: Any, at: Record): Entry = own.get(key)
  override def readAsOf(key: Any, asOf: Long, at: Record): Entry = own.get(key, asOf)
  override def dumps: Seq[StoreDump] = own.dumps
  override private[millrace] def access: StoreAccess = own.access
}

// ---- sources ----

/**
 * `table`, `to_table` and the result of a foreign-key join: materialized only if it has a store node or a consumer
 * needs its values [KT2].
 */
private[millrace] trait SourceTableSpec extends TableSpec with StoreOwner {
  def key: KeyType
  def value: DataType
  def store: StoreSettings
  private var needed = false
  private[millrace] var sendOld = false
  private[millrace] final def holds: Boolean = needed || store.named
  override private[millrace] def own: Option[KeptRows] = Option.when(holds)(KeptRows.table(store, key))
  override protected def enable(force: Boolean): Boolean =
    if (!force && !holds) false else { sendOld = true; needed = true; true }
  override def readable(): Unit = needed = true
  override def answers: Boolean = holds
  override def outputVersioned: Boolean = store.history != null
  override def history: java.lang.Long = store.history
  override def closingDelay: Long = -1L
}

/** Stores values as they arrive: the latest of a key by offset, even if its timestamp is older [KT1]. */
private[millrace] trait SourceTable extends TableView with ReadableStore {
  protected def table: SourceTableSpec
  private lazy val own: OwnTable = if (table.holds) new OwnTable(this, table.key, table.value, table.store) else null
  override def init(c: TaskContext): Unit = if (own != null) own.init(c)

  protected final def update(r: Record): Unit =
    if (r.key == null) dropped("null_key")
    else if (own == null) forward(r.withValue(new Change(r.value, null)))
    else {
      val k = own.keys.encode(r.key)
      val before = if (table.sendOld) own.get(k) else null
      val put = own.put(k, r.value, r.timestamp)
      if (put != KeyedTable.Refused)
        forward(r.withValue(new Change(r.value, if (before == null) null else before.value, put == KeyedTable.Latest)))
    }

  override def isVersioned: Boolean = own.versioned
  override def read(key: Any, at: Record): Entry = own.get(key)
  override def readAsOf(key: Any, asOf: Long, at: Record): Entry = own.get(key, asOf)
  override def dumps: Seq[StoreDump] = if (own == null) Nil else own.dumps
  override private[millrace] def access: StoreAccess = own.access
}

/** `table`: a topic as a table. */
private[millrace] final class TopicTableSpec(b: Build) extends SourceSpec(b) with SourceTableSpec {
  override val value: DataType = valueCodec.dataType
  override val store: StoreSettings = StoreSettings.of(b.store("key_value", "versioned"))

  /** Set if the topic has the updates of a windowed table: those of an edge on which records are pinned. */
  override val closingDelay: Long = b.longOpt("closing_delay").getOrElse(-1L)
  override def ports: Seq[(String, Port)] = Seq("out" -> TablePort(key, value, this))
  override def create(): Node = new TopicTable(this)
}
private[millrace] final class TopicTable(s: TopicTableSpec) extends SourceNode(s) with SourceTable {
  override protected def table: SourceTableSpec = s
  override def process(r: Record, input: Int): Unit = update(r)
}

/** A topic that every task reads as a whole [GK2]. */
private[millrace] abstract class GlobalSpec(b: Build) extends SourceSpec(b) with StoreOwner {
  override val skipsBadBytes: Boolean = true
  override val advancesStreamTime: Boolean = false

  /** True if another sub-topology or level has the rows as well, and reports its drops. */
  val copy: Boolean = b.bool("copy", default = false)
}

/** `global_table`: its topic as a table. */
private[millrace] final class GlobalTableSpec(b: Build) extends GlobalSpec(b) {
  val store: StoreSettings = StoreSettings.of(b.store("key_value"))
  override def ports: Seq[(String, Port)] = Seq("out" -> GlobalPort(key, valueCodec.dataType, this))
  override private[millrace] def kept: Seq[KeptRows] = Seq(KeptRows.table(store, key))
  override def create(): Node = new GlobalTable(this)
}
private[millrace] final class GlobalTable(s: GlobalTableSpec) extends SourceNode(s) with TableView with ReadableStore {
  private val own = new OwnTable(this, s.key, s.valueCodec.dataType, s.store)

  /** Whether this task reports drops and contents: all tasks have the table, but Kafka Streams has it once. */
  private var reports = false
  override def init(c: TaskContext): Unit = { own.init(c); reports = !s.copy && c.taskId(s.sub).endsWith("_0") }
  override def process(r: Record, input: Int): Unit =
    if (r.key != null) own.put(r.key, r.value, r.timestamp) else if (reports) dropped("null_key")
  override def isVersioned: Boolean = false
  override def read(key: Any, at: Record): Entry = own.get(key)
  override def readAsOf(key: Any, asOf: Long, at: Record): Entry = own.get(key)
  override def dumps: Seq[StoreDump] = if (reports) own.dumps else Nil
  override def accessible: Seq[StoreDump] = own.dumps
  override private[millrace] def access: StoreAccess = own.access
}

// ---- steps of tables ----

private[millrace] abstract class StepTableSpec(b: Build) extends NodeSpec(b) with TableSpec with StoreOwner {
  val in: TablePort = b.table(0)
  protected val parent: TableSpec = TableSpec.of(in)
  val store: StoreSettings = StoreSettings.of(b.store("key_value", "versioned"))
  private[millrace] var sendOld = false
  def value: DataType
  override protected def enable(force: Boolean): Boolean =
    if (store.named) { sendOld = true; true }
    else { if (parent.enableSendingOldValues(force)) sendOld = true; sendOld }
  override def readable(): Unit = if (!store.named) parent.readable()
  override def answers: Boolean = store.named || parent.answers
  override def outputVersioned: Boolean = store.history != null
  override def history: java.lang.Long = if (store.named) store.history else parent.history
  override def keeps(input: Int): Boolean = true
  override def derived: Boolean = !store.named && history == null
  override private[millrace] def own: Option[KeptRows] = Option.when(store.named)(KeptRows.table(store, in.key))
  override def closingDelay: Long = parent.closingDelay
  override def ports: Seq[(String, Port)] = Seq("out" -> TablePort(in.key, value, this))
}

private[millrace] abstract class StepTable(s: StepTableSpec) extends Node(s) with TableView with ReadableStore {
  private val own = if (s.store.named) new OwnTable(this, s.in.key, s.value, s.store) else null
  private val input = TableInput.of(this, 0)
  override def init(c: TaskContext): Unit = { input.init(c); if (own != null) own.init(c) }

  /** Applies the step to a value that is not null. */
  protected def apply(key: Any, value: Any, at: Record): Any

  /** Whether updates without old and new value are not forwarded. */
  protected def quiet: Boolean

  override def remember(r: Record, in: Int): Unit = input.remember(r)

  override def process(r: Record, in: Int): Unit = {
    input.observe(r)
    val c = r.change
    val newValue = if (c.newValue == null) null else apply(r.key, c.newValue, r)
    val oldValue =
      if (!s.sendOld) null
      else if (own != null) own.value(r.key)
      else if (c.oldValue == null) null
      else apply(r.key, c.oldValue, r)
    if (quiet && oldValue == null && newValue == null) ended("filtered")
    else {
      if (own == null) forward(r.withValue(new Change(newValue, oldValue, c.isLatest)))
      else {
        val put = own.put(r.key, newValue, r.timestamp)
        if (put != KeyedTable.Refused) forward(r.withValue(new Change(newValue, oldValue, put == KeyedTable.Latest)))
      }
    }
  }

  override def isVersioned: Boolean = if (own != null) own.versioned else input.versioned
  override def read(key: Any, at: Record): Entry =
    if (own != null) own.get(key) else through(key, input.read(key, at), at)
  override def readAsOf(key: Any, asOf: Long, at: Record): Entry =
    if (own != null) own.get(key, asOf) else through(key, input.readAsOf(key, asOf, at), at)
  private def through(key: Any, e: Entry, at: Record): Entry =
    if (e == null) null
    else { val v = apply(key, e.value, at.withKey(key)); if (v == null) null else new Entry(v, e.timestamp) }
  override def dumps: Seq[StoreDump] = if (own == null) Nil else own.dumps
  override private[millrace] def access: StoreAccess = own.access
}

/**
 * `filter` of a table [KT3]: if its parent is not materialized, it does not know what it has forwarded, and sends a
 * tombstone for every rejected value.
 */
private[millrace] final class FilterTableSpec(b: Build, negated: Boolean) extends StepTableSpec(b) {
  private val predicate = b.expr("predicate", Layout.record(in.key, in.value), Some(BooleanType))
  private val parentVersioned = parent.outputVersioned
  sendOld = parent.enableSendingOldValues(force = false)
  override def value: DataType = in.value
  override def create(): Node = new StepTable(this) {
    override protected def apply(key: Any, v: Any, at: Record): Any =
      if (predicate.test(at, v, context) != negated) v else null
    override protected val quiet: Boolean = sendOld && !parentVersioned
  }
}

private[millrace] final class MapValuesTableSpec(b: Build) extends StepTableSpec(b) {
  private val expression = b.expr("value", Layout.record(in.key, in.value))
  override val value: DataType = expression.dataType
  override def create(): Node = new StepTable(this) {
    override protected def apply(key: Any, v: Any, at: Record): Any = expression(at, v, context)
    override protected val quiet: Boolean = false
  }
}

// ---- streams as tables ----

private[millrace] final class ToTableSpec(b: Build) extends NodeSpec(b) with SourceTableSpec {
  private val in = b.stream(0)
  override val key: KeyType = in.key
  override val value: DataType = in.value
  override val store: StoreSettings = StoreSettings.of(b.store("key_value", "versioned"))
  override def ports: Seq[(String, Port)] = Seq("out" -> TablePort(key, value, this))
  override def create(): Node = new ToTable(this)
}
private[millrace] final class ToTable(s: ToTableSpec) extends Node(s) with SourceTable {
  override protected def table: SourceTableSpec = s
  override def process(r: Record, input: Int): Unit = update(r)
}

object Tables extends Family {
  override val factories: Map[String, Build => NodeSpec] = Map(
    "table" -> (new TopicTableSpec(_)),
    "global_table" -> (new GlobalTableSpec(_)),
    "to_table" -> (new ToTableSpec(_)),
    "filter@table" -> (new FilterTableSpec(_, false)),
    "filter_not@table" -> (new FilterTableSpec(_, true)),
    "map_values@table" -> (new MapValuesTableSpec(_))
  )
}
