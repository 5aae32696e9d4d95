package oracle

import com.fasterxml.jackson.databind.JsonNode
import java.time.Instant
import org.apache.kafka.streams._
import org.apache.kafka.streams.kstream._
import org.apache.kafka.streams.processor.api.{ProcessorContext => _, _}
import org.apache.spark.sql.types._
import scala.jdk.CollectionConverters._

/** Aggregations of streams and tables, their windows, and the suppression of their results. */
trait AggregationNodes extends BuildContext {
  protected def grouped(
      n: Node,
      i: S,
      by: Option[JsonNode],
      name: String,
      given: Option[String]
  ): (KGroupedStream[Any, Any], KeyType) = {
    val topic = given.getOrElse(nameOf(name))
    by match {
      case None => (i.stream.groupByKey(Grouped.`with`[Any, Any](topic, i.key.serde, valueSerde(i.value))), i.key)
      case Some(j) =>
        if (j.get("value") != null) n.fail("group_by", "a stream is grouped by a key only")
        val f = fnOf(Node(n.id, n.kind, j).text("key"), n, "group_by", record(i), None); val g = mapper(f)
        val key = KeyType(f.dataType)
        // groupBy(mapper) is the same as selectKey and groupByKey, but these can both be named.
        (
          i.stream
            .selectKey[Any](((k: Any, v: Any) => g(k, v)): KeyValueMapper[Any, Any, Any], named(name + "-key"))
            .groupByKey(Grouped.`with`[Any, Any](topic, key.serde, valueSerde(i.value))),
          key
        )
    }
  }

  protected def window(n: Node): Option[(WindowSpec, AnyRef)] = n.opt("window").map { _ =>
    val w = n.sub("window")
    val grace = w.duration("grace").getOrElse(0L)
    val offset = w.duration("offset").getOrElse(0L)
    def known(ps: String*) = w.params.fieldNames.asScala
      .foreach(p => if (p != "type" && !ps.contains(p)) n.fail("window", s"$p is an unknown part"))
    def len(p: String) = w.duration(p).getOrElse(n.fail("window", s"$p is missing"))
    w.text("type") match {
      case "tumbling" if w.opt("unit").isDefined =>
        known("unit", "time_zone", "offset", "grace")
        val unit = w.oneOf("unit", "", CalendarWindows.longest.keys.toSeq: _*)
        own(new CalendarWindows(unit, w.textOpt("time_zone").getOrElse("UTC"), offset, grace), grace)
      case "tumbling" if offset > 0 =>
        known("size", "offset", "grace")
        own(new OffsetWindows(len("size"), len("size"), offset, grace), grace)
      case "hopping" if offset > 0 =>
        known("size", "advance", "offset", "grace")
        own(new OffsetWindows(len("size"), len("advance"), offset, grace), grace)
      case "tumbling" =>
        known("size", "grace");
        (WindowSpec("time", len("size"), grace), TimeWindows.ofSizeAndGrace(ms(len("size")), ms(grace)))
      case "hopping" =>
        known("size", "advance", "grace");
        (
          WindowSpec("time", len("size"), grace),
          TimeWindows.ofSizeAndGrace(ms(len("size")), ms(grace)).advanceBy(ms(len("advance")))
        )
      case "sliding" =>
        known("difference", "grace");
        (
          WindowSpec("sliding", len("difference"), grace),
          SlidingWindows.ofTimeDifferenceAndGrace(ms(len("difference")), ms(grace))
        )
      case "session" =>
        known("gap", "grace");
        (WindowSpec("session", len("gap"), grace), SessionWindows.ofInactivityGapAndGrace(ms(len("gap")), ms(grace)))
      case "unlimited" =>
        known("start");
        (
          WindowSpec("unlimited", 0, 0),
          UnlimitedWindows.of().startOn(Instant.ofEpochMilli(w.duration("start").getOrElse(0L)))
        )
      case "custom" =>
        known("code", "size", "grace");
        val windows = doc.builtins.get(n.id) match {
          case Some(twin) => ChosenWindows.of(twin, len("size"), grace)
          case None => python.windows(n, w.text("code"), len("size"), grace)
        }
        (WindowSpec("time", len("size"), grace), windows)
      case other => n.fail("window", s"unknown type: $other")
    }
  }
  private def own(w: OwnWindows, grace: Long): (WindowSpec, AnyRef) = {
    ReadBack.add(w)
    (WindowSpec("time", w.size, grace), w)
  }
  protected def emit(n: Node): Option[EmitStrategy] =
    n.oneOf("emit", "every_update", "every_update", "window_close") match {
      case "window_close" =>
        if (n.opt("window").isEmpty) n.fail("emit", "needs a window") else Some(EmitStrategy.onWindowClose())
      case _ => None
    }

