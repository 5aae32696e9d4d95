package org.apache.spark.sql.millrace

import java.io.ByteArrayOutputStream
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64

import com.fasterxml.jackson.core.{JsonFactory, JsonGenerator, JsonParser, JsonToken}
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, ArrayData, DateTimeUtils, GenericArrayData, MapData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** Bytes that do not fit their format. */
final class BadBytes(override val why: Why) extends RuntimeException(why.message) with Explained

/** Converts between the bytes on Kafka and Catalyst's values. Null is null both ways. Not thread-safe. */
abstract class Codec(val format: String, val dataType: DataType) extends Serializable {
  protected def write(v: Any): Array[Byte]
  protected def read(b: Array[Byte]): Any
  final def encode(v: Any): Array[Byte] = if (v == null) null else write(v)

  /** Throws [[BadBytes]] for bytes that do not fit the format. */
  final def decode(b: Array[Byte]): Any = if (b == null) null else read(b)
}

object Codec {
  private val simple: Map[String, DataType] = Map(
    "string" -> StringType,
    "integer" -> IntegerType,
    "long" -> LongType,
    "float" -> FloatType,
    "double" -> DoubleType,
    "boolean" -> BooleanType,
    "bytes" -> BinaryType
  )

  /** The codec of the format that fits a type: its own, or JSON. */
  def of(t: DataType): Codec = make(simple.collectFirst { case (f, `t`) => f }.getOrElse("json"), t)

  /**
   * The codec of keys in stores and on repartition edges: a window's bounds follow the inner key, as Kafka's windowed
   * serdes write them.
   */
  def key(k: KeyType): Codec = k.window match {
    case None => of(k.dataType)
    case Some(w) => new WindowedCodec(of(k.dataType), w, k.seen)
  }

  /** Parses a format of the document, `{"format": "json", "schema": "a INT"}`; `default`: the type if it has none. */
  def parse(j: JsonNode, default: Option[DataType] = None): Codec = {
    val f = j.path("format").asText
    simple.get(f) match {
      case Some(t) => make(f, t)
      case None if f == "json" =>
        val t = Option(j.get("schema")).filterNot(_.isNull).map(s => Expressions.parseType(s.asText)).orElse(default)
        make(f, t.getOrElse(throw new Expressions.Invalid("format json needs a schema", "SCHEMA")))
      case None if f == "time_windowed" || f == "session_windowed" => windowed(f, j, default)
      case None => Formats.parse(f, j, default)
    }
  }

  /** A key with its window, as Kafka's serializers of windowed keys write it; the format of the key is `inner`. */
  private def windowed(f: String, j: JsonNode, default: Option[DataType]): Codec = {
    val key = default.collect { case s: StructType if s.nonEmpty => s.head.dataType }
    val inner = Json.mapper.createObjectNode().put("format", j.path("inner").asText)
    Option(j.get("schema")).foreach(s => inner.set[JsonNode]("schema", s))
    val codec = parse(inner, key)
    val size = j.path("window_size").asLong
    // Without a size, the end of a window is not known.
    val kind = if (f == "session_windowed") "session" else if (size > 0) "time" else "unlimited"
    val window = WindowSpec(kind, size, 0L)
    new WindowedCodec(codec, window, Windowed.typeOf(codec.dataType), f)
  }

