package org.apache.spark.sql.millrace

import java.io.ByteArrayOutputStream

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, ArrayData, GenericArrayData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * Protobuf's binary form. A missing field is null, or its default if proto3 does not distinguish the two; a missing
 * repeated field is an empty array.
 */
private[millrace] final class ProtobufCodec(
    message: ProtoMessage,
    text: SchemaText,
    registry: Option[Registry],
    known: Option[Int]
) extends Codec("protobuf", message.dataType) {
  @transient private lazy val number = registry.map(r => known.getOrElse(r.id(text, "PROTOBUF")))

  /** The names of messages, by the number of a schema and a path of indexes in it. */
  @transient private lazy val names = new java.util.HashMap[(Int, Seq[Int]), String]()

  override protected def write(v: Any): Array[Byte] = {
    val out = new ByteArrayOutputStream(128)
    number.foreach { n =>
      out.write(0)
      val b = new Array[Byte](4)
      Bytes.putInt(b, 0, n)
      out.write(b)
      out.write(0)
    } // the path of the first message is one zero
    writeMessage(out, v.asInstanceOf[InternalRow], message)
    out.toByteArray
  }

  override protected def read(b: Array[Byte]): Any = registry match {
    case Some(r) =>
      if (b.length < 6 || b(0) != 0)
        throw new BadBytes(
          Why(
            "bytes_header",
            s"the schema registry's header is missing (a zero byte, a number, a message): ${Registry.start(b)}",
            "start" -> Registry.digits(b)
          )
        )
      val in = new In(b, 5, b.length)
      val length = in.zigzag()
      if (length < 0 || length > b.length)
        throw new BadBytes(
          Why(
            "bytes_header_path",
            s"the schema registry's header has no valid path to its message: ${Registry.start(b)}",
            "start" -> Registry.digits(b)
          )
        )
      val path = if (length == 0) Seq(0) else Seq.fill(length.toInt)(in.zigzag().toInt)
      val id = Bytes.getInt(b, 1)
      var name = names.get((id, path))
      if (name == null) {
        name = Proto
          .nameAt(r.schema(id).text, path)
          .getOrElse {
            val at = path.mkString("[", ", ", "]")
            throw new BadBytes(Why("bytes_message", s"schema $id has no message at $at", "id" -> id, "path" -> at))
          }
        names.put((id, path), name)
      }
      if (name != message.name)
        throw new BadBytes(
          Why(
            "bytes_other_message",
            s"the record is a $name, not a ${message.name}",
            "found" -> name,
            "needed" -> message.name
          )
        )
      readMessage(in, message)
    case None => readMessage(new In(b, 0, b.length), message)
  }

  private final class In(b: Array[Byte], var at: Int, val end: Int) {
    def more: Boolean = at < end
    private def need(n: Long): Unit =
      if (n < 0 || at + n > end)
        throw new BadBytes(Why("bytes_cut", "the bytes end in the middle of a Protobuf field"))
    def varint(): Long = {
      var (r, shift, more) = (0L, 0, true)
      while (more) {
        need(1)
        val x = b(at)
        at += 1
        if (shift > 63) throw new BadBytes(Why("bytes_varint", "a varint is too long"))
        r |= (x & 0x7fL) << shift
        shift += 7
        more = x < 0
      }
      r
    }
    def zigzag(): Long = { val n = varint(); (n >>> 1) ^ -(n & 1) }
    def fixed32(): Int = {
      need(4)
      val r = (b(at) & 0xff) | (b(at + 1) & 0xff) << 8 | (b(at + 2) & 0xff) << 16 | b(at + 3) << 24
      at += 4
      r
    }
    def fixed64(): Long = { val low = fixed32() & 0xffffffffL; low | (fixed32().toLong << 32) }
    def part(): In = { val n = varint(); need(n); val r = new In(b, at, at + n.toInt); at += n.toInt; r }
    def bytes(): Array[Byte] = { val p = part(); java.util.Arrays.copyOfRange(b, p.at, p.end) }
    def skip(wire: Int): Unit = wire match {
      case 0 => varint()
      case 1 => fixed64()
      case 2 => part()
      case 5 => fixed32()
      case w => throw new BadBytes(Why("bytes_wire", s"the bytes are not Protobuf (wire type $w)", "found" -> w))
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
      if (n == 0) throw new BadBytes(Why("bytes_field", "the bytes are not Protobuf (field number 0)"))
      if (i < 0) in.skip(wire)
      else {
        val f = m.fields(i)
        if (f.repeated && wire == 2 && f.wire != 2) { val p = in.part(); while (p.more) lists(i) += scalar(p, f) }
        else if (wire != f.wire)
          throw new BadBytes(
            Why(
              "bytes_field_wire",
              s"the field ${f.name} has wire type $wire, needs ${f.wire}",
              "field" -> f.name,
              "found" -> wire,
              "needed" -> f.wire
            )
          )
        else { val v = scalar(in, f); if (f.repeated) lists(i) += v else row(i) = v }
      }
    }
    m.fields.indices.foreach { i =>
      val f = m.fields(i)
      if (f.kind == "map") {
        val entries = new java.util.LinkedHashMap[Any, Any]()
        lists(i).foreach { e =>
          val r = e.asInstanceOf[InternalRow]
          entries.put(or(r, 0, f.message.fields(0)), or(r, 1, f.message.fields(1)))
        }
        row(i) = new ArrayBasedMapData(
          new GenericArrayData(entries.keySet.toArray.asInstanceOf[Array[Any]]),
          new GenericArrayData(entries.values.toArray.asInstanceOf[Array[Any]])
        )
      } else if (f.repeated) row(i) = new GenericArrayData(lists(i).toArray[Any])
      else if (row(i) == null && f.implicitly) row(i) = default(f)
    }
    new GenericInternalRow(row)
  }

  /** The key or value of a map entry, or its default if it is missing. */
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
    case "uint64" =>
      Decimal(new java.math.BigDecimal(new java.math.BigInteger(java.lang.Long.toUnsignedString(in.varint()))), 20, 0)
    case "bool" => in.varint() != 0L
    case "string" => UTF8String.fromBytes(in.bytes())
    case "bytes" => in.bytes()
    case "enum" =>
      val n = in.varint().toInt
      UTF8String.fromString(f.symbols.getOrElse(n, n.toString))
    case "timestamp" => timestamp(in.part())
    case _ => readMessage(in.part(), f.message)
  }
  private def timestamp(in: In): Long = {
    var (seconds, nanos) = (0L, 0L)
    while (in.more) in.varint().toInt match {
      case 8 => seconds = in.varint()
      case 16 => nanos = in.varint()
      case t => in.skip(t & 7)
    }
    Math.addExact(Math.multiplyExact(seconds, 1000000L), nanos / 1000L)
  }

  // ---- writing ----

  private def varint(out: ByteArrayOutputStream, value: Long): Unit = {
    var v = value
    while ((v & ~0x7fL) != 0) { out.write(((v & 0x7f) | 0x80).toInt); v >>>= 7 }
    out.write(v.toInt)
  }
  private def zigzag(out: ByteArrayOutputStream, v: Long): Unit = varint(out, (v << 1) ^ (v >> 63))
  private def fixed32(out: ByteArrayOutputStream, v: Int): Unit = (0 until 4).foreach(i => out.write(v >>> (8 * i)))
  private def fixed64(out: ByteArrayOutputStream, v: Long): Unit =
    (0 until 8).foreach(i => out.write((v >>> (8 * i)).toInt))
  private def sized(out: ByteArrayOutputStream)(body: ByteArrayOutputStream => Unit): Unit = {
    val b = new ByteArrayOutputStream()
    body(b)
    varint(out, b.size.toLong)
    b.writeTo(out)
  }

  private def writeMessage(out: ByteArrayOutputStream, r: InternalRow, m: ProtoMessage): Unit =
    m.fields.indices.foreach { i =>
      val f = m.fields(i)
      if (!r.isNullAt(i)) {
        if (f.kind == "map") {
          val d = r.getMap(i)
          val (k, v) = (f.message.fields(0), f.message.fields(1))
          (0 until d.numElements()).foreach { j =>
            val entry = new GenericInternalRow(
              Array[Any](
                d.keyArray().get(j, k.element),
                if (d.valueArray().isNullAt(j)) null else d.valueArray().get(j, v.element)
              )
            )
            varint(out, f.number.toLong << 3 | 2)
            sized(out)(writeMessage(_, entry, f.message))
          }
        } else if (f.repeated) {
          val a: ArrayData = r.getArray(i)
          if (f.packed) {
            if (a.numElements() > 0) {
              varint(out, f.number.toLong << 3 | 2)
              sized(out)(b => (0 until a.numElements()).foreach(j => writeScalar(b, element(a, j, f), f)))
            }
          } else
            (0 until a.numElements()).foreach { j =>
              varint(out, f.number.toLong << 3 | f.wire)
              writeScalar(out, element(a, j, f), f)
            }
        } else {
          val v = r.get(i, f.element)
          if (!f.implicitly || v != default(f)) { varint(out, f.number.toLong << 3 | f.wire); writeScalar(out, v, f) }
        }
      }
    }
  private def element(a: ArrayData, i: Int, f: ProtoField): Any =
    if (a.isNullAt(i))
      throw new Misfit(
        Why(
          "write_element_null",
          s"element $i of ${f.name} is null, which Protobuf cannot represent",
          "index" -> i,
          "field" -> f.name
        )
      )
    else a.get(i, f.element)

  private def tooLarge(n: Any, f: ProtoField): Misfit = new Misfit(
    Why(
      "write_number",
      s"$n of ${f.name} does not fit ${f.kind}",
      "value" -> n,
      "field" -> f.name,
      "type" -> f.kind
    )
  )

  private def writeScalar(out: ByteArrayOutputStream, v: Any, f: ProtoField): Unit = f.kind match {
    case "double" => fixed64(out, java.lang.Double.doubleToRawLongBits(v.asInstanceOf[Double]))
    case "float" => fixed32(out, java.lang.Float.floatToRawIntBits(v.asInstanceOf[Float]))
    case "int32" => varint(out, v.asInstanceOf[Int].toLong)
    case "sint32" => zigzag(out, v.asInstanceOf[Int].toLong)
    case "fixed32" | "sfixed32" => fixed32(out, v.asInstanceOf[Int])
    case "uint32" =>
      val n = v.asInstanceOf[Long]
      if (n < 0 || n > 0xffffffffL) throw tooLarge(n, f)
      varint(out, n)
    case "int64" => varint(out, v.asInstanceOf[Long])
    case "sint64" => zigzag(out, v.asInstanceOf[Long])
    case "fixed64" | "sfixed64" => fixed64(out, v.asInstanceOf[Long])
    case "uint64" =>
      val n = v.asInstanceOf[Decimal].toJavaBigDecimal.toBigInteger
      if (n.signum < 0 || n.bitLength > 64) throw tooLarge(n, f)
      varint(out, n.longValue)
    case "bool" => out.write(if (v.asInstanceOf[Boolean]) 1 else 0)
    case "string" =>
      val b = v.asInstanceOf[UTF8String].getBytes
      varint(out, b.length.toLong)
      out.write(b)
    case "bytes" =>
      val b = v.asInstanceOf[Array[Byte]]
      varint(out, b.length.toLong)
      out.write(b)
    case "enum" =>
      varint(
        out,
        f.numbers
          .getOrElse(
            v.toString,
            throw new Misfit(
              Why(
                "write_enum",
                s"`$v` of ${f.name} is not a symbol of its enum",
                "value" -> v,
                "field" -> f.name,
                "enum" -> f.name
              )
            )
          )
          .toLong
      )
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
