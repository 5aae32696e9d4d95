package org.apache.spark.sql.millrace

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types._

/**
 * Decides where the rows and clocks of an old state belong in a new graph.
 *
 * Rows go to the task of their key if the number of tasks changed, or what determines the task; otherwise they stay
 * with their task. A clock has the highest time of the old tasks from which the keys of its task may come: what was
 * closed stays closed. If tasks are divided (4 to 8), that is one task, and everything is as it was there; if they are
 * merged, it is the time that a single task would have had. What must not be missed (the next punctuation, the earliest
 * waiting record, windows that are yet to be sent) has the lowest time; windows that another of the merged tasks has
 * sent are left out.
 */
private[millrace] final class Placement(
    graph: TaskGraph,
    json: JsonNode,
    from: OldState,
    val partitions: Int,
    changes: StateChanges
) {
  private val newNodes = json.path("nodes").elements.asScala.toSeq
  private val salts = Internals.salts(partitions)
  private def tasks(sub: Int): Int = json.path("subtopologies").path(sub.toString).asInt(1)

  /**
   * The change of a sub-topology's tasks. `feeders`: the old tasks from which the keys of task `j` may come; `same`:
   * each task keeps its keys.
   */
  private class Change(val before: Int, val now: Int, sameKeys: Boolean) {
    val same: Boolean = sameKeys && before == now
    def feeders(j: Int): Seq[Int] =
      if (same) Seq(j)
      else if (sameKeys && now % before == 0) Seq(j % before)
      else if (sameKeys && before % now == 0) (0 until before).filter(_ % now == j)
      else 0 until before
    def merges: Boolean = (0 until now).exists(feeders(_).size > 1)
  }
  private def change(old: Int, sub: Int): Change =
    new Change(from.tasks(old), tasks(sub), OldState.scheme(from.nodes, old) == OldState.scheme(newNodes, sub))

  /** The rows that are kept in the state, with their nodes. */
  private val kept: Seq[(NodeSpec, KeptRows)] = graph.specs.flatMap(s => s.kept.map(s -> _))
  private val specs: Map[String, NodeSpec] = graph.specs.map(s => s.id -> s).toMap

  /** By store: the type that its values get in all tasks, although those may have different ones. */
  private val types: Map[String, DataType] = from.noted.toSeq
    .flatMap { case ((level, task), noted) =>
      noted.collect { case (("$types", name), (json, _)) if !dropping(name, level)(task) => name -> typeIn(json) }
    }
    .groupMap(_._1)(_._2)
    .map { case (name, all) =>
      name -> all.distinct.reduce { (a, b) =>
        changes
          .common(name, a, b)
          .getOrElse(
            throw new Refused(
              name,
              "",
              Why(
                "state_types",
                s"the tasks of $name hold values of types ${a.sql} and ${b.sql}",
                "store" -> name,
                "first" -> a.sql,
                "second" -> b.sql
              )
            )
          )
      }
    }
  private def typeIn(json: Array[Byte]) = DataType.fromJson(new String(json, "UTF-8"))

  private def forgotten(level: Int, task: Int): Set[String] =
    changes.after(
      from.noted.get((level, task)).flatMap(_.collectFirst { case (("$change", _), (_, n)) => n }).getOrElse(0L)
    )

  /** The rules by which rows come to a level. */
  def rules(level: Int): Seq[MoveRule] =
    kept.filter(_._1.level == level).distinctBy(_._2.name).flatMap { case (spec, rows) =>
      spec match {
        case g: GlobalSpec => global(g, rows)
        case _ =>
          val source = if (from.known(rows.name)) Some(rows.name) else rows.copied.flatMap(copiedFrom(spec, rows, _))
          source.flatMap(name => from.owner(name).map(rule(_, name, spec, rows)))
      }
    }

  private def copiedFrom(spec: NodeSpec, rows: KeptRows, table: TableSource): Option[String] = {
    val t = table.asInstanceOf[TableSpec]
    t.own match {
      case Some(own) => Some(own.name).filter(from.known)
      case None if past(t).exists(from.known) =>
        throw new Refused(
          spec.node,
          "",
          Why(
            "state_not_ready",
            s"looks up ${t.node}, which has no store and now runs on another level: " +
              s"connect a store to ${t.node}",
            "table" -> t.node
          )
        )
      case None => None
    }
  }

  /** The stores that answer a table's lookups. */
  private def past(t: TableSpec): Seq[String] =
    t.kept.map(_.name) ++ t.inputs.collect { case TablePort(_, _, owner: TableSpec) => owner }.flatMap(past)

  private def rule(old: JsonNode, name: String, spec: NodeSpec, rows: KeptRows): MoveRule = {
    val c = change(from.sub(old), spec.sub)
    val asker = spec match {
      case l: LookupSpec if rows.counted =>
        moved(l.asker).filterNot(_.same).map(a => Asker(a.now, l.asker.inputs.head.key, recode(l.asker)))
      case _ => None
    }
    new MoveRule(
      name,
      from.levelOf(old),
      rows.copy(copied = None),
      recode(spec),
      if (c.same) 0 else c.now,
      partitions,
      everywhere = false,
      converters(name, from.levelOf(old)),
      types.get(name),
      asker,
      (0 until from.partitions).filter(dropping(name, from.levelOf(old))).toSet,
      if (c.merges) sent(rows, from.levelOf(old)) else Map.empty
    )
  }
  private def moved(spec: NodeSpec): Option[Change] = from.owner(spec.id).map(old => change(from.sub(old), spec.sub))

  private def global(g: GlobalSpec, rows: KeptRows): Option[MoveRule] = {
    val before = from.nodes.filter(n => TaskGraph.isGlobal(n) && n.path("node").asText == g.node)
    val names = before.flatMap(n => from.known.find(k => from.owner(k).contains(n)).map(n -> _))
    names.find(_._2 == rows.name).orElse(names.headOption).map { case (old, name) =>
      new MoveRule(
        name,
        from.levelOf(old),
        rows,
        None,
        0,
        partitions,
        everywhere = true,
        converters(name, from.levelOf(old)),
        types.get(name),
        None,
        (0 until from.partitions).filter(dropping(name, from.levelOf(old))).toSet,
        Map.empty
      )
    }
  }

  /** By task, if its values do not have the required type: their type, and the function that converts them. */
  private def converters(name: String, level: Int): Map[Int, (DataType, Any => Any)] =
    for {
      (task, was) <- perTask(level)(_.get(("$types", name)).map(x => typeIn(x._1)))
      now <- types.get(name) if now != was && !dropping(name, level)(task)
    } yield task -> (was, changes.conversion(name, was, now).get)
  private def dropping(name: String, level: Int)(task: Int): Boolean = StateChanges.drops(forgotten(level, task), name)
  private def sent(rows: KeptRows, level: Int): Map[Int, Long] =
    rows.closed.map(c => perTask(level)(_.get(("$clock", c.clock)).map(_._2))).getOrElse(Map.empty)
  private def perTask[T](level: Int)(of: Map[(String, String), (Array[Byte], Long)] => Option[T]): Map[Int, T] =
    from.noted.collect { case ((`level`, task), noted) if of(noted).isDefined => task -> of(noted).get }

  /** The codecs that turn the operator's bytes of a key into those of the source; none if they are the same. */
  private def recode(spec: NodeSpec): Option[(Codec, Codec)] =
    if (OldState.scheme(newNodes, spec.sub) == "operator") None
    else
      graph.specs.collectFirst {
        case s: SourceSpec
            if s.sub == spec.sub && !s
              .isInstanceOf[GlobalSpec] && Codec.of(s.keyCodec.dataType).format != s.keyCodec.format =>
          Codec.of(s.keyCodec.dataType) -> s.keyCodec
      }

  // ---- clocks and notes ----

  /**
   * The notes for each task of a level: its clocks, the types of its stores, and the number of the deployment's last
   * change.
   */
  def notes(level: Int): Seq[Row] = {
    val specs = graph.specs.filter(_.level == level)
    val everywhere = specs.exists(_.isInstanceOf[GlobalSpec])
    val n = if (everywhere) partitions else specs.map(s => tasks(s.sub)).max
    val named =
      rules(level).flatMap(r => r.target.map(t => row("$types", r.rows.name, Conversion.text(t).getBytes("UTF-8"), 0L)))
    (0 until n).flatMap { j =>
      val clocks = clocksAt(level, j).map { case (name, value) => row("$clock", name, Array[Byte](0), value) }
      val own =
        Seq(row("$token", "\u0000", Array[Byte](0), 1L + j), row("$change", "\u0000", Array[Byte](0), changes.last))
      (own ++ clocks ++ named).map(of => Row(salts(j) +: of: _*))
    }
  }
  private def row(store: String, key: String, value: Array[Byte], time: Long): Seq[Any] =
    Seq(store, key.getBytes("UTF-8"), value, time)

  private def clocksAt(level: Int, j: Int): Seq[(String, Long)] = {
    val found = from.noted.toSeq.flatMap { case ((old, task), noted) =>
      val gone = forgotten(old, task)
      noted.toSeq.collect {
        case (("$clock", name), (_, time)) if !StateChanges.concerns(gone, name) => (old, task, name, time)
      }
    }
    val placed = for {
      (old, task, name, time) <- found
      (now, change) <- place(name, old, level)
      if change.forall(c => j < c.now && c.feeders(j).contains(task))
    } yield (now, old, change, time)
    placed.groupBy(_._1).toSeq.flatMap { case (name, at) =>
      val waiting = at.head._3.exists { c =>
        (0 until c.before).count(i => c.feeders(j).contains(i) && from.noted.contains((at.head._2, i))) > at.size
      }
      if (Placement.lowest(name)) Option.when(!(waiting && Placement.begins(name)))(name -> at.map(_._4).min)
      else Some(name -> at.map(_._4).max)
    }
  }

  /**
   * The new name of a clock and the change of its tasks, if a level has it. No change: all tasks have the same time.
   */
  private def place(name: String, old: Int, level: Int): Seq[(String, Option[Change])] = {
    def at(spec: Option[NodeSpec], called: String = name): Seq[(String, Option[Change])] =
      spec.filter(_.level == level).toSeq.flatMap(s => moved(s).map(c => called -> Some(c)))
    def ofStore(store: String): Seq[(String, Option[Change])] =
      kept.find(_._2.name == store).toSeq.flatMap { case (s, _) =>
        if (s.level != level) Nil else from.owner(store).map(o => name -> Some(change(from.sub(o), s.sub))).toSeq
      }
    name.split("[/:]", 2) match {
      case Array("$wall") => Seq(name -> None)
      case Array("$rows", _) => Nil
      case Array(kind @ ("$stream" | "$partition"), rest) =>
        val (sub, more) = rest.span(_ != '/')
        if (kind == "$partition") subsOf(sub.toInt, None, level).map { s =>
          s"$kind/$s$more" -> Some(partitioned(sub.toInt, s, more))
        }
        else subsOf(sub.toInt, Some(old), level).map(s => s"$kind/$s" -> Some(change(sub.toInt, s)))
      case Array("$offset" | "$schedule" | "$place", rest) => at(specs.get(rest.substring(0, rest.lastIndexOf('/'))))
      case Array("store" | "swept" | "sequence", store) if kept.exists(_._2.name == store) => ofStore(store)
      case Array(id, what) => if (Set("records", "bytes")(what)) Nil else at(specs.get(id))
      case Array(id) => at(specs.get(id))
    }
  }

  /** The change for a topic-partition, which is read by the task of its number. */
  private def partitioned(old: Int, now: Int, place: String): Change =
    new Change(from.tasks(old), tasks(now), sameKeys = true) {
      private val number = place.substring(place.lastIndexOf('/') + 1).toInt
      override def feeders(j: Int): Seq[Int] = if (number % this.now == j) Seq(number % before) else Nil
    }

  /** The new sub-topologies on a level that contain nodes of an old one. `old`: only nodes that were on this level. */
  private def subsOf(sub: Int, old: Option[Int], level: Int): Seq[Int] = {
    def ids(at: Int => Boolean) =
      from.nodes.filter(n => from.sub(n) == sub && at(from.levelOf(n))).map(_.get("id").asText).toSet
    val here = graph.specs.filter(_.level == level)
    val close = old.map(o => ids(_ == o)).getOrElse(ids(_ => true))
    here.groupBy(_.sub).toSeq.collect { case (s, nodes) if nodes.exists(n => close(n.id)) => s }
  }
}

