package org.apache.spark.sql.millrace

import java.io.ByteArrayOutputStream
import java.nio.ByteBuffer
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import org.apache.avro.{AvroRuntimeException, LogicalTypes, Schema}
import org.apache.avro.Schema.Type
import org.apache.avro.generic.{GenericData, GenericDatumReader, GenericDatumWriter, GenericFixed}
import org.apache.avro.io.{BinaryDecoder, BinaryEncoder, DecoderFactory, EncoderFactory}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, ArrayData, GenericArrayData, MapData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * Formats with a schema: Avro and Protobuf, with or without a schema registry's header (a zero byte and the schema's
 * number).
 */
private[millrace] object Formats {
  def parse(format: String, j: JsonNode, default: Option[DataType]): Codec = {
    def text(p: String) = Option(j.get(p)).filterNot(_.isNull).map(_.asText)
    val registry = for (r <- text("registry"); s <- text("subject")) yield Registry(r, s)
    def invalid(kind: String, e: Exception): Nothing =
      throw new Expressions.Invalid(s"the schema is not a valid $kind schema: ${e.getMessage}", "SCHEMA")
    // A caller that has already asked the registry passes the schema, those that it refers to, and its number.
    val known = Option(j.get("id")).filterNot(_.isNull).map(_.asInt)
    val (schema, number) = (text("schema"), registry) match {
      case (Some(t), _) => (SchemaText(t, j.path("imported").elements.asScala.map(_.asText).toSeq), known)
      case (None, Some(r)) =>
        try { val (n, t) = r.latest; (t, Some(n)) }
        catch { case e: RegistryFailure => throw new Expressions.Invalid(e.getMessage, "REGISTRY", failure = e.why) }
      case _ => throw new Expressions.Invalid(s"format $format needs a schema, or a registry and a subject", "SCHEMA")
    }
    format match {
      case "avro" =>
        val parsed =
          try AvroTypes.parse(schema)
          catch { case e: AvroRuntimeException => invalid("Avro", e) }
        new AvroCodec(schema, AvroTypes.of(parsed), registry, number)
      case "protobuf" =>
        val message = j.path("message")
        if (message.isMissingNode)
          throw new Expressions.Invalid("the schema could not be fetched when the topology was compiled", "REGISTRY")
        new ProtobufCodec(Proto.message(message), schema, registry, number)
      case other => throw new Expressions.Invalid(s"unknown format $other", "FORMAT")
    }
  }
}

