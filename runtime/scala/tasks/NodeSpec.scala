package org.apache.spark.sql.millrace

import org.apache.spark.sql.types.DataType

/** The types of the records that leave a port. `key.seen` and `value` are the types that expressions see. */
sealed trait Port { def key: KeyType; def value: DataType }
final case class StreamPort(key: KeyType, value: DataType) extends Port

/** A table: records carry a Change. `owner` is the node to ask for old values. */
final case class TablePort(key: KeyType, value: DataType, owner: TableSource) extends Port

/** A grouped and repartitioned table: records carry a Change under the group's key; either value may be null. */
final case class GroupedPort(key: KeyType, value: DataType) extends Port
final case class GlobalPort(key: KeyType, value: DataType, owner: NodeSpec) extends Port

/** A node that outputs a table. The driver calls these methods while the graph is built. */
trait TableSource {

  /** Requests old values in changes. `force`: materialize the table if necessary. Returns whether they will be sent. */
  def enableSendingOldValues(force: Boolean): Boolean

  /** Whether a versioned store answers lookups. */
  def versioned: Boolean = false
}

/**
 * The operator's store. `named`: the document has a store node for it, so that its contents are shown. `properties`:
 * those of the store node. `state`: the name of its rows in the state. With a store node it is the node's id, because
 * that stays when the store is renamed; further copies of a global store have names of their own.
 */
final case class StoreSpec(name: String, node: String, kind: String, named: Boolean, properties: Map[String, String]) {
  def state: String = if (named) properties.getOrElse("state", node) else name
  def long(property: String): Option[Long] = properties.get(property).map(_.toLong)
}

object StoreSpec {
  private[millrace] def apply(s: StoreSettings, kind: String): StoreSpec =
    StoreSpec(s.name, s.node, kind, s.named, Map("state" -> s.state))
}

/** A node as data: built on the driver, serialized for the tasks. */
abstract class NodeSpec(b: Build) extends Serializable {
  val id: String = b.id
  val node: String = b.node
  val op: String = b.op
  val sub: Int = b.sub
  val level: Int = b.level

  /** Parents by input: physical id and port. */
  val parents: Seq[(String, String)] = b.parentIds

  /** Index in the graph: the `dest` of rows for input 0. */
  val index: Int = b.index

  /** Output ports in their order. Empty for sinks. */
  def ports: Seq[(String, Port)]

  /** Whether an input is only looked up: its updates cause nothing by themselves. */
  def reads(input: Int): Boolean = false

  /**
   * Whether an input is also looked up: its updates cause something, and lookups may need them before they are
   * processed.
   */
  def keeps(input: Int): Boolean = false

  /** Whether the table stores nothing that could answer lookups: the current values of its parents answer them. */
  def derived: Boolean = false

  /** The parents' output ports, by input. */
  val inputs: Seq[Port] = b.inputs

  /** The functions in Python that its expressions call, or null. */
  private[millrace] val functions: FunctionSettings = b.functions

  /** The rows that the node keeps in the state. Called when the whole graph is built. */
  private[millrace] def kept: Seq[KeptRows] = Nil
  def create(): Node
}

/** A node whose output travels to tasks of a later level by the key's partition. */
abstract class HopSpec(b: Build) extends NodeSpec(b) {

  /** The name of the topic in Kafka Streams, without the application id. */
  def topic: String = b.textOpt("topic").getOrElse(id)
  val partitions: Int = b.int("partitions")
  private[millrace] var receivers: Array[Int] = Array.empty
}

/** The part of a hop that runs in a task. */
abstract class HopNode(spec: HopSpec) extends Node(spec) {
  private val port = spec.ports.head._2
  private val codec = Codec.key(port.key)
  private val changes = port.isInstanceOf[GroupedPort] || port.isInstanceOf[TablePort]
  private val packer = new Packer(if (changes) Packer.changeType(port.value) else port.value)

  /** Sends to the partition of the key's bytes (of a windowed key: the inner key's); null keys go to partition 0. */
  protected final def hop(r: Record): Unit = {
    val key = codec.encode(r.key)
    val chooses = codec match { case w: WindowedCodec if r.key != null => w.innerBytes(r.key); case _ => key }
    hopTo(r, key, Partitioner.partition(chooses, spec.partitions))
  }
  protected final def hopTo(r: Record, key: Array[Byte], partition: Int): Unit = {
    sent += 1
    val value = Packed(packer, r.value, changes)
    var i = 0
    while (i < spec.receivers.length) {
      context.emit(new Outgoing(spec.receivers(i), partition, key, value, r.timestamp, r.headers, hop = true))
      i += 1
    }
  }
}

private[millrace] object Packed {
  import org.apache.spark.sql.catalyst.InternalRow
  import org.apache.spark.sql.catalyst.expressions.GenericInternalRow

  def apply(p: Packer, v: Any, changes: Boolean): Array[Byte] = v match {
    case c: Change if changes => p.pack(new GenericInternalRow(Array[Any](c.newValue, c.oldValue, c.isLatest)))
    case _ => p.pack(v)
  }
  def unpack(p: Packer, b: Array[Byte], value: DataType, changes: Boolean): Any =
    if (!changes) p.unpack(b)
    else {
      val r = p.unpack(b).asInstanceOf[InternalRow]
      new Change(
        if (r.isNullAt(0)) null else r.get(0, value),
        if (r.isNullAt(1)) null else r.get(1, value),
        r.getBoolean(2)
      )
    }
}

/** Kafka's default partitioner. */
object Partitioner {

  /** murmur2(key) & 0x7fffffff % n; 0 for null. */
  def partition(key: Array[Byte], n: Int): Int = if (key == null) 0 else (murmur2(key) & 0x7fffffff) % n

  def murmur2(data: Array[Byte]): Int = {
    val m = 0x5bd1e995
    var h = 0x9747b28c ^ data.length
    val words = data.length >> 2
    var i = 0
    while (i < words) {
      val at = i << 2
      var k = (data(at) & 0xff) | ((data(at + 1) & 0xff) << 8) | ((data(at + 2) & 0xff) << 16) | (data(at + 3) << 24)
      k *= m
      k ^= k >>> 24
      k *= m
      h *= m
      h ^= k
      i += 1
    }
    val tail = words << 2
    val left = data.length & 3
    if (left == 3) h ^= (data(tail + 2) & 0xff) << 16
    if (left >= 2) h ^= (data(tail + 1) & 0xff) << 8
    if (left >= 1) { h ^= data(tail) & 0xff; h *= m }
    h ^= h >>> 13
    h *= m
    h ^= h >>> 15
    h
  }
}
