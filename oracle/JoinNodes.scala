package oracle

import org.apache.kafka.streams._
import org.apache.kafka.streams.kstream._
import org.apache.kafka.streams.processor.api.{ProcessorContext => _, _}
import org.apache.spark.sql.types._
import scala.jdk.CollectionConverters._

/** Joins of streams and tables. */
trait JoinNodes extends BuildContext {
  protected def join(n: Node): Unit = {
    val types =
      if (Set("join.stream_stream", "join.table_table")(n.kind)) Seq("inner", "left", "outer") else Seq("inner", "left")
    val kind = n.oneOf("type", "inner", types: _*)
    val (l, r) = (in(n, "left"), in(n, "right"))
    val mapped = if (n.kind == "join.stream_global_table") Seq("mapped_key" -> r.key.seen) else Nil
    val columns = Seq("key" -> l.key.seen, "left" -> l.value, "right" -> r.value, "timestamp" -> TimestampType)
    val f = fn(n, "joiner", columns ++ mapped)
    if (n.kind.startsWith("join.stream_")) streamJoin(n, kind, f)
    else {
      val (lt, rt) = (table(n, "left"), table(n, "right"))
      /* The joiner of two tables does not see the key. If it reads the key, both values carry it, through a mapValues
       * without a store. */
      def keyed(t: T, side: String): KTable[Any, Any] =
        if (!f.columns("key")) t.table
        else {
          val k = t.table.mapValues[Any](
            ((k: Any, v: Any) => Keyed(k, v)): ValueMapperWithKey[Any, Any, Any],
            named(s"${n.id}-$side-keyed")
          )
          BuildContext.serdeFields.foreach { case (fd, isKey) =>
            fd.set(k, if (isKey) t.key.serde else new KeyedSerde(Format.of(t.value)))
          }
          k
        }
      def plain(x: Any): Any = x match { case Keyed(_, v) => v; case v => v }
      val joiner: ValueJoiner[Any, Any, Any] = (a, b) => {
        val k = a match { case Keyed(k, _) => k; case _ => b match { case Keyed(k, _) => k; case _ => null } }
        f(KeyType.see(k), plain(a), plain(b), Meta.timestamp(f))
      }
      if (n.kind == "join.table_table") {
        sameKey(n, lt, rt)
        val (a, b) = (keyed(lt, "left"), keyed(rt, "right"))
        val result = doc.stores(n).headOption match {
          case None =>
            kind match {
              case "inner" => a.join[Any, Any](b, joiner, named(n.id))
              case "left" => a.leftJoin[Any, Any](b, joiner, named(n.id))
              case _ => a.outerJoin[Any, Any](b, joiner, named(n.id))
            }
          case Some(_) =>
            val m = materialized(n, lt.key, f.dataType)
            kind match {
              case "inner" => a.join[Any, Any](b, joiner, named(n.id), m)
              case "left" => a.leftJoin[Any, Any](b, joiner, named(n.id), m)
              case _ => a.outerJoin[Any, Any](b, joiner, named(n.id), m)
            }
        }
        done(n, T(result, lt.key, f.dataType))
      } else {
        val fk = fn(n, "foreign_key", Seq("key" -> lt.key.seen, "value" -> lt.value), Some(rt.key.seen))
        val a = keyed(lt, "left")
        val extractor = Release.foreignKey(fk, (k, v) => fk(KeyType.see(k), plain(v)))
        val m = materialized(n, lt.key, f.dataType)
        val tj = n.textOpt("repartition").orElse(Option(nameOf(n.id))) match {
          case Some(name) => TableJoined.as[Any, Any](name)
          case None => TableJoined.`with`[Any, Any](null, null)
        }
        val result =
          if (kind == "inner") a.join[Any, Any, Any](rt.table, extractor, joiner, tj, m)
          else a.leftJoin[Any, Any, Any](rt.table, extractor, joiner, tj, m)
        done(n, T(result, lt.key, f.dataType))
      }
    }
  }

  protected def streamJoin(n: Node, kind: String, f: Fn): Unit = {
    val l = stream(n, "left")
    val late = f.columns("timestamp") // the joiner reads the result's timestamp, so it runs after the join
    val joiner: ValueJoinerWithKey[Any, Any, Any, Any] = (k, a, b) =>
      if (late) Both(a, b) else f(KeyType.see(k), a, b, null, null)
    val name = n.textOpt("repartition").getOrElse(nameOf(if (late) n.id + "-pairs" else n.id))
    val joined: KStream[Any, Any] = n.kind match {
      case "join.stream_stream" =>
        val r = stream(n, "right")
        sameKey(n, l, r)
        val (before, after, grace) =
          (n.duration("before").get, n.duration("after").get, n.duration("grace").getOrElse(0L))
        val w = JoinWindows
          .ofTimeDifferenceAndGrace(ms(Seq(before, after, 0L).max), ms(grace))
          .before(ms(before))
          .after(ms(after))
        var sj =
          StreamJoined.`with`[Any, Any, Any](l.key.serde, valueSerde(l.value), valueSerde(r.value)).withName(name)
        n.textOpt("store_name").foreach(s => sj = sj.withStoreName(s))
        kind match {
          case "inner" => l.stream.join[Any, Any](r.stream, joiner, w, sj)
          case "left" => l.stream.leftJoin[Any, Any](r.stream, joiner, w, sj)
          case _ => l.stream.outerJoin[Any, Any](r.stream, joiner, w, sj)
        }
      case "join.stream_table" =>
        val r = table(n, "right")
        sameKey(n, l, r)
        var j = Joined.`with`[Any, Any, Any](l.key.serde, valueSerde(l.value), valueSerde(r.value)).withName(name)
        n.duration("grace").foreach(g => j = j.withGracePeriod(ms(g)))
        if (kind == "inner") l.stream.join[Any, Any](r.table, joiner, j)
        else l.stream.leftJoin[Any, Any](r.table, joiner, j)
      case "join.stream_global_table" =>
        val r = in(n, "right") match { case g: G => g; case _ => n.fail("right", "must be a global table") }
        val key = fn(n, "key", record(l), Some(r.key.seen)); val g = mapper(key)
        val km: KeyValueMapper[Any, Any, Any] = (k, v) => g(k, v)
        if (f.columns("mapped_key")) {
          if (late) throw new Unsupported("a joiner of both the mapped key and the timestamp")
          MappedJoin(l.stream, r.table, km, (k, m, a, b) => f(KeyType.see(k), a, b, null, m), kind, named(n.id))
        } else if (kind == "inner")
          l.stream.join[Any, Any, Any](r.table, km, joiner, named(if (late) n.id + "-pairs" else n.id))
        else l.stream.leftJoin[Any, Any, Any](r.table, km, joiner, named(if (late) n.id + "-pairs" else n.id))
    }
    val result =
      if (!late) joined
      else
        joined.processValues[Any](
          (
              () =>
                new ContextualFixedKeyProcessor[Any, Any, Any] {
                  override def process(rec: FixedKeyRecord[Any, Any]): Unit = {
                    val b = rec.value.asInstanceOf[Both]
                    context()
                      .forward(rec.withValue(f(KeyType.see(rec.key), b.left, b.right, rec.timestamp * 1000L, null)))
                  }
                }
          ): FixedKeyProcessorSupplier[Any, Any, Any],
          Named.as(n.id) // takes no number
        )
    done(n, S(result, l.key, f.dataType))
  }
}