private[millrace] object Placement {

  /** Whether a clock has the lowest time of merged tasks, because it stands for something that must not be missed. */
  def lowest(name: String): Boolean =
    name.startsWith("$schedule/") || name.startsWith("$place/") || name.startsWith("swept:") ||
      name.endsWith(":single") || begins(name)

  /** Whether a missing time counts as lower than any other. */
  def begins(name: String): Boolean = name.endsWith(":emitted")
}

/** The tasks that wait for responses of foreign key joins. */
private[millrace] final case class Asker(tasks: Int, key: KeyType, recode: Option[(Codec, Codec)]) extends Serializable

/**
 * How the rows called `from` on a level of the old state are moved. `tasks`: the number of tasks among which they are
 * distributed by key, or 0 if each stays with its task; `converters`: by old task, the type of its values and the
 * function that converts them to `target`; `dropping`: old tasks whose rows were given up; `sent`: see
 * [[KeptRows.closed]].
 */
private[millrace] final class MoveRule(
    val from: String,
    val fromLevel: Int,
    val rows: KeptRows,
    recode: Option[(Codec, Codec)],
    tasks: Int,
    partitions: Int,
    everywhere: Boolean,
    converters: Map[Int, (DataType, Any => Any)],
    val target: Option[DataType],
    asker: Option[Asker],
    dropping: Set[Int],
    sent: Map[Int, Long]
) extends Serializable {
  def begin(): Work = new Work

  private def chosen(key: Array[Byte], recode: Option[(Codec, Codec)]): Array[Byte] = recode.fold(key) {
    case (mine, theirs) => theirs.encode(mine.decode(key))
  }

  final class Work {
    private val salts = Internals.salts(partitions)
    private val packers = converters.map { case (task, (was, _)) => task -> (new Packer(was), new Packer(target.get)) }
    private val subscriber = new Packer(ForeignKey.subscriber)

    def moved(task: Int, key: Array[Byte], value: Array[Byte], time: Long): Seq[Row] =
      if (dropping(task) || (everywhere && task != 0) || rows.closed.exists(c => sent.get(task).exists(c.sent(key, _))))
        Nil
      else {
        val made = converted(task, value)
        val to =
          if (made == null && value != null) Nil
          else if (everywhere) salts.toSeq
          else Seq(salts(if (tasks == 0) task else Partitioner.partition(chosen(rows.keyOf(key), recode), tasks)))
        to.map(Row(_, rows.name, key, asker.fold(made)(answered(key, made, _)), time))
      }

    private def converted(task: Int, value: Array[Byte]): Array[Byte] =
      packers.get(task).fold(value) { case (old, now) =>
        val v = old.unpack(value)
        now.pack(if (v == null) null else converters(task)._2(v))
      }
    private def answered(key: Array[Byte], value: Array[Byte], asker: Asker): Array[Byte] = {
      val w = subscriber.unpack(value).asInstanceOf[InternalRow]
      val primary = java.util.Arrays.copyOfRange(key, 4 + Bytes.getInt(key, 0), key.length - KeptRows.tail(asker.key))
      subscriber.pack(
        new GenericInternalRow(
          Array[Any](
            if (w.isNullAt(0)) null else w.getBinary(0),
            Partitioner.partition(chosen(primary, asker.recode), asker.tasks)
          )
        )
      )
    }
  }
}