/** Spark types for Avro's types, as in Spark's own from_avro; nullable throughout. */
private[millrace] object AvroTypes {
  def parse(schema: SchemaText): Schema = {
    val parser = new Schema.Parser()
    def read(text: String): Schema = {
      val t = text.trim
      parser.parse(if (t.startsWith("{") || t.startsWith("[") || t.startsWith("\"")) t else "\"" + t + "\"")
    }
    schema.before.foreach(read)
    read(schema.text)
  }

  def of(s: Schema, above: Set[String] = Set.empty): DataType = (s.getType, s.getLogicalType) match {
    case (Type.BYTES | Type.FIXED, d: LogicalTypes.Decimal) => DecimalType(d.getPrecision, d.getScale)
    case (Type.INT, _: LogicalTypes.Date) => DateType
    case (Type.LONG, _: LogicalTypes.TimestampMillis | _: LogicalTypes.TimestampMicros) => TimestampType
    case (Type.LONG, _: LogicalTypes.LocalTimestampMillis | _: LogicalTypes.LocalTimestampMicros) => TimestampNTZType
    case (Type.NULL, _) => NullType
    case (Type.BOOLEAN, _) => BooleanType
    case (Type.INT, _) => IntegerType
    case (Type.LONG, _) => LongType
    case (Type.FLOAT, _) => FloatType
    case (Type.DOUBLE, _) => DoubleType
    case (Type.BYTES | Type.FIXED, _) => BinaryType
    case (Type.STRING | Type.ENUM, _) => StringType
    case (Type.ARRAY, _) => ArrayType(of(s.getElementType, above), containsNull = true)
    case (Type.MAP, _) => MapType(StringType, of(s.getValueType, above), valueContainsNull = true)
    case (Type.RECORD, _) =>
      if (above(s.getFullName))
        throw new Expressions.Invalid(
          s"the record ${s.getName} contains itself; Spark has no recursive types",
          "SCHEMA"
        )
      StructType(s.getFields.asScala.map(f => StructField(f.name, of(f.schema, above + s.getFullName))).toArray)
    case (Type.UNION, _) =>
      val real = members(s)
      real.map(of(_, above)) match {
        case Seq() => NullType
        case Seq(one) => one
        case ts if ts.toSet == Set(IntegerType, LongType) => LongType
        case ts if ts.toSet == Set(FloatType, DoubleType) => DoubleType
        case ts => StructType(ts.zipWithIndex.map { case (t, i) => StructField(s"member$i", t) }.toArray)
      }
  }
  def members(s: Schema): Seq[Schema] = s.getTypes.asScala.filter(_.getType != Type.NULL).toSeq

  // ---- values ----

  def read(v: Any, s: Schema): Any = if (v == null) null
  else
    (s.getType, s.getLogicalType) match {
      case (Type.BYTES | Type.FIXED, d: LogicalTypes.Decimal) =>
        Decimal(new java.math.BigDecimal(new java.math.BigInteger(binary(v)), d.getScale), d.getPrecision, d.getScale)
      case (Type.LONG, _: LogicalTypes.TimestampMillis | _: LogicalTypes.LocalTimestampMillis) =>
        Math.multiplyExact(v.asInstanceOf[Long], 1000L)
      case (Type.BOOLEAN | Type.INT | Type.LONG | Type.FLOAT | Type.DOUBLE, _) => v
      case (Type.BYTES | Type.FIXED, _) => binary(v)
      case (Type.STRING | Type.ENUM, _) => UTF8String.fromString(v.toString)
      case (Type.ARRAY, _) =>
        new GenericArrayData(
          v.asInstanceOf[java.util.Collection[Any]].asScala.map(read(_, s.getElementType)).toArray[Any]
        )
      case (Type.MAP, _) =>
        val m = v.asInstanceOf[java.util.Map[CharSequence, Any]].asScala.toSeq
        new ArrayBasedMapData(
          new GenericArrayData(m.map(e => UTF8String.fromString(e._1.toString): Any).toArray),
          new GenericArrayData(m.map(e => read(e._2, s.getValueType)).toArray[Any])
        )
      case (Type.RECORD, _) =>
        val r = v.asInstanceOf[GenericData.Record]
        new GenericInternalRow(s.getFields.asScala.map(f => read(r.get(f.pos), f.schema)).toArray[Any])
      case (Type.UNION, _) =>
        val chosen = s.getTypes.get(GenericData.get.resolveUnion(s, v))
        val real = members(s)
        if (chosen.getType == Type.NULL) null
        else if (real.size == 1) read(v, chosen)
        else
          of(s) match {
            case LongType => v.asInstanceOf[Number].longValue
            case DoubleType => v.asInstanceOf[Number].doubleValue
            case _ =>
              val row = new Array[Any](real.size)
              row(real.indexOf(chosen)) = read(v, chosen)
              new GenericInternalRow(row)
          }
      case (Type.NULL, _) => null
    }
  private def binary(v: Any): Array[Byte] = v match {
    case b: ByteBuffer =>
      val a = new Array[Byte](b.remaining)
      b.duplicate().get(a)
      a
    case f: GenericFixed => f.bytes
  }

  def write(v: Any, s: Schema, path: String): Any = {
    def misfit(code: String, what: String, facts: (String, Any)*): Nothing = throw new Misfit(
      Why(
        code,
        s"${if (path.isEmpty) "the value" else path} $what",
        facts :+ ("field" -> (if (path.isEmpty) "/" else path)): _*
      )
    )
    if (v == null) {
      if (s.getType == Type.NULL || (s.getType == Type.UNION && s.getTypes.asScala.exists(_.getType == Type.NULL))) null
      else misfit("write_null", "is null, but the Avro schema does not allow null")
    } else
      (s.getType, s.getLogicalType) match {
        case (t @ (Type.BYTES | Type.FIXED), d: LogicalTypes.Decimal) =>
          val unscaled = v.asInstanceOf[Decimal].toJavaBigDecimal.setScale(d.getScale).unscaledValue.toByteArray
          if (t == Type.BYTES) ByteBuffer.wrap(unscaled)
          else {
            val sized = Array.fill[Byte](s.getFixedSize)(if (unscaled(0) < 0) -1 else 0)
            System.arraycopy(unscaled, 0, sized, sized.length - unscaled.length, unscaled.length)
            new GenericData.Fixed(s, sized)
          }
        case (Type.LONG, _: LogicalTypes.TimestampMillis | _: LogicalTypes.LocalTimestampMillis) =>
          Math.floorDiv(v.asInstanceOf[Long], 1000L)
        case (Type.BOOLEAN | Type.INT | Type.LONG | Type.FLOAT | Type.DOUBLE, _) => v
        case (Type.BYTES, _) => ByteBuffer.wrap(v.asInstanceOf[Array[Byte]])
        case (Type.FIXED, _) =>
          val b = v.asInstanceOf[Array[Byte]]
          if (b.length != s.getFixedSize)
            misfit(
              "write_size",
              s"has ${b.length} bytes, but the Avro schema requires ${s.getFixedSize}",
              "found" -> b.length,
              "needed" -> s.getFixedSize
            )
          new GenericData.Fixed(s, b)
        case (Type.STRING, _) => v.toString
        case (Type.ENUM, _) =>
          if (!s.hasEnumSymbol(v.toString))
            misfit("write_enum", s"is `$v`, which is not a symbol of ${s.getName}", "value" -> v, "enum" -> s.getName)
          else new GenericData.EnumSymbol(s, v.toString)
        case (Type.ARRAY, _) =>
          val (a, t) = (v.asInstanceOf[ArrayData], of(s.getElementType))
          (0 until a.numElements())
            .map(i => write(if (a.isNullAt(i)) null else a.get(i, t), s.getElementType, s"$path[$i]"))
            .asJava
        case (Type.MAP, _) =>
          val (m, t) = (v.asInstanceOf[MapData], of(s.getValueType))
          val out = new java.util.LinkedHashMap[String, Any]()
          (0 until m.numElements()).foreach { i =>
            val k = m.keyArray().getUTF8String(i).toString
            out.put(
              k,
              write(if (m.valueArray().isNullAt(i)) null else m.valueArray().get(i, t), s.getValueType, s"$path.$k")
            )
          }
          out
        case (Type.RECORD, _) =>
          val (r, out) = (v.asInstanceOf[InternalRow], new GenericData.Record(s))
          s.getFields.asScala.foreach { f =>
            out.put(
              f.pos,
              write(
                if (r.isNullAt(f.pos)) null else r.get(f.pos, of(f.schema)),
                f.schema,
                if (path.isEmpty) f.name else s"$path.${f.name}"
              )
            )
          }
          out
        case (Type.UNION, _) =>
          val real = members(s)
          if (real.size == 1) write(v, real.head, path)
          else
            of(s) match {
              case LongType => write(v, real.find(_.getType == Type.LONG).get, path)
              case DoubleType => write(v, real.find(_.getType == Type.DOUBLE).get, path)
              case _ =>
                val r = v.asInstanceOf[InternalRow]
                real.indices
                  .find(i => !r.isNullAt(i))
                  .map(i => write(r.get(i, of(real(i))), real(i), path))
                  .getOrElse(write(null, s, path))
            }
        case (Type.NULL, _) => null
      }
  }
}

