package org.apache.spark.sql.millrace

import java.io.ByteArrayOutputStream

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, ArrayData, GenericArrayData, MapData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * A field of a message. `kind`: a scalar of proto, `enum`, `message`, `timestamp` or `map` (whose `message` is its entry).
 * `implicitly`: without presence (proto3), so that a default value is not written.
 */
private[millrace] final class ProtoField(val name: String, val number: Int, val kind: String, val repeated: Boolean, val packed: Boolean, val implicitly: Boolean,
    val message: ProtoMessage, val symbols: Map[Int, String]) extends Serializable {
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
  private val scalars = Set("double", "float", "int32", "sint32", "fixed32", "sfixed32", "uint32", "int64", "sint64", "fixed64", "sfixed64", "uint64", "bool", "string", "bytes")

  private final class Raw(val name: String, val proto3: Boolean) { val fields = mutable.ArrayBuffer[(String, Int, String, String, Option[Boolean])]() } // name, number, type, label, packed

  /** The message of that name, else the first one. Throws IllegalArgumentException. */
  def message(schema: SchemaText, name: Option[String]): ProtoMessage = {
    val r = readers(schema)
    val found = name match {
      case None => r.own.headOption
      case Some(n) => r.own.find(m => m.name == n || m.name.split('.').last == n)
    }
    r.made(found.getOrElse(throw new IllegalArgumentException(name.fold("there is no message in it")(n => s"there is no message $n in it"))), Nil)
  }

  /** The full name of the message at a path of indexes, as a registry's header has it: [1, 0] is the first one inside the second one. */
  def nameAt(schema: SchemaText, path: Seq[Int]): Option[String] = {
    val own = readers(schema).own.map(_.name)
    def inside(outer: String): Seq[String] = own.filter(n => n.startsWith(outer) && !n.drop(outer.length).contains('.')).toSeq
    val top = own.filterNot(n => own.exists(o => n.startsWith(o + "."))).toSeq
    path.tail.foldLeft(top.lift(path.head))((found, i) => found.flatMap(n => inside(n + ".").lift(i)))
  }

  private def readers(schema: SchemaText): Reader = {
    def ts(text: String) = tokens.findAllIn(comments.replaceAllIn(text, " ")).toIndexedSeq
    val r = new Reader(ts(schema.text))
    r.file()
    r.own = r.messages.values.toSeq
    (schema.before :+ wellKnown).foreach { text => val other = new Reader(ts(text)); other.file(); r.add(other) }
    r
  }

  /** Messages of Google's own files, as they are there. Timestamp is a scalar here; Struct, Value and ListValue contain themselves. */
  private val wellKnown =
    """syntax = "proto3"; package google.protobuf;
      |message Duration { int64 seconds = 1; int32 nanos = 2; }
      |message DoubleValue { double value = 1; } message FloatValue { float value = 1; } message Int64Value { int64 value = 1; } message UInt64Value { uint64 value = 1; }
      |message Int32Value { int32 value = 1; } message UInt32Value { uint32 value = 1; } message BoolValue { bool value = 1; } message StringValue { string value = 1; }
      |message BytesValue { bytes value = 1; } message Any { string type_url = 1; bytes value = 2; } message FieldMask { repeated string paths = 1; } message Empty { }
      |""".stripMargin

  private final class Reader(ts: IndexedSeq[String]) {
    val messages = mutable.LinkedHashMap[String, Raw]()
    var own: Seq[Raw] = Nil
    def add(other: Reader): Unit = { other.messages.foreach { case (n, m) => if (!messages.contains(n)) messages(n) = m }; enums ++= other.enums }
    private val enums = mutable.Map[String, Map[Int, String]]()
    private var at = 0
    private var proto3 = false

    private def take(): String = { if (at >= ts.size) throw new IllegalArgumentException("it ends too early"); at += 1; ts(at - 1) }
    private def skip(): Unit = { var depth = 0; var more = true; while (more) { val t = take(); if ("{[(".contains(t)) depth += 1 else if ("}])".contains(t)) depth -= 1; more = depth > 0 || (t != ";" && t != "}") } }

    def file(): Unit = {
      var space = ""
      while (at < ts.size) take() match {
        case "syntax" => take(); proto3 = take().contains("proto3"); take()
        case "edition" => proto3 = false; skip()
        case "package" => space = take() + "."; take()
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
          case "oneof" => take(); take(); body(m, oneof = true)
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
    private def integer(t: String): Int = try Integer.decode(t).intValue catch { case _: NumberFormatException => throw new IllegalArgumentException(s"$t is no number") }
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
      val packed = if (options.contains("packed = true")) Some(true) else if (options.contains("packed = false")) Some(false) else None
      m.fields += ((name, number, kind, label, packed))
    }

    def made(m: Raw, above: List[String]): ProtoMessage = {
      if (above.contains(m.name)) throw new IllegalArgumentException(s"the message ${m.name} contains itself, which Spark has no type for")
      new ProtoMessage(m.name, m.fields.map { case (name, number, kind, label, packed) =>
        if (label.startsWith("map:")) {
          val entry = new ProtoMessage(s"$name entry", Array(one("key", 1, label.drop(4), "optional", None, m, above), one("value", 2, kind, "optional", None, m, above)))
          new ProtoField(name, number, "map", repeated = true, packed = false, implicitly = false, entry, Map.empty)
        } else one(name, number, kind, label, packed, m, above)
      }.toArray)
    }
    private def one(name: String, number: Int, kind: String, label: String, packed: Option[Boolean], m: Raw, above: List[String]): ProtoField = {
      val repeated = label == "repeated"
      val implicitly = m.proto3 && label == ""
      def field(k: String, inner: ProtoMessage, symbols: Map[Int, String]) = {
        val packs = repeated && packed.getOrElse(m.proto3) && !Set("string", "bytes", "message", "timestamp")(k)
        new ProtoField(name, number, k, repeated, packs, implicitly && inner == null && k != "timestamp", inner, symbols)
      }
      if (scalars(kind)) field(kind, null, Map.empty)
      else if (kind.stripPrefix(".") == "google.protobuf.Timestamp") field("timestamp", null, Map.empty)
      else {
        val scope = m.name.split('.')
        val candidates = if (kind.startsWith(".")) Seq(kind.drop(1)) else (scope.length to 0 by -1).map(n => (scope.take(n) :+ kind).mkString("."))
        candidates.find(c => messages.contains(c) || enums.contains(c)) match {
          case Some(c) if messages.contains(c) => field("message", made(messages(c), m.name :: above), Map.empty)
          case Some(c) => field("enum", null, enums(c))
          case None => throw new IllegalArgumentException(s"the type $kind is not known")
        }
      }
    }
  }
}

/** Protobuf's binary form. A field that is not there is null, or its default where proto3 does not tell the two apart; a repeated one is an empty array. */
private[millrace] final class ProtobufCodec(message: ProtoMessage, text: SchemaText, registry: Option[Registry], known: Option[Int]) extends Codec("protobuf", message.dataType) {
  @transient private lazy val number = registry.map(r => known.getOrElse(r.id(text, "PROTOBUF")))
  /** The name of the message that a schema's number and a path of indexes stand for. */
  @transient private lazy val names = new java.util.HashMap[(Int, Seq[Int]), String]()

  override protected def write(v: Any): Array[Byte] = {
    val out = new ByteArrayOutputStream(128)
    number.foreach { n => out.write(0); val b = new Array[Byte](4); Bytes.putInt(b, 0, n); out.write(b); out.write(0) } // the first message: one zero
    writeMessage(out, v.asInstanceOf[InternalRow], message)
    out.toByteArray
  }

  override protected def read(b: Array[Byte]): Any = registry match {
    case Some(r) =>
      if (b.length < 6 || b(0) != 0) throw new BadBytes(s"the schema registry's header is missing (a zero byte, a number, a message): ${Registry.start(b)}")
      val in = new In(b, 5, b.length)
      val length = in.zigzag()
      if (length < 0 || length > b.length) throw new BadBytes(s"the registry's header has no sound path to its message: ${Registry.start(b)}")
      val path = if (length == 0) Seq(0) else Seq.fill(length.toInt)(in.zigzag().toInt)
      val id = Bytes.getInt(b, 1)
      var name = names.get((id, path))
      if (name == null) {
        name = Proto.nameAt(r.schema(id), path).getOrElse(throw new BadBytes(s"the schema $id has no message at ${path.mkString("[", ", ", "]")}"))
        names.put((id, path), name)
      }
      if (name != message.name) throw new BadBytes(s"the record is a $name, not a ${message.name}")
      readMessage(in, message)
    case None => readMessage(new In(b, 0, b.length), message)
  }

  private final class In(b: Array[Byte], var at: Int, val end: Int) {
    def more: Boolean = at < end
    private def need(n: Long): Unit = if (n < 0 || at + n > end) throw new BadBytes("the bytes end in the middle of a Protobuf field")
    def varint(): Long = {
      var (r, shift, more) = (0L, 0, true)
      while (more) { need(1); val x = b(at); at += 1; if (shift > 63) throw new BadBytes("a varint is too long"); r |= (x & 0x7fL) << shift; shift += 7; more = x < 0 }
      r
    }
    def zigzag(): Long = { val n = varint(); (n >>> 1) ^ -(n & 1) }
    def fixed32(): Int = { need(4); val r = (b(at) & 0xff) | (b(at + 1) & 0xff) << 8 | (b(at + 2) & 0xff) << 16 | b(at + 3) << 24; at += 4; r }
    def fixed64(): Long = { val low = fixed32() & 0xffffffffL; low | (fixed32().toLong << 32) }
    def part(): In = { val n = varint(); need(n); val r = new In(b, at, at + n.toInt); at += n.toInt; r }
    def bytes(): Array[Byte] = { val p = part(); java.util.Arrays.copyOfRange(b, p.at, p.end) }
    def skip(wire: Int): Unit = wire match {
      case 0 => varint()
      case 1 => fixed64()
      case 2 => part()
      case 5 => fixed32()
      case w => throw new BadBytes(s"the bytes are not Protobuf (wire type $w)")
    }
  }

  private def readMessage(in: In, m: ProtoMessage): InternalRow = {
    val row = new Array[Any](m.fields.length)
    val lists = new Array[mutable.ArrayBuffer[Any]](m.fields.length)
    m.fields.indices.foreach(i => if (m.fields(i).repeated) lists(i) = mutable.ArrayBuffer[Any]())
    while (in.more) {
      val tag = in.varint()
      val (n, wire) = ((tag >>> 3).toInt, (tag & 7).toInt)
      val i = m.indexOf(n)
      if (n == 0) throw new BadBytes("the bytes are not Protobuf (field number 0)")
      if (i < 0) in.skip(wire)
      else {
        val f = m.fields(i)
        if (f.repeated && wire == 2 && f.wire != 2) { val p = in.part(); while (p.more) lists(i) += scalar(p, f) }
        else if (wire != f.wire) throw new BadBytes(s"the field ${f.name} has wire type $wire, needs ${f.wire}")
        else { val v = scalar(in, f); if (f.repeated) lists(i) += v else row(i) = v }
      }
    }
    m.fields.indices.foreach { i =>
      val f = m.fields(i)
      if (f.kind == "map") {
        val entries = new java.util.LinkedHashMap[Any, Any]()
        lists(i).foreach { e => val r = e.asInstanceOf[InternalRow]; entries.put(or(r, 0, f.message.fields(0)), or(r, 1, f.message.fields(1))) }
        row(i) = new ArrayBasedMapData(new GenericArrayData(entries.keySet.toArray.asInstanceOf[Array[Any]]), new GenericArrayData(entries.values.toArray.asInstanceOf[Array[Any]]))
      } else if (f.repeated) row(i) = new GenericArrayData(lists(i).toArray[Any])
      else if (row(i) == null && f.implicitly) row(i) = default(f)
    }
    new GenericInternalRow(row)
  }
  /** Keys and values of maps have their defaults where they are not there. */
  private def or(r: InternalRow, i: Int, f: ProtoField): Any = if (r.isNullAt(i)) default(f) else r.get(i, f.element)
  private def default(f: ProtoField): Any = f.element match {
    case DoubleType => 0.0
    case FloatType => 0.0f
    case IntegerType => 0
    case LongType => 0L
    case BooleanType => false
    case StringType => UTF8String.fromString(if (f.kind == "enum") f.symbols.getOrElse(0, "") else "")
    case BinaryType => Array.emptyByteArray
    case d: DecimalType => Decimal(0L, d.precision, d.scale)
    case _ => null
  }

  private def scalar(in: In, f: ProtoField): Any = f.kind match {
    case "double" => java.lang.Double.longBitsToDouble(in.fixed64())
    case "float" => java.lang.Float.intBitsToFloat(in.fixed32())
    case "int32" => in.varint().toInt
    case "sint32" => in.zigzag().toInt
    case "fixed32" | "sfixed32" => in.fixed32()
    case "uint32" => in.varint() & 0xffffffffL
    case "int64" => in.varint()
    case "sint64" => in.zigzag()
    case "fixed64" | "sfixed64" => in.fixed64()
    case "uint64" => Decimal(new java.math.BigDecimal(new java.math.BigInteger(java.lang.Long.toUnsignedString(in.varint()))), 20, 0)
    case "bool" => in.varint() != 0L
    case "string" => UTF8String.fromBytes(in.bytes())
    case "bytes" => in.bytes()
    case "enum" => val n = in.varint().toInt; UTF8String.fromString(f.symbols.getOrElse(n, n.toString))
    case "timestamp" => timestamp(in.part())
    case _ => readMessage(in.part(), f.message)
  }
  private def timestamp(in: In): Long = {
    var (seconds, nanos) = (0L, 0L)
    while (in.more) in.varint().toInt match { case 8 => seconds = in.varint(); case 16 => nanos = in.varint(); case t => in.skip(t & 7) }
    Math.addExact(Math.multiplyExact(seconds, 1000000L), nanos / 1000L)
  }

  // ---- writing --------------------------------------------------------------------------------------------------------

  private def varint(out: ByteArrayOutputStream, value: Long): Unit = { var v = value; while ((v & ~0x7fL) != 0) { out.write(((v & 0x7f) | 0x80).toInt); v >>>= 7 }; out.write(v.toInt) }
  private def zigzag(out: ByteArrayOutputStream, v: Long): Unit = varint(out, (v << 1) ^ (v >> 63))
  private def fixed32(out: ByteArrayOutputStream, v: Int): Unit = (0 until 4).foreach(i => out.write(v >>> (8 * i)))
  private def fixed64(out: ByteArrayOutputStream, v: Long): Unit = (0 until 8).foreach(i => out.write((v >>> (8 * i)).toInt))
  private def sized(out: ByteArrayOutputStream)(body: ByteArrayOutputStream => Unit): Unit = { val b = new ByteArrayOutputStream(); body(b); varint(out, b.size.toLong); b.writeTo(out) }

  private def writeMessage(out: ByteArrayOutputStream, r: InternalRow, m: ProtoMessage): Unit = m.fields.indices.foreach { i =>
    val f = m.fields(i)
    if (!r.isNullAt(i)) {
      if (f.kind == "map") {
        val d = r.getMap(i)
        val (k, v) = (f.message.fields(0), f.message.fields(1))
        (0 until d.numElements()).foreach { j =>
          val entry = new GenericInternalRow(Array[Any](d.keyArray().get(j, k.element), if (d.valueArray().isNullAt(j)) null else d.valueArray().get(j, v.element)))
          varint(out, f.number.toLong << 3 | 2); sized(out)(writeMessage(_, entry, f.message))
        }
      } else if (f.repeated) {
        val a: ArrayData = r.getArray(i)
        if (f.packed) { if (a.numElements() > 0) { varint(out, f.number.toLong << 3 | 2); sized(out)(b => (0 until a.numElements()).foreach(j => writeScalar(b, element(a, j, f), f))) } }
        else (0 until a.numElements()).foreach { j => varint(out, f.number.toLong << 3 | f.wire); writeScalar(out, element(a, j, f), f) }
      } else {
        val v = r.get(i, f.element)
        if (!f.implicitly || v != default(f)) { varint(out, f.number.toLong << 3 | f.wire); writeScalar(out, v, f) }
      }
    }
  }
  private def element(a: ArrayData, i: Int, f: ProtoField): Any =
    if (a.isNullAt(i)) throw new IllegalArgumentException(s"element $i of ${f.name} is null, which Protobuf has no form for") else a.get(i, f.element)

  private def writeScalar(out: ByteArrayOutputStream, v: Any, f: ProtoField): Unit = f.kind match {
    case "double" => fixed64(out, java.lang.Double.doubleToRawLongBits(v.asInstanceOf[Double]))
    case "float" => fixed32(out, java.lang.Float.floatToRawIntBits(v.asInstanceOf[Float]))
    case "int32" => varint(out, v.asInstanceOf[Int].toLong)
    case "sint32" => zigzag(out, v.asInstanceOf[Int].toLong)
    case "fixed32" | "sfixed32" => fixed32(out, v.asInstanceOf[Int])
    case "uint32" =>
      val n = v.asInstanceOf[Long]
      if (n < 0 || n > 0xffffffffL) throw new IllegalArgumentException(s"$n of ${f.name} does not fit uint32")
      varint(out, n)
    case "int64" => varint(out, v.asInstanceOf[Long])
    case "sint64" => zigzag(out, v.asInstanceOf[Long])
    case "fixed64" | "sfixed64" => fixed64(out, v.asInstanceOf[Long])
    case "uint64" =>
      val n = v.asInstanceOf[Decimal].toJavaBigDecimal.toBigInteger
      if (n.signum < 0 || n.bitLength > 64) throw new IllegalArgumentException(s"$n of ${f.name} does not fit uint64")
      varint(out, n.longValue)
    case "bool" => out.write(if (v.asInstanceOf[Boolean]) 1 else 0)
    case "string" => val b = v.asInstanceOf[UTF8String].getBytes; varint(out, b.length.toLong); out.write(b)
    case "bytes" => val b = v.asInstanceOf[Array[Byte]]; varint(out, b.length.toLong); out.write(b)
    case "enum" => varint(out, f.numbers.getOrElse(v.toString, throw new IllegalArgumentException(s"`$v` of ${f.name} is no symbol of its enum")).toLong)
    case "timestamp" =>
      val t = v.asInstanceOf[Long]
      sized(out) { b =>
        val (s, n) = (Math.floorDiv(t, 1000000L), Math.floorMod(t, 1000000L) * 1000L)
        if (s != 0) { b.write(8); varint(b, s) }
        if (n != 0) { b.write(16); varint(b, n) }
      }
    case _ => sized(out)(writeMessage(_, v.asInstanceOf[InternalRow], f.message))
  }
}
