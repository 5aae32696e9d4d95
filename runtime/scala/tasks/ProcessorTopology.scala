package org.apache.spark.sql.millrace

import java.util.{HashMap => JHashMap}

import scala.jdk.CollectionConverters._

/**
 * The nodes of a level in one task, and the links between them. Inputs of the level are added to the task's `inputs`.
 */
private[millrace] final class ProcessorTopology(level: LevelSpec, task: StreamTask, application: String) {
  private val nodes = new JHashMap[String, Node]()
  level.nodes.foreach(s => nodes.put(s.id, s.create()))
  private val specs: Map[String, NodeSpec] = level.nodes.map(s => s.id -> s).toMap
  wire()

  /** Latency is measured at sources and at the last nodes. */
  if (!task.simulated) level.nodes.foreach { s =>
    if (s.isInstanceOf[SourceSpec] || !level.edges.exists(_.from == s.id))
      nodes.get(s.id).latency = new LatencySensor(task.record)
  }

  def node(id: String): Node = nodes.get(id)

  /** All nodes, in the order of the graph. */
  val all: Seq[Node] = level.nodes.map(s => nodes.get(s.id)).toSeq

  private def portOf(id: String, port: String): Port =
    specs
      .get(id)
      .map(_.ports)
      .orElse(level.foreign.get(id))
      .flatMap(_.collectFirst { case (`port`, p) => p })
      .getOrElse(throw new IllegalStateException(s"no port $port of $id"))

  private def wire(): Unit = {
    level.nodes.foreach { s =>
      val node = nodes.get(s.id)
      val edges = level.edges.filter(e => e.from == s.id && !e.hop)
      def wired(e: Edge, dest: Int) = e.port -> new Link(new WireNode(s, dest, portOf(e.from, e.port), task), 0)
      /* Copies of the table on later levels come first: a copy must have the update before the other rows that the same
       * record causes arrive there. */
      val copies =
        if (s.derived) Array.empty[(String, Link)]
        else
          mirrorsOf(s).map("out" -> _) ++
            edges
              .filter(e => e.keeps && e.toLevel != level.level && (e.derived || edges.length > 1))
              .map(e => wired(e, e.dest | TaskGraph.keep)) ++
            edges.filter(e => e.reads && e.toLevel != level.level).map(e => wired(e, e.dest))
      val links = (copies ++ edges.filter(e => e.toLevel == level.level || !e.reads).map { e =>
        if (e.toLevel == level.level) e.port -> new Link(nodes.get(e.to), e.input, e.unwrap) else wired(e, e.dest)
      }).toSeq
      if (s.derived) node.mirrors = mirrorsOf(s)
      node.copies = mirrorsOf(s) ++ edges
        .filter(e => (e.keeps || e.reads) && e.toLevel != level.level)
        .map(e => wired(e, e.dest | TaskGraph.keep)._2)
      node.links = links.map(_._2).toArray
      node.continued = level.continued.getOrElse(s.id, null)
      node.portLinks = s.ports.map { case (port, _) =>
        port -> links.collect { case (`port`, link) => link }.toArray
      }.toMap
      node.parents = s.parents.map(p => nodes.get(p._1)).toArray
      node match {
        case source: SourceNode => task.inputs.add(s.index, new SourceQueue(source, task))
        case _ if s.parents.isEmpty =>
          task.inputs.add(s.index, internal(node, 0, s.ports.head._2, unwrap = false, null))
        case _ =>
      }
    }
    level.edges.filter(e => e.toLevel == level.level && (e.hop || e.fromLevel != level.level)).foreach { e =>
      task.inputs.add(e.dest, internal(nodes.get(e.to), e.input, portOf(e.from, e.port), e.unwrap, e))
      if (e.keeps || e.reads)
        task.inputs
          .add(e.dest | TaskGraph.keep, new KeepingQueue(nodes.get(e.to), e.input, portOf(e.from, e.port), task))
    }
  }
  private def internal(node: Node, input: Int, port: Port, unwrap: Boolean, edge: Edge): InternalQueue =
    new InternalQueue(node, input, port, unwrap, edge, task, level.countsOffsets, application)

  /**
   * Links to the copies, on later levels, of derived tables whose lookups read this table (of itself, if it is
   * derived).
   */
  private def mirrorsOf(s: NodeSpec): Array[Link] = {
    val found = new java.util.LinkedHashSet[NodeSpec]()
    def visit(t: NodeSpec): Unit = if (t.derived && found.add(t)) below(t)
    def below(t: NodeSpec): Unit =
      level.edges.foreach(e => if (e.from == t.id && !e.hop && e.toLevel == level.level) visit(specs(e.to)))
    if (s.derived) visit(s) else if (s.ports.exists(_._2.isInstanceOf[TablePort])) below(s)
    found.asScala.toArray.filter { case t: TableSpec => t.answers; case _ => false }.flatMap { t =>
      level.edges.filter(e => e.from == t.id && e.toLevel != level.level && (e.keeps || e.reads)).map { e =>
        val wire = new WireNode(t, if (e.keeps) e.dest | TaskGraph.keep else e.dest, portOf(e.from, e.port), task)
        new Link(new MirrorNode(t, nodes.get(t.id).asInstanceOf[TableView], wire), 0)
      }
    }
  }
}

/** Sends records to the same task of a later level. */
private[millrace] final class WireNode(spec: NodeSpec, dest: Int, port: Port, task: StreamTask) extends Node(spec) {
  private val codec = Codec.key(port.key)
  private val changes = port.isInstanceOf[TablePort]
  private val packer = new Packer(if (changes) Packer.changeType(port.value) else port.value)
  private val record = task.record
  start(task, task)
  private val carries = task.deadLetters

  /** `partitionKey` carries the offset, and the record that becomes a dead letter if it fails on the later level. */
  override def process(r: Record, input: Int): Unit = {
    val (key, value) = (codec.encode(r.key), Packed(packer, r.value, changes))
    val own = record.atOrigin
    context.emit(
      new Outgoing(
        dest,
        task.index,
        key,
        value,
        r.timestamp,
        r.headers,
        topic = if (own) null else if (record.topic == null) "" else record.topic.toString,
        partition = if (own) null else record.partition,
        partitionKey =
          if (carries) Bytes.concat(Array.emptyByteArray, record.offset) ++ record.packed
          else if (own) null
          else Bytes.concat(Array.emptyByteArray, record.offset)
      )
    )
  }
}

/** Sends the current result of a lookup to a later level. */
private[millrace] final class MirrorNode(spec: NodeSpec, view: TableView, wire: WireNode) extends Node(spec) {
  override def process(r: Record, input: Int): Unit = {
    val found = view.read(r.key, r)
    wire.process(
      if (found == null) r.withValue(new Change(null, null))
      else new Record(r.key, new Change(found.value, null), found.timestamp, r.headers),
      0
    )
  }
}