  private[millrace] def make(name: String, t: DataType): Codec = name match {
    case "string" =>
      new Codec(name, t) {
        def write(v: Any): Array[Byte] = v.asInstanceOf[UTF8String].getBytes
        def read(b: Array[Byte]): Any = UTF8String.fromBytes(b)
      }
    case "integer" =>
      new Codec(name, t) {
        def write(v: Any): Array[Byte] = { val r = new Array[Byte](4); Bytes.putInt(r, 0, v.asInstanceOf[Int]); r }
        def read(b: Array[Byte]): Any = { sized(format, b, 4); Bytes.getInt(b, 0) }
      }
    case "long" =>
      new Codec(name, t) {
        def write(v: Any): Array[Byte] = { val r = new Array[Byte](8); Bytes.putLong(r, 0, v.asInstanceOf[Long]); r }
        def read(b: Array[Byte]): Any = { sized(format, b, 8); Bytes.getLong(b, 0) }
      }
    case "float" =>
      new Codec(name, t) {
        def write(v: Any): Array[Byte] = {
          val r = new Array[Byte](4)
          Bytes.putInt(r, 0, java.lang.Float.floatToRawIntBits(v.asInstanceOf[Float]))
          r
        }
        def read(b: Array[Byte]): Any = { sized(format, b, 4); java.lang.Float.intBitsToFloat(Bytes.getInt(b, 0)) }
      }
    case "double" =>
      new Codec(name, t) {
        def write(v: Any): Array[Byte] = {
          val r = new Array[Byte](8)
          Bytes.putLong(r, 0, java.lang.Double.doubleToRawLongBits(v.asInstanceOf[Double]))
          r
        }
        def read(b: Array[Byte]): Any = { sized(format, b, 8); java.lang.Double.longBitsToDouble(Bytes.getLong(b, 0)) }
      }
    case "boolean" =>
      new Codec(name, t) {
        def write(v: Any): Array[Byte] = Array(if (v.asInstanceOf[Boolean]) 1.toByte else 0.toByte)
        def read(b: Array[Byte]): Any = {
          sized(format, b, 1)
          if (b(0) == 0) false
          else if (b(0) == 1) true
          else throw new BadBytes(Why("bytes_boolean", s"the byte ${b(0)} is not a boolean", "found" -> b(0)))
        }
      }
    case "bytes" =>
      new Codec(name, t) {
        def write(v: Any): Array[Byte] = v.asInstanceOf[Array[Byte]]
        def read(b: Array[Byte]): Any = b
      }
    case _ =>
      new Codec(name, t) {
        @transient private lazy val short = JsonBytes.of(t)
        def write(v: Any): Array[Byte] = {
          val b = if (short == null) null else short.bytes(v)
          if (b == null) Json.bytes(v, t) else b
        }
        def read(b: Array[Byte]): Any = {
          val v = if (short == null) null else short.parse(b)
          if (v == null) Json.parse(b, t) else v
        }
      }
  }

  private def sized(format: String, b: Array[Byte], n: Int): Unit =
    if (b.length != n)
      throw new BadBytes(
        Why(
          "bytes_size",
          s"format $format needs $n bytes, found ${b.length}",
          "format" -> format,
          "needed" -> n,
          "found" -> b.length
        )
      )
}

/** Windowed keys: inner key, start (time, sliding, unlimited) or inner key, end, start (session), 8 bytes each. */
private[millrace] final class WindowedCodec(
    inner: Codec,
    window: WindowSpec,
    seen: DataType,
    name: String = "windowed"
) extends Codec(name, seen) {
  override def write(v: Any): Array[Byte] = {
    if (v.asInstanceOf[InternalRow].isNullAt(1))
      throw new BadBytes(Why("key_without_window", "a windowed key needs a window, found null"))
    val k = inner.encode(Windowed.key(v, inner.dataType))
    val key = if (k == null) Array.emptyByteArray else k
    if (window.kind == "session") Bytes.concat(key, Windowed.endMs(v), Windowed.startMs(v))
    else Bytes.concat(key, Windowed.startMs(v))
  }
  override def read(b: Array[Byte]): Any = {
    val tail = if (window.kind == "session") 16 else 8
    if (b.length < tail)
      throw new BadBytes(
        Why(
          "bytes_window",
          s"a windowed key needs at least $tail bytes, found ${b.length}",
          "needed" -> tail,
          "found" -> b.length
        )
      )
    val key = inner.decode(java.util.Arrays.copyOf(b, b.length - tail))
    window.kind match {
      case "session" => Windowed(key, Bytes.getLong(b, b.length - 8), Bytes.getLong(b, b.length - 16))
      case "unlimited" => Windowed(key, Bytes.getLong(b, b.length - 8), null)
      case _ =>
        val start = Bytes.getLong(b, b.length - 8)
        Windowed(key, start, if (window.windows == null) start + window.size else window.windows.end(start))
    }
  }

  /** The bytes of the inner key, which determine the partition [PL8]. */
  private[millrace] def innerBytes(v: Any): Array[Byte] = inner.encode(Windowed.key(v, inner.dataType))
}

