package oracle

import org.apache.kafka.streams._
import org.apache.kafka.streams.kstream._
import org.apache.kafka.streams.processor.StateStore
import org.apache.kafka.streams.processor.api.{ProcessorContext => _, _}
import org.apache.kafka.streams.state.{StoreBuilder, Stores}
import org.apache.spark.sql.types._
import scala.collection.mutable
import scala.jdk.CollectionConverters._

/** Nodes of the processor API and the stores that they use. */
trait ProcessorNodes extends BuildContext with SourceNodes {
  protected def process(n: Node): Unit = {
    val edgesIn = doc.inputs(n)
    val given = updates(n, edgesIn.map(resolve))
    val methods = edgesIn.map(e => if (e.targetPort == "in") "process" else e.targetPort)
    val inputs = given.zip(methods).map { case (i, method) => PythonInput(method, i.key.seen, i.value) }
    val apart = methods.distinct.size > 1
    val all =
      if (!apart) given
      else
        given.zipWithIndex.map { case (i, j) =>
          S(i.stream.mapValues[Any](((v: Any) => From(j, v)): ValueMapper[Any, Any], named(s"${n.id}-input-$j")), i.key, i.value)
        }
    if (!apart) all.foreach(o =>
      if (o.key != all.head.key || o.value != all.head.value) n.fail("in", "the types of the inputs differ")
    )
    val i =
      if (all.size == 1) all.head
      else
        typed(all.head.copy(stream = all.tail.zipWithIndex.foldLeft(all.head.stream) { case (a, (b, j)) =>
          a.merge(b.stream, named(s"${n.id}-merge-$j"))
        }))
    val out = n.opt("output").map(o => Node(n.id, n.kind, o)).getOrElse(n.fail("output", "is missing"))
    val key = out.textOpt("key").map(t => KeyType(Sql.parseType(t, n, "output"))).getOrElse(i.key)
    val value = out.textOpt("value").map(Sql.parseType(_, n, "output")).getOrElse(i.value)
    val stores = doc.stores(n)
    stores.foreach(addStore)
    val own = stores.map(_.text("name"))
    val names = own ++ doc.reads(n).map(doc.storeName)
    // Every processor can use a global store, and none can be connected to one.
    val connected = own ++ doc.reads(n).filterNot(_.kind.startsWith("source.global")).map(doc.storeName)
    val ports = n.opt("outputs").map(_.elements.asScala.map(_.asText).toSeq).getOrElse(Seq("out"))
    val edges = doc.outgoing(n)
    val direct = ports == Seq("out")
    /* With several output ports, every outgoing edge gets a pass-through child, so that a record can be sent to the
     * children of one port. */
    def children(port: String): Seq[String] =
      edges.filter(_.sourcePort == port).map(e => s"${n.id}-${e.sourcePort}-${e.index}")
    val ctx = new ProcessorSpec(n, key.dataType, value, names, port => if (direct) Nil else children(port))
    val fixed = n.kind == "process_values"
    val k = if (fixed) i.key else key
    val twin = doc.builtins.get(n.id)
    def code = pythonOf(n, inputs, k, value, ctx.children)
    // Without a name, process() asks for the next one and passes it on.
    def nodeName(kind: String): Named = if (!unnamed) named(n.id) else Named.as(nextName(s"KSTREAM-$kind-"))
    val s: KStream[Any, Any] =
      if (fixed)
        i.stream.processValues[Any](
          (() => twin.map(Processors.fixed(_, ctx)).getOrElse(new PythonValues(code))): FixedKeyProcessorSupplier[Any, Any, Any],
          nodeName("PROCESSVALUES"),
          connected: _*
        )
      else
        i.stream.process[Any, Any](
          (() => twin.map(Processors.make(_, ctx)).getOrElse(new PythonProcessor(code))): ProcessorSupplier[Any, Any, Any, Any],
          nodeName("PROCESSOR"),
          connected: _*
        )
    if (direct) done(n, S(s, k, value))
    else
      edges.foreach(e =>
        done(
          n,
          S(s.peek((_: Any, _: Any) => (), named(s"${n.id}-${e.sourcePort}-${e.index}")), k, value),
          s"${e.sourcePort}#${e.index}"
        )
      )
  }