  protected def aggregation(n: Node): Unit = in(n) match {
    case t: T => tableAggregation(n, t)
    case i: S =>
      if (n.opt("subtractor").isDefined) n.fail("subtractor", "is for tables")
      val (g, key) = grouped(n, i, n.opt("group_by"), n.id, n.textOpt("repartition"))
      val w = window(n); val e = emit(n)
      if (n.kind == "aggregate" && n.opt("merger").isDefined != w.exists(_._1.kind == "session"))
        n.fail("merger", "is needed for sessions, and only there")
      val agg: DataType = n.kind match {
        case "count" => LongType; case "reduce" => i.value; case _ => Sql.parseType(n.text("type"), n, "type")
      }
      val out = KeyType(key.dataType, w.map(_._1))
      if (w.isDefined && key.window.isDefined) throw new Unsupported("a window over windowed keys")
      w.foreach(_ => doc.stores(n).foreach(s => checkTypes(s, out, agg)))
      lazy val init = initializer(n, agg)
      lazy val adder = aggregator(n.text("aggregator"), n, "aggregator", key, i.value, agg)
      lazy val reducer = reduction(n, "reducer", agg)
      val name = named(n.id)
      // With a Materialized that has no name, a count takes one number more.
      val counts = unnamed && doc.stores(n).isEmpty && !doc.isRead(n)
      val result: KTable[Any, Any] = (w.map(_._2) match {
        case None =>
          val m = materialized(n, key, agg)
          n.kind match {
            case "count" if counts => g.count()
            case "count" => g.count(name, m.asInstanceOf[Materialized[Any, java.lang.Long, KV]])
            case "reduce" => g.reduce(reducer, name, m)
            case _ => g.aggregate[Any](init, adder, name, m)
          }
        case Some(s: SessionWindows) =>
          var ws = g.windowedBy(s); e.foreach(x => ws = ws.emitStrategy(x))
          val m = windowStore[SS](n, "store.session", key, agg)
          n.kind match {
            case "count" if counts => ws.count()
            case "count" => ws.count(name, m.asInstanceOf[Materialized[Any, java.lang.Long, SS]])
            case "reduce" => ws.reduce(reducer, name, m)
            case _ => ws.aggregate[Any](init, adder, merger(n, key, agg), name, m)
          }
        case Some(s) =>
          var ws: TimeWindowedKStream[Any, Any] = s match {
            case x: SlidingWindows => g.windowedBy(x)
            case x: UnlimitedWindows => g.windowedBy(x)
            case x: TimeWindows => g.windowedBy(x)
            case x: OwnWindows => g.windowedBy(x)
            case x: ChosenWindows => g.windowedBy(x)
          }
          e.foreach(x => ws = ws.emitStrategy(x))
          val m = windowStore[WS](n, "store.window", key, agg)
          n.kind match {
            case "count" if counts => ws.count()
            case "count" => ws.count(name, m.asInstanceOf[Materialized[Any, java.lang.Long, WS]])
            case "reduce" => ws.reduce(reducer, name, m)
            case _ => ws.aggregate[Any](init, adder, name, m)
          }
      }).asInstanceOf[KTable[Any, Any]]
      done(n, T(result, out.copy(window = w.map(_._1).orElse(key.window)), agg))
    case _ => n.fail("in", "must be a stream or a table")
  }

  protected def reduction(n: Node, param: String, t: DataType): Reducer[Any] = {
    val f = fn(n, param, Seq("agg" -> t, "value" -> t), Some(t))
    (a, v) => f(a, v)
  }
  protected def merger(n: Node, key: KeyType, agg: DataType): Merger[Any, Any] = {
    val f = fn(n, "merger", Seq("key" -> key.seen, "left" -> agg, "right" -> agg), Some(agg))
    (k, a, b) => f(KeyType.see(k), a, b)
  }

  protected def tableAggregation(n: Node, i: T): Unit = {
    if (n.opt("window").isDefined) n.fail("window", "is for streams")
    if (n.opt("merger").isDefined) n.fail("merger", "is for sessions")
    emit(n)
    val by = Node(n.id, n.kind, n.req("group_by"))
    val (fk, fv) =
      (fnOf(by.text("key"), n, "group_by", record(i), None), fnOf(by.text("value"), n, "group_by", record(i), None))
    val key = KeyType(fk.dataType)
    val g = i.table.groupBy[Any, Any](
      ((k: Any, v: Any) => KeyValue.pair(fk.row(row(fk, k, v)), fv.row(row(fv, k, v)))): KeyValueMapper[
        Any,
        Any,
        KeyValue[Any, Any]
      ],
      Grouped.`with`[Any, Any](n.textOpt("repartition").getOrElse(nameOf(n.id)), key.serde, valueSerde(fv.dataType))
    )
    val agg: DataType = n.kind match {
      case "count" => LongType; case "reduce" => fv.dataType; case _ => Sql.parseType(n.text("type"), n, "type")
    }
    val m = materialized(n, key, agg)
    if (n.kind != "count") n.req("subtractor")
    val name = named(n.id + "-aggregate") // the node that maps has the id
    val result = (n.kind match {
      case "count" => g.count(name, m.asInstanceOf[Materialized[Any, java.lang.Long, KV]])
      case "reduce" => g.reduce(reduction(n, "reducer", agg), reduction(n, "subtractor", agg), name, m)
      case _ =>
        g.aggregate[Any](
          initializer(n, agg),
          aggregator(n.text("aggregator"), n, "aggregator", key, fv.dataType, agg),
          aggregator(n.text("subtractor"), n, "subtractor", key, fv.dataType, agg),
          name,
          m
        )
    }).asInstanceOf[KTable[Any, Any]]
    done(n, T(result, key, agg))
  }

