package org.apache.spark.sql.millrace

import scala.collection.mutable

import org.apache.spark.sql.types._

/**
 * A field of a message. `kind`: a scalar of proto, `enum`, `message`, `timestamp` or `map` (whose `message` is its
 * entry). `implicitly`: without presence (proto3), so that a default value is not written.
 */
private[millrace] final class ProtoField(
    val name: String,
    val number: Int,
    val kind: String,
    val repeated: Boolean,
    val packed: Boolean,
    val implicitly: Boolean,
    val message: ProtoMessage,
    val symbols: Map[Int, String]
) extends Serializable {
  val numbers: Map[String, Int] = symbols.map(_.swap)
  val element: DataType = kind match {
    case "double" => DoubleType
    case "float" => FloatType
    case "int32" | "sint32" | "fixed32" | "sfixed32" => IntegerType
    case "uint32" | "int64" | "sint64" | "fixed64" | "sfixed64" => LongType
    case "uint64" => DecimalType(20, 0)
    case "bool" => BooleanType
    case "string" | "enum" => StringType
    case "bytes" => BinaryType
    case "timestamp" => TimestampType
    case "map" => MapType(message.fields(0).element, message.fields(1).element, valueContainsNull = true)
    case _ => message.dataType
  }
  val dataType: DataType = if (repeated && kind != "map") ArrayType(element, containsNull = true) else element

  /** 0 varint, 1 eight bytes, 2 length and bytes, 5 four bytes. */
  val wire: Int = kind match {
    case "double" | "fixed64" | "sfixed64" => 1
    case "float" | "fixed32" | "sfixed32" => 5
    case "string" | "bytes" | "message" | "timestamp" | "map" => 2
    case _ => 0
  }
}

private[millrace] final class ProtoMessage(val name: String, val fields: Array[ProtoField]) extends Serializable {
  lazy val dataType: StructType = StructType(fields.map(f => StructField(f.name, f.dataType)))
  private lazy val byNumber = fields.zipWithIndex.map { case (f, i) => f.number -> i }.toMap
  def indexOf(number: Int): Int = byNumber.getOrElse(number, -1)
}