/** Reads and writes JSON that must fit its type. Missing fields are null, unknown ones are skipped. */
object Json {
  private[millrace] val mapper = new ObjectMapper()
  private val factory: JsonFactory = mapper.getFactory

  def parse(bytes: Array[Byte], t: DataType): Any = {
    val p = factory.createParser(bytes)
    try {
      if (p.nextToken() == null) throw new BadBytes(Why("json_missing", "there is no JSON value"))
      val v = read(p, t)
      if (p.nextToken() != null) throw new BadBytes(Why("json_more", "more than one JSON value"))
      v
    } catch {
      case e: com.fasterxml.jackson.core.JsonProcessingException => invalid(e.getOriginalMessage)
      case e: java.io.IOException => invalid(e.getMessage)
      case e: ArithmeticException => invalid(e.getMessage)
      case e: IllegalArgumentException => invalid(e.getMessage)
      case e: java.time.DateTimeException => invalid(e.getMessage)
    } finally p.close()
  }
  private def invalid(reason: String): Nothing = throw new BadBytes(Why("json_invalid", reason, "reason" -> reason))

  private def bad(p: JsonParser, t: DataType): Nothing = {
    val (root, path) = (p.getParsingContext.inRoot, p.getParsingContext.pathAsPointer)
    val (place, at, needed) = (if (root) "/" else path, if (root) "" else s" at $path", t.sql)
    throw new BadBytes(p.currentToken match {
      case JsonToken.START_OBJECT =>
        Why("json_object", s"found an object$at, needs $needed", "place" -> place, "needed" -> needed)
      case JsonToken.START_ARRAY =>
        Why("json_array", s"found an array$at, needs $needed", "place" -> place, "needed" -> needed)
      case token =>
        val text = if (token == JsonToken.VALUE_STRING) s"\"${p.getText.take(40)}\"" else p.getText
        val found = if (token == JsonToken.VALUE_STRING) s"the text $text" else text
        Why("json_type", s"found $found$at, needs $needed", "place" -> place, "needed" -> needed, "found" -> text)
    })
  }