  override protected def pythonOf(
      n: Node,
      inputs: Seq[PythonInput],
      key: KeyType,
      value: DataType,
      children: String => Seq[String]
  ): PythonSpec = {
    def own(s: Node, owner: Option[String]) = {
      def t(p: String) = Sql.parseType(s.text(p), s, p)
      val kind = s.kind.stripPrefix("store.")
      PythonStoreSpec(s.text("name"), kind, t("key_type"), t("value_type"), s.bool("headers", false), owner, false)
    }
    def table(r: Node) = {
      val out = outs((r.id, "out"))
      val kind = out.key.window.map(_.kind) match {
        case None if doc.stores(r).exists(_.kind == "store.versioned") => "versioned"
        case None => "key_value"
        case Some("session") => "session"
        case Some(_) => "window"
      }
      val timed = kind == "key_value" || kind == "window"
      PythonStoreSpec(doc.storeName(r), kind, out.key.dataType, out.value, headers = false, Some(r.id), timed)
    }
    val read = doc.reads(n).map { r =>
      if (r.kind == "source.global_store") own(doc.stores(r).head, Some(r.id)) else table(r)
    }
    val ports = n.opt("outputs").map(_.elements.asScala.map(_.asText).toSeq).filter(_.nonEmpty).getOrElse(Seq("out"))
    new PythonSpec(python, n, inputs, key, value, ports, doc.stores(n).map(own(_, None)) ++ read, children)
  }

  protected val added = mutable.Set[(StreamsBuilder, String)]()
  protected def addStore(s: Node): Unit = if (added.add((builder, s.text("name")))) {
    val b = storeBuilder(s)
    if (s.bool("logging", true)) b.withLoggingEnabled(config(s)) else b.withLoggingDisabled()
    builder.addStateStore(b)
  }

  override protected def storeBuilder(s: Node): StoreBuilder[_ <: StateStore] = {
    val name = s.text("name")
    def t(p: String) = Sql.parseType(s.text(p), s, p)
    val (kt, vt) = (t("key_type"), t("value_type"))
    val (ks, vs) = (KeyType(kt).serde, valueSerde(vt))
    val persistent = s.bool("persistent", true)
    def d(p: String) = ms(s.duration(p).getOrElse(s.fail(p, "is missing")))
    val headers = s.bool("headers", false)
    val b: StoreBuilder[_ <: StateStore] = s.kind match {
      case "store.key_value" if headers =>
        storeTypes(name) = (KeyType(kt), vt)
        HeaderStores.keyValue(name, ks, vs)
      case "store.window" if headers =>
        storeTypes(name) = (KeyType(kt, Some(WindowSpec("time", d("window_size").toMillis, 0))), vt)
        HeaderStores.window(name, d("retention"), d("window_size"), ks, vs)
      case "store.session" if headers =>
        storeTypes(name) = (KeyType(kt, Some(WindowSpec("session", 0, 0))), vt)
        HeaderStores.session(name, d("retention"), ks, vs)
      case _ if headers => throw new Unsupported(s"headers in a ${s.kind}")
      case "store.key_value" =>
        storeTypes(name) = (KeyType(kt), vt)
        Stores.keyValueStoreBuilder(
          if (persistent) Stores.persistentKeyValueStore(name) else Stores.inMemoryKeyValueStore(name),
          ks,
          vs
        )
      case "store.window" =>
        storeTypes(name) = (KeyType(kt, Some(WindowSpec("time", d("window_size").toMillis, 0))), vt)
        val dup = s.bool("retain_duplicates", false)
        Stores.windowStoreBuilder(
          if (persistent) Stores.persistentWindowStore(name, d("retention"), d("window_size"), dup)
          else Stores.inMemoryWindowStore(name, d("retention"), d("window_size"), dup),
          ks,
          vs
        )
      case "store.session" =>
        storeTypes(name) = (KeyType(kt, Some(WindowSpec("session", 0, 0))), vt)
        Stores.sessionStoreBuilder(
          if (persistent) Stores.persistentSessionStore(name, d("retention"))
          else Stores.inMemorySessionStore(name, d("retention")),
          ks,
          vs
        )
      case "store.versioned" =>
        storeTypes(name) = (KeyType(kt), vt)
        Stores.versionedKeyValueStoreBuilder(
          Stores.persistentVersionedKeyValueStore(name, d("history_retention")),
          ks,
          vs
        )
    }
    if (s.bool("caching", false)) b.withCachingEnabled()
    b
  }
}
