package oracle

import org.apache.kafka.streams._
import org.apache.kafka.streams.kstream._
import org.apache.kafka.streams.processor.api.{ProcessorContext => _, _}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types._
import scala.jdk.CollectionConverters._

/** Nodes that process one record at a time. */
trait StatelessNodes extends BuildContext {

  /** Whether the shortest call says it all. Others take a number for a store that is not there. */
  private def plain(n: Node): Boolean = unnamed && doc.stores(n).isEmpty && !doc.isRead(n)
  protected def stateless(n: Node): Unit = n.kind match {
    case "filter" | "filter_not" if n.params.path("rejected").asText("drop") != "drop" =>
      n.fail("rejected", "makes the filter a rule, which Kafka Streams does not have")
    case "filter" | "filter_not" =>
      in(n) match {
        case i @ S(s, _, _) =>
          val p = predicate(n, "predicate", i);
          done(n, i.copy(stream = if (n.kind == "filter") s.filter(p, named(n.id)) else s.filterNot(p, named(n.id))))
        case i @ T(t, k, v) =>
          val p = predicate(n, "predicate", i)
          lazy val m = materialized(n, k, v)
          val kept = !plain(n)
          done(
            n,
            i.copy(table =
              if (n.kind == "filter") if (kept) t.filter(p, named(n.id), m) else t.filter(p)
              else if (kept) t.filterNot(p, named(n.id), m)
              else t.filterNot(p)
            )
          )
        case _ => n.fail("in", "must be a stream or a table")
      }
    case "map_values" =>
      in(n) match {
        case i @ S(s, k, _) =>
          val f = fn(n, "value", record(i)); val g = mapper(f)
          done(
            n,
            S(
              s.mapValues[Any](((k: Any, v: Any) => g(k, v)): ValueMapperWithKey[Any, Any, Any], named(n.id)),
              k,
              f.dataType
            )
          )
        case i @ T(t, k, _) =>
          val f = fn(n, "value", record(i)); val g = mapper(f)
          val each: ValueMapperWithKey[Any, Any, Any] = (k: Any, v: Any) => g(k, v)
          val mapped =
            if (plain(n)) t.mapValues[Any](each)
            else t.mapValues[Any](each, named(n.id), materialized(n, k, f.dataType))
          done(n, T(mapped, k, f.dataType))
        case _ => n.fail("in", "must be a stream or a table")
      }
    case "map" =>
      val i = stream(n); val (fk, fv) = (fn(n, "key", record(i)), fn(n, "value", record(i)))
      done(
        n,
        S(
          i.stream.map[Any, Any](
            ((k: Any, v: Any) => KeyValue.pair(fk.row(row(fk, k, v)), fv.row(row(fv, k, v)))): KeyValueMapper[
              Any,
              Any,
              KeyValue[Any, Any]
            ],
            named(n.id)
          ),
          KeyType(fk.dataType),
          fv.dataType
        )
      )
    case "select_key" =>
      val i = stream(n); val f = fn(n, "key", record(i)); val g = mapper(f)
      done(
        n,
        S(
          i.stream.selectKey[Any](((k: Any, v: Any) => g(k, v)): KeyValueMapper[Any, Any, Any], named(n.id)),
          KeyType(f.dataType),
          i.value
        )
      )
    case "flat_map" =>
      val i = stream(n); val f = fn(n, "records", record(i)); val g = mapper(f)
      val (kt, vt) = f.dataType match {
        case ArrayType(StructType(Array(a, b)), _) if a.name == "key" && b.name == "value" => (a.dataType, b.dataType)
        case other => n.fail("records", s"gives ${other.catalogString}, needs ARRAY<STRUCT<key, value>>")
      }
      val m: KeyValueMapper[Any, Any, java.lang.Iterable[KeyValue[Any, Any]]] = (k: Any, v: Any) =>
        g(k, v) match {
          case null => null
          case a: ArrayData =>
            val st = new StructType().add("key", kt).add("value", vt)
            (0 until a.numElements()).map { j =>
              val r = a.get(j, st).asInstanceOf[InternalRow]; KeyValue.pair(r.get(0, kt), r.get(1, vt))
            }.asJava
        }
      done(n, S(i.stream.flatMap[Any, Any](m, named(n.id)), KeyType(kt), vt))
    case "flat_map_values" =>
      val i = stream(n); val f = fn(n, "values", record(i)); val g = mapper(f)
      val t = f.dataType match {
        case ArrayType(e, _) => e; case other => n.fail("values", s"gives ${other.catalogString}, needs ARRAY")
      }
      val m: ValueMapperWithKey[Any, Any, java.lang.Iterable[Any]] = (k: Any, v: Any) =>
        g(k, v) match {
          case null => null
          case a: ArrayData => (0 until a.numElements()).map(j => a.get(j, t): Any).asJava
        }
      done(n, S(i.stream.flatMapValues[Any](m, named(n.id)), i.key, t))
    case "peek" =>
      val i = updates(n).head; val f = fn(n, "message", record(i), Some(StringType)); val g = mapper(f)
      done(
        n,
        i.copy(stream = i.stream.peek(((k: Any, v: Any) => { g(k, v); () }): ForeachAction[Any, Any], named(n.id)))
      )
    case "merge" =>
      val all = updates(n)
      all.foreach(o =>
        if (o.key != all.head.key || o.value != all.head.value) n.fail("in", "the types of the merged streams differ")
      )
      val merged = all.tail.zipWithIndex.foldLeft(all.head.stream) { case (a, (b, j)) =>
        a.merge(b.stream, named(if (j == all.size - 2) n.id else s"${n.id}-$j"))
      }
      done(
        n,
        all.head.copy(stream =
          if (all.size == 1 && !unnamed) all.head.stream.peek((_: Any, _: Any) => (), named(n.id)) else merged
        )
      )
    case "split" =>
      val i = updates(n).head
      val branches = n.req("branches").elements.asScala.toSeq
      if (branches.isEmpty) n.fail("branches", "are missing")
      var split = i.stream.split(named(n.id + "-"))
      branches.foreach { b =>
        val part = Node(n.id, n.kind, b)
        split = split.branch(predicate(part, "predicate", i), Branched.as[Any, Any](part.text("port")))
      }
      val map = n
        .textOpt("default_port")
        .map(p => split.defaultBranch(Branched.as[Any, Any](p)))
        .getOrElse(split.noDefaultBranch())
      map.asScala.foreach { case (name, s) =>
        done(n, i.copy(stream = s), name.drop(if (unnamed) "KSTREAM-BRANCH-0000000000".length else n.id.length + 1))
      }
    case "repartition" =>
      val i = stream(n)
      var r =
        Repartitioned
          .`with`[Any, Any](i.key.serde, valueSerde(i.value))
          .withName(n.textOpt("name").getOrElse(nameOf(n.id)))
      n.long("partitions")
        .foreach(p => if (p < 1) n.fail("partitions", "must be at least 1") else r = r.withNumberOfPartitions(p.toInt))
      done(n, i.copy(stream = i.stream.repartition(r)))
    case "to_table" =>
      val i = stream(n); done(n, T(i.stream.toTable(named(n.id), materialized(n, i.key, i.value)), i.key, i.value))
    case "to_stream" => val i = table(n); done(n, S(i.table.toStream(named(n.id)), i.key, i.value))
    case k => throw new Unsupported(k)
  }
}