  private[millrace] def read(p: JsonParser, t: DataType): Any = {
    val token = p.currentToken
    if (token == JsonToken.VALUE_NULL) null
    else
      t match {
        case StringType =>
          token match {
            case JsonToken.VALUE_STRING => UTF8String.fromString(p.getText)
            case JsonToken.START_OBJECT | JsonToken.START_ARRAY =>
              UTF8String.fromString(mapper.writeValueAsString(mapper.readTree[JsonNode](p)))
            case _ => UTF8String.fromString(p.getText)
          }
        case LongType => if (token == JsonToken.VALUE_NUMBER_INT) p.getLongValue else bad(p, t)
        case IntegerType => if (token == JsonToken.VALUE_NUMBER_INT) p.getIntValue else bad(p, t)
        case DoubleType =>
          if (token.isNumeric) p.getDoubleValue else if (token == JsonToken.VALUE_STRING) special(p, t) else bad(p, t)
        case FloatType =>
          if (token.isNumeric) p.getFloatValue
          else if (token == JsonToken.VALUE_STRING) special(p, t).toFloat
          else bad(p, t)
        case BooleanType => if (token.isBoolean) p.getBooleanValue else bad(p, t)
        case ShortType => if (token == JsonToken.VALUE_NUMBER_INT) p.getShortValue else bad(p, t)
        case ByteType => if (token == JsonToken.VALUE_NUMBER_INT) p.getByteValue else bad(p, t)
        case d: DecimalType => if (token.isNumeric) Decimal(p.getDecimalValue, d.precision, d.scale) else bad(p, t)
        case TimestampType | TimestampNTZType =>
          token match {
            case JsonToken.VALUE_NUMBER_INT => Math.multiplyExact(p.getLongValue, 1000L)
            case JsonToken.VALUE_STRING => iso(p, t)
            case _ => bad(p, t)
          }
        case DateType =>
          if (token == JsonToken.VALUE_STRING) DateTimeUtils.localDateToDays(java.time.LocalDate.parse(p.getText))
          else bad(p, t)
        case BinaryType => if (token == JsonToken.VALUE_STRING) Base64.getDecoder.decode(p.getText) else bad(p, t)
        case s: StructType => readStruct(p, s)
        case ArrayType(e, _) =>
          if (token != JsonToken.START_ARRAY) bad(p, t)
          val out = new java.util.ArrayList[Any]()
          while (p.nextToken() != JsonToken.END_ARRAY) out.add(read(p, e))
          new GenericArrayData(out.toArray.asInstanceOf[Array[Any]])
        case MapType(k, v, _) =>
          if (token != JsonToken.START_OBJECT) bad(p, t)
          val entries = new java.util.LinkedHashMap[Any, Any]()
          while (p.nextToken() != JsonToken.END_OBJECT) {
            val name = key(p, k, t)
            p.nextToken()
            entries.put(name, read(p, v))
          }
          new ArrayBasedMapData(
            new GenericArrayData(entries.keySet.toArray.asInstanceOf[Array[Any]]),
            new GenericArrayData(entries.values.toArray.asInstanceOf[Array[Any]])
          )
        case _ => bad(p, t)
      }
  }

  /** A key of a map, which is text in JSON. */
  private def key(p: JsonParser, k: DataType, t: DataType): Any = k match {
    case StringType => UTF8String.fromString(p.currentName)
    case ByteType | ShortType | IntegerType | LongType | BooleanType | _: DecimalType =>
      Option(parse(p.currentName.getBytes(UTF_8), k)).getOrElse(bad(p, t))
    case _ => bad(p, t)
  }

  private def readStruct(p: JsonParser, s: StructType): InternalRow = {
    if (p.currentToken != JsonToken.START_OBJECT) bad(p, s)
    val fields = s.fields
    val row = new Array[Any](fields.length)
    var expected = 0 // fields mostly come in the order of the schema
    while (p.nextToken() != JsonToken.END_OBJECT) {
      val name = p.currentName
      var i = -1
      if (expected < fields.length && fields(expected).name == name) i = expected
      else { i = fields.length - 1; while (i >= 0 && fields(i).name != name) i -= 1 }
      p.nextToken()
      if (i >= 0) { row(i) = read(p, fields(i).dataType); expected = i + 1 }
      else p.skipChildren()
    }
    new GenericInternalRow(row)
  }

  private def special(p: JsonParser, t: DataType): Double = p.getText match {
    case "NaN" => Double.NaN
    case "Infinity" | "+Infinity" => Double.PositiveInfinity
    case "-Infinity" => Double.NegativeInfinity
    case _ => bad(p, t)
  }

  private val isoForm = java.util.regex.Pattern.compile("[+-]?\\d{4,}-\\d\\d(-\\d\\d)?([T ].*)?")
  private def iso(p: JsonParser, t: DataType): Long = {
    val text = p.getText
    if (!isoForm.matcher(text).matches) bad(p, t)
    DateTimeUtils.stringToTimestamp(UTF8String.fromString(text), java.time.ZoneOffset.UTC).getOrElse(bad(p, t))
  }

  def bytes(v: Any, t: DataType): Array[Byte] = {
    val out = new ByteArrayOutputStream(128)
    val g = factory.createGenerator(out)
    write(g, v, t)
    g.close()
    out.toByteArray
  }