  protected def cogroup(n: Node): Unit = {
    val agg = Sql.parseType(n.text("type"), n, "type")
    val parts = n.req("inputs").elements.asScala.map(Node(n.id, n.kind, _)).toSeq
    val groups = parts.map { p =>
      val i = stream(n, p.text("port"))
      val (g, key) = grouped(n, i, p.opt("group_by"), s"${n.id}-${p.text("port")}", p.textOpt("repartition"))
      (g, key, aggregator(p.text("aggregator"), n, "aggregator", key, i.value, agg))
    }
    if (groups.isEmpty) n.fail("inputs", "are missing")
    val key = groups.head._2
    groups.foreach(g => if (g._2 != key) n.fail("inputs", "the keys of the inputs differ"))
    val c = groups.tail.foldLeft(groups.head._1.cogroup[Any](groups.head._3))((c, g) => c.cogroup[Any](g._1, g._3))
    val init = initializer(n, agg)
    val w = window(n)
    if (emit(n).isDefined) n.fail("emit", "window_close is not there for cogroup")
    if (n.opt("merger").isDefined != w.exists(_._1.kind == "session"))
      n.fail("merger", "is needed for sessions, and only there")
    val out = KeyType(key.dataType, w.map(_._1))
    w.foreach(_ => doc.stores(n).foreach(s => checkTypes(s, out, agg)))
    val result: KTable[Any, Any] = (w.map(_._2) match {
      case None => c.aggregate(init, named(n.id), materialized(n, key, agg))
      case Some(s: SessionWindows) =>
        c.windowedBy(s).aggregate(init, merger(n, key, agg), named(n.id), windowStore[SS](n, "store.session", key, agg))
      case Some(s: SlidingWindows) =>
        c.windowedBy(s).aggregate(init, named(n.id), windowStore[WS](n, "store.window", key, agg))
      case Some(s: UnlimitedWindows) =>
        c.windowedBy(s).aggregate(init, named(n.id), windowStore[WS](n, "store.window", key, agg))
      case Some(s: TimeWindows) =>
        c.windowedBy(s).aggregate(init, named(n.id), windowStore[WS](n, "store.window", key, agg))
      case Some(s: OwnWindows) =>
        c.windowedBy(s).aggregate(init, named(n.id), windowStore[WS](n, "store.window", key, agg))
      case Some(s: ChosenWindows) =>
        c.windowedBy(s).aggregate(init, named(n.id), windowStore[WS](n, "store.window", key, agg))
    }).asInstanceOf[KTable[Any, Any]]
    done(n, T(result, out, agg))
  }

  protected def suppress(n: Node): Unit = {
    val i = table(n)
    val records = n.long("max_records"); val bytes = n.long("max_bytes")
    val until = n.oneOf("until", "", "window_closes", "time_limit")
    val full = n.oneOf("when_full", if (until == "time_limit") "emit" else "fail", "emit", "fail")
    if (records.exists(_ < 1) || bytes.exists(_ < 1)) n.fail("max_records", "must be at least 1")
    def eager: Suppressed.EagerBufferConfig = (records, bytes) match {
      case (Some(r), None) => Suppressed.BufferConfig.maxRecords(r)
      case (None, Some(b)) => Suppressed.BufferConfig.maxBytes(b)
      case (Some(r), Some(b)) => Suppressed.BufferConfig.maxRecords(r).withMaxBytes(b)
      case _ => null
    }
    def strict: Suppressed.StrictBufferConfig =
      if (eager == null) Suppressed.BufferConfig.unbounded() else eager.shutDownWhenFull()
    val name = nameOf(n.id)
    val s: Suppressed[Any] = until match {
      case "window_closes" =>
        if (n.opt("limit").isDefined) n.fail("limit", "is for time_limit")
        if (i.key.window.isEmpty) n.fail("until", "window_closes needs a windowed table")
        if (full == "emit") n.fail("when_full", "must be fail with window_closes")
        Suppressed.untilWindowCloses(strict).withName(name).asInstanceOf[Suppressed[Any]]
      case _ =>
        val limit = n.duration("limit").getOrElse(n.fail("limit", "is missing"))
        val buffered =
          if (full == "fail" || eager == null) Suppressed.untilTimeLimit[Any](ms(limit), strict)
          else Suppressed.untilTimeLimit[Any](ms(limit), eager.emitEarlyWhenFull())
        buffered.withName(name)
    }
    done(n, i.copy(table = i.table.suppress(s)))
  }
}
