package oracle

import org.apache.kafka.clients.consumer.ConsumerRecord
import org.apache.kafka.streams._
import org.apache.kafka.streams.errors.StreamsException
import org.apache.kafka.streams.kstream._
import org.apache.kafka.streams.processor.{RecordContext, StateStore, TimestampExtractor, TopicNameExtractor}
import org.apache.kafka.streams.state.StoreBuilder
import org.apache.kafka.streams.processor.api.{ProcessorContext => _, _}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import scala.jdk.CollectionConverters._

/** Sources and sinks. */
trait SourceNodes extends BuildContext {
  protected def pythonOf(
      n: Node,
      inputs: Seq[PythonInput],
      key: KeyType,
      value: DataType,
      children: String => Seq[String]
  ): PythonSpec
  protected def storeBuilder(s: Node): StoreBuilder[_ <: StateStore]
  protected def source(n: Node): Unit = {
    val (kf, vf) = (Format.parse(n, "key"), Format.parse(n, "value"))
    val key = KeyType(kf.dataType)
    val shape = S(null, key, vf.dataType)
    val invalid = n.oneOf("invalid_timestamp", "fail", "fail", "skip", "partition_time")
    val expr = n.textOpt("timestamp").map { t =>
      val f = compiled(t, record(shape), n, "timestamp")
      f.dataType match {
        case TimestampType => (f, 1000L)
        case LongType => (f, 1L)
        case IntegerType => (compiled(t, record(shape), n, "timestamp", Some(LongType)), 1L)
        case other => n.fail("timestamp", s"gives ${other.catalogString}, needs TIMESTAMP or BIGINT")
      }
    }
    val extractor: TimestampExtractor = (r: ConsumerRecord[Object, Object], partitionTime: Long) => {
      val ts: Long = expr match {
        case None => r.timestamp
        case Some((f, unit)) =>
          val cols = Array[Any](
            KeyType.see(r.key),
            r.value,
            r.timestamp * 1000L,
            Meta.headers(r.headers),
            UTF8String.fromString(r.topic),
            r.partition,
            r.offset
          )
          f.row(cols) match { case null => -1L; case x => Math.floorDiv(x.asInstanceOf[Long], unit) }
      }
      if (ts >= 0) ts
      else
        invalid match {
          case "skip" => -1L
          case "partition_time" if partitionTime >= 0 => partitionTime
          case _ => throw new StreamsException(s"invalid timestamp $ts in ${r.topic}")
        }
    }
    val consumed = Release.startingAt(
      Consumed.`with`[Any, Any](kf.serde, vf.serde).withName(nameOf(n.id)).withTimestampExtractor(extractor),
      n.oneOf("start", "earliest", "earliest", "latest") == "latest"
    )
    n.kind match {
      case "source.stream" =>
        val topics = n.opt("topics").map(_.elements.asScala.map(_.asText).toSeq)
        val s = (topics, n.textOpt("topic_pattern")) match {
          case (Some(ts), None) if ts.nonEmpty =>
            ts.foreach(t => sourceFormats(t) = (kf, vf))
            builder.stream[Any, Any](ts.asJava, consumed)
          case (None, Some(p)) =>
            val pattern = java.util.regex.Pattern.compile(p)
            patterns += pattern -> (kf, vf)
            builder.stream[Any, Any](pattern, consumed)
          case _ => n.fail("topics", "topics or topic_pattern is needed")
        }
        done(n, S(s, key, vf.dataType))
      case "source.table" =>
        sourceFormats(n.text("topic")) = (kf, vf)
        val t =
          if (doc.stores(n).isEmpty && !doc.isRead(n)) builder.table[Any, Any](n.text("topic"), consumed)
          else builder.table[Any, Any](n.text("topic"), consumed, materialized(n, key, vf.dataType))
        done(n, T(t, key, vf.dataType))
      case "source.global_store" =>
        sourceFormats(n.text("topic")) = (kf, vf)
        val store = doc.stores(n).headOption.getOrElse(n.fail("store", "is missing"))
        val built = storeBuilder(store).withLoggingDisabled()
        val supplier: ProcessorSupplier[Any, Any, Any, Any] = doc.builtins.get(n.id) match {
          case Some(twin) =>
            val ctx = new ProcessorSpec(n, null, null, Seq(store.text("name")), _ => Nil)
            () => Processors.make(twin, ctx)
          case None =>
            val inputs = Seq(PythonInput("process", key.seen, vf.dataType))
            () => new PythonProcessor(pythonOf(n, inputs, key, vf.dataType, _ => Nil))
        }
        builder.addGlobalStore(
          built,
          n.text("topic"),
          consumed,
          supplier.asInstanceOf[ProcessorSupplier[Any, Any, Void, Void]]
        )
      case "source.global_table" =>
        sourceFormats(n.text("topic")) = (kf, vf)
        val g =
          if (doc.stores(n).isEmpty && !doc.isRead(n)) builder.globalTable[Any, Any](n.text("topic"), consumed)
          else
            builder.globalTable[Any, Any](
              n.text("topic"),
              consumed,
              materialized(n, key, vf.dataType, versioned = false)
            )
        done(n, G(g, key, vf.dataType))
    }
  }

  protected def sink(n: Node): Unit = {
    val all = updates(n)
    all.zipWithIndex.foreach { case (i, j) =>
      val s = i.stream
      val name = if (all.size > 1) s"${n.id}-$j" else n.id
      if (n.kind == "sink.print") s.foreach((_: Any, _: Any) => (), named(name))
      else {
        def format(p: String, t: DataType) = n
          .opt(p)
          .map { _ =>
            val f = Format.parse(n, p, Some(t))
            if (f.name != "json" && f.dataType != t && !f.name.endsWith("_windowed"))
              n.fail(p, s"format ${f.name} does not fit ${t.catalogString}")
            if (f.name == "json") new Format("json", t) else f
          }
          .getOrElse(Format.of(t))
        var produced = Produced
          .`with`[Any, Any](new SinkSerde(format("key", i.key.seen)), new SinkSerde(format("value", i.value)))
          .withName(nameOf(name))
        val partition = n.textOpt("partition").map(_ => fn(n, "partition", record(i), Some(IntegerType)))
        partition.foreach(f =>
          produced = Release.partitioned(produced, (k, v, _) => f.row(row(f, k, v)).asInstanceOf[Integer])
        )
        if (partition.isEmpty && i.key.window.isDefined) {
          val inner = Format.of(i.key.dataType)
          produced = Release.partitioned(
            produced,
            (k, _, count) =>
              org.apache.kafka.clients.producer.internals.BuiltInPartitioner
                .partitionForKey(inner.encode(k.asInstanceOf[Windowed[Any]].key), count)
          )
        }
        (n.textOpt("topic"), n.textOpt("topic_expression")) match {
          case (Some(t), None) => s.to(t, produced)
          case (None, Some(_)) =>
            val f = fn(n, "topic_expression", record(i), Some(StringType))
            s.to(
              (
                  (k: Any, v: Any, c: RecordContext) =>
                    f.row(
                      Array[Any](
                        KeyType.see(k),
                        v,
                        c.timestamp * 1000L,
                        Meta.headers(c.headers),
                        UTF8String.fromString(c.topic),
                        c.partition,
                        c.offset,
                        if (f.columns("$seed")) f.seed(c.topic, c.partition, c.offset) else null,
                        Meta.current.now * 1000L
                      )
                    ).toString
              ): TopicNameExtractor[Any, Any],
              produced
            )
          case _ => n.fail("topic", "topic or topic_expression is needed")
        }
      }
    }
  }
}