/** Avro's binary form. `known`: the number of the schema, if it came from the registry. */
private[millrace] final class AvroCodec(text: SchemaText, t: DataType, registry: Option[Registry], known: Option[Int])
    extends Codec("avro", t) {
  @transient private lazy val schema = AvroTypes.parse(text)
  @transient private lazy val writer = new GenericDatumWriter[Any](schema)
  @transient private lazy val plain = new GenericDatumReader[Any](schema, schema)
  @transient private lazy val readers = new java.util.HashMap[Int, GenericDatumReader[Any]]()
  @transient private lazy val number = registry.map(r => known.getOrElse(r.id(text, "AVRO")))
  @transient private var encoder: BinaryEncoder = _
  @transient private var decoder: BinaryDecoder = _

  override protected def write(v: Any): Array[Byte] = {
    val out = new ByteArrayOutputStream(128)
    number.foreach { n => out.write(0); out.write(ByteBuffer.allocate(4).putInt(n).array) }
    encoder = EncoderFactory.get.binaryEncoder(out, encoder)
    writer.write(AvroTypes.write(v, schema, ""), encoder)
    encoder.flush()
    out.toByteArray
  }

  override protected def read(b: Array[Byte]): Any = registry match {
    case Some(r) =>
      if (!headed(b))
        throw new BadBytes(
          Why(
            "bytes_header",
            s"the schema registry's header is missing (a zero byte and a number): ${Registry.start(b)}",
            "start" -> Registry.digits(b)
          )
        )
      val id = Bytes.getInt(b, 1)
      var reader = readers.get(id)
      if (reader == null) {
        reader = new GenericDatumReader[Any](
          try AvroTypes.parse(r.schema(id))
          catch {
            case e: AvroRuntimeException =>
              throw new BadBytes(
                Why(
                  "bytes_schema",
                  s"schema $id is not an Avro schema: ${e.getMessage}",
                  "id" -> id,
                  "reason" -> e.getMessage
                )
              )
          },
          schema
        )
        readers.put(id, reader)
      }
      decode(reader, b, 5)
    case None => // without a registry, a header is skipped if the rest of the bytes fits
      try decode(plain, b, 0)
      catch { case e: BadBytes => if (headed(b)) decode(plain, b, 5) else throw e }
  }
  private def headed(b: Array[Byte]) = b.length >= 5 && b(0) == 0

  private def decode(reader: GenericDatumReader[Any], b: Array[Byte], from: Int): Any =
    try {
      decoder = DecoderFactory.get.binaryDecoder(b, from, b.length - from, decoder)
      val v = reader.read(null, decoder)
      if (!decoder.isEnd)
        throw new BadBytes(Why("bytes_long", "the bytes are longer than the Avro schema allows"))
      AvroTypes.read(v, schema)
    } catch {
      case e: BadBytes => throw e
      case _: java.io.EOFException =>
        throw new BadBytes(Why("bytes_short", "the bytes are shorter than the Avro schema requires"))
      case e @ (_: java.io.IOException | _: RuntimeException) =>
        throw new BadBytes(
          Why("bytes_avro", s"the bytes do not fit the Avro schema: ${e.getMessage}", "reason" -> e.getMessage)
        )
    }
}