/** Parses the message definitions of a .proto file. */
private[millrace] object Proto {
  private val tokens = "\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*'|[A-Za-z_.][\\w.]*|-?\\d[\\w.+-]*|\\S".r
  private val comments = "(?s)//[^\\n]*|/\\*.*?\\*/".r
  private val scalars = Set(
    "double",
    "float",
    "int32",
    "sint32",
    "fixed32",
    "sfixed32",
    "uint32",
    "int64",
    "sint64",
    "fixed64",
    "sfixed64",
    "uint64",
    "bool",
    "string",
    "bytes"
  )

  private final class Raw(val name: String, val proto3: Boolean) {
    val fields = mutable.ArrayBuffer[(String, Int, String, String, Option[Boolean])]()
  } // name, number, type, label, packed

  /** The message of that name, else the first one. Throws IllegalArgumentException. */
  def message(schema: SchemaText, name: Option[String]): ProtoMessage = {
    val r = readers(schema)
    val found = name match {
      case None => r.own.headOption
      case Some(n) => r.own.find(m => m.name == n || m.name.split('.').last == n)
    }
    r.made(
      found.getOrElse(
        throw new IllegalArgumentException(name.fold("there is no message in it")(n => s"there is no message $n in it"))
      ),
      Nil
    )
  }

  /**
   * The full name of the message at a path of indexes, as a registry's header has it: [1, 0] is the first one inside
   * the second one.
   */
  def nameAt(schema: SchemaText, path: Seq[Int]): Option[String] = {
    val own = readers(schema).own.map(_.name)
    def inside(outer: String): Seq[String] =
      own.filter(n => n.startsWith(outer) && !n.drop(outer.length).contains('.')).toSeq
    val top = own.filterNot(n => own.exists(o => n.startsWith(o + "."))).toSeq
    path.tail.foldLeft(top.lift(path.head))((found, i) => found.flatMap(n => inside(n + ".").lift(i)))
  }

  private def readers(schema: SchemaText): Reader = {
    def ts(text: String) = tokens.findAllIn(comments.replaceAllIn(text, " ")).toIndexedSeq
    val r = new Reader(ts(schema.text))
    r.file()
    r.own = r.messages.values.toSeq
    (schema.before :+ wellKnown).foreach { text =>
      val other = new Reader(ts(text))
      other.file()
      r.add(other)
    }
    r
  }

  /**
   * Messages of Google's own files, as they are there. Timestamp is a scalar here; Struct, Value and ListValue contain
   * themselves.
   */
  private val wellKnown =
    """syntax = "proto3"; package google.protobuf;
      |message Duration { int64 seconds = 1; int32 nanos = 2; }
      |message DoubleValue { double value = 1; }
      |message FloatValue { float value = 1; }
      |message Int64Value { int64 value = 1; }
      |message UInt64Value { uint64 value = 1; }
      |message Int32Value { int32 value = 1; }
      |message UInt32Value { uint32 value = 1; }
      |message BoolValue { bool value = 1; }
      |message StringValue { string value = 1; }
      |message BytesValue { bytes value = 1; }
      |message Any { string type_url = 1; bytes value = 2; }
      |message FieldMask { repeated string paths = 1; }
      |message Empty { }
      |""".stripMargin

  private final class Reader(ts: IndexedSeq[String]) {
    val messages = mutable.LinkedHashMap[String, Raw]()
    var own: Seq[Raw] = Nil
    def add(other: Reader): Unit = {
      other.messages.foreach { case (n, m) => if (!messages.contains(n)) messages(n) = m }
      enums ++= other.enums
    }
    private val enums = mutable.Map[String, Map[Int, String]]()
    private var at = 0
    private var proto3 = false

    private def take(): String = {
      if (at >= ts.size) throw new IllegalArgumentException("it ends too early")
      at += 1
      ts(at - 1)
    }
    private def skip(): Unit = {
      var depth = 0
      var more = true
      while (more) {
        val t = take()
        if ("{[(".contains(t)) depth += 1 else if ("}])".contains(t)) depth -= 1
        more = depth > 0 || (t != ";" && t != "}")
      }
    }

    def file(): Unit = {
      var space = ""
      while (at < ts.size) take() match {
        case "syntax" =>
          take()
          proto3 = take().contains("proto3")
          take()
        case "edition" =>
          proto3 = false
          skip()
        case "package" =>
          space = take() + "."
          take()
        case "message" => message(space)
        case "enum" => symbols(space)
        case ";" =>
        case _ => skip()
      }
    }
    private def message(outer: String): Unit = {
      val m = new Raw(outer + take(), proto3)
      messages(m.name) = m
      if (take() != "{") throw new IllegalArgumentException(s"the message ${m.name} has no body")
      body(m, oneof = false)
    }
    private def body(m: Raw, oneof: Boolean): Unit = {
      var t = take()
      while (t != "}") {
        t match {
          case "message" => message(m.name + ".")
          case "enum" => symbols(m.name + ".")
          case "oneof" =>
            take()
            take()
            body(m, oneof = true)
          case "option" | "reserved" | "extensions" | "extend" => skip()
          case ";" =>
          case first => field(m, first, oneof)
        }
        t = take()
      }
    }
    private def symbols(outer: String): Unit = {
      val name = outer + take()
      val found = mutable.Map[Int, String]()
      take()
      var t = take()
      while (t != "}") {
        if (t == "option" || t == "reserved") skip()
        else if (t != ";") { take(); val n = integer(take()); if (!found.contains(n)) found(n) = t; skip() }
        t = take()
      }
      enums(name) = found.toMap
    }
    private def integer(t: String): Int = try Integer.decode(t).intValue
    catch { case _: NumberFormatException => throw new IllegalArgumentException(s"$t is no number") }
    private def field(m: Raw, first: String, oneof: Boolean): Unit = {
      var (label, kind) = (if (oneof) "optional" else "", first)
      if (Set("repeated", "optional", "required")(first)) { label = first; kind = take() }
      if (kind == "map") { take(); val k = take(); take(); val v = take(); take(); label = s"map:$k"; kind = v }
      val name = take()
      if (take() != "=") throw new IllegalArgumentException(s"the field $name of ${m.name} has no number")
      val number = integer(take())
      val from = at
      skip()
      val options = ts.slice(from, at).mkString(" ")
      val packed =
        if (options.contains("packed = true")) Some(true)
        else if (options.contains("packed = false")) Some(false)
        else None
      m.fields += ((name, number, kind, label, packed))
    }

    def made(m: Raw, above: List[String]): ProtoMessage = {
      if (above.contains(m.name))
        throw new IllegalArgumentException(s"the message ${m.name} contains itself, which Spark has no type for")
      new ProtoMessage(
        m.name,
        m.fields.map { case (name, number, kind, label, packed) =>
          if (label.startsWith("map:")) {
            val entry = new ProtoMessage(
              s"$name entry",
              Array(
                one("key", 1, label.drop(4), "optional", None, m, above),
                one("value", 2, kind, "optional", None, m, above)
              )
            )
            new ProtoField(name, number, "map", repeated = true, packed = false, implicitly = false, entry, Map.empty)
          } else one(name, number, kind, label, packed, m, above)
        }.toArray
      )
    }
    private def one(
        name: String,
        number: Int,
        kind: String,
        label: String,
        packed: Option[Boolean],
        m: Raw,
        above: List[String]
    ): ProtoField = {
      val repeated = label == "repeated"
      val implicitly = m.proto3 && label == ""
      def field(k: String, inner: ProtoMessage, symbols: Map[Int, String]) = {
        val packs = repeated && packed.getOrElse(m.proto3) && !Set("string", "bytes", "message", "timestamp")(k)
        new ProtoField(
          name,
          number,
          k,
          repeated,
          packs,
          implicitly && inner == null && k != "timestamp",
          inner,
          symbols
        )
      }
      if (scalars(kind)) field(kind, null, Map.empty)
      else if (kind.stripPrefix(".") == "google.protobuf.Timestamp") field("timestamp", null, Map.empty)
      else {
        val scope = m.name.split('.')
        val candidates =
          if (kind.startsWith(".")) Seq(kind.drop(1))
          else (scope.length to 0 by -1).map(n => (scope.take(n) :+ kind).mkString("."))
        candidates.find(c => messages.contains(c) || enums.contains(c)) match {
          case Some(c) if messages.contains(c) => field("message", made(messages(c), m.name :: above), Map.empty)
          case Some(c) => field("enum", null, enums(c))
          case None => throw new IllegalArgumentException(s"the type $kind is not known")
        }
      }
    }
  }
}