  def node(v: Any, t: DataType): JsonNode = mapper.readTree(bytes(v, t))

  def write(g: JsonGenerator, v: Any, t: DataType): Unit = if (v == null) g.writeNull()
  else
    t match {
      case StringType =>
        val s = v.asInstanceOf[UTF8String]
        if (s.isValid) { val b = s.getBytes; g.writeUTF8String(b, 0, b.length) }
        else g.writeString(s.toString) // bytes that are not UTF-8 become U+FFFD
      case IntegerType => g.writeNumber(v.asInstanceOf[Int])
      case LongType => g.writeNumber(v.asInstanceOf[Long])
      case ShortType => g.writeNumber(v.asInstanceOf[Short])
      case ByteType => g.writeNumber(v.asInstanceOf[Byte].toInt)
      case DoubleType =>
        val d = v.asInstanceOf[Double]
        if (d.isNaN || d.isInfinite) g.writeString(d.toString) else g.writeNumber(d)
      case FloatType =>
        val d = v.asInstanceOf[Float]
        if (d.isNaN || d.isInfinite) g.writeString(d.toString) else g.writeNumber(d)
      case BooleanType => g.writeBoolean(v.asInstanceOf[Boolean])
      case _: DecimalType => g.writeNumber(v.asInstanceOf[Decimal].toJavaBigDecimal)
      case TimestampType | TimestampNTZType => g.writeNumber(Math.floorDiv(v.asInstanceOf[Long], 1000L))
      case DateType => g.writeString(java.time.LocalDate.ofEpochDay(v.asInstanceOf[Int].toLong).toString)
      case BinaryType => g.writeString(Base64.getEncoder.encodeToString(v.asInstanceOf[Array[Byte]]))
      case ArrayType(e, _) =>
        val a = v.asInstanceOf[ArrayData]
        g.writeStartArray()
        var i = 0
        while (i < a.numElements()) { write(g, if (a.isNullAt(i)) null else a.get(i, e), e); i += 1 }
        g.writeEndArray()
      case MapType(k, e, _) =>
        val m = v.asInstanceOf[MapData]
        val (ks, vs) = (m.keyArray(), m.valueArray())
        g.writeStartObject()
        var i = 0
        while (i < m.numElements()) {
          g.writeFieldName(String.valueOf(ks.get(i, k)))
          write(g, if (vs.isNullAt(i)) null else vs.get(i, e), e)
          i += 1
        }
        g.writeEndObject()
      case s: StructType =>
        val r = v.asInstanceOf[InternalRow]
        g.writeStartObject()
        var i = 0
        while (i < s.length) {
          val f = s.fields(i)
          g.writeFieldName(f.name)
          write(g, if (r.isNullAt(i)) null else r.get(i, f.dataType), f.dataType)
          i += 1
        }
        g.writeEndObject()
      case _ => throw new IllegalArgumentException(s"the type ${t.sql} cannot be written as JSON")
    }
}

/** Packs one value into the bytes of an UnsafeRow, the lossless form in stores and between tasks. */
final class Packer(dataType: DataType) extends Serializable {
  @transient private lazy val projection = UnsafeProjection.create(Array(dataType))
  @transient private lazy val input = new GenericInternalRow(1)

  def pack(v: Any): Array[Byte] = if (v == null) null
  else {
    input.values(0) = v
    projection(input).copy().getBytes // the projection reuses its row
  }

  /** Unpacks a value, which refers to the bytes: they must not change anymore. */
  def unpack(b: Array[Byte]): Any = if (b == null) null
  else {
    val row = new UnsafeRow(1)
    row.pointTo(b, b.length)
    if (row.isNullAt(0)) null else row.get(0, dataType)
  }
}

object Packer {

  /** The type of changes on a table's edge: new value, old value, latest. */
  def changeType(value: DataType): StructType =
    new StructType().add("new", value).add("old", value).add("latest", BooleanType)
}
