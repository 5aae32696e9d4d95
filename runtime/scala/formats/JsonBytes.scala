package org.apache.spark.sql.millrace

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * The short way for the JSON that most records are: objects of texts, whole numbers, truth values and such objects,
 * without escapes and in ASCII. It goes through the bytes once. Whatever is different in any way, also if it is
 * invalid, is left to [[Json]], which is the only one that reports faults: a result is the same by either way.
 */
private[millrace] final class JsonBytes private (schema: StructType) {
  private val root = new JsonBytes.Shape(schema)

  /** The value of these bytes, which is an object; null if they have to be read by [[Json]]. */
  def parse(b: Array[Byte]): InternalRow = new JsonReader(b).whole(root)

  /** The JSON of an object; null if it has to be written by [[Json]]. */
  def bytes(v: Any): Array[Byte] = new JsonWriter().whole(v.asInstanceOf[InternalRow], root)
}

private final class JsonReader(in: Array[Byte]) {
  import JsonBytes._
  private var at = 0
  def whole(s: Shape): InternalRow = {
    val found = if (blank() == '{') objectOf(s) else null
    if (found != null && blank() == ended) found else null
  }

  /** Skips white space and returns the byte after it, or `ended`. */
  private def blank(): Int = {
    while (at < in.length && (in(at) == ' ' || in(at) == '\n' || in(at) == '\t' || in(at) == '\r')) at += 1
    if (at < in.length) in(at) & 0xff else ended
  }

  /** Reads an object whose opening brace is the current byte. */
  private def objectOf(s: Shape): InternalRow = {
    val row = new Array[Any](s.size)
    var expected = 0
    at += 1
    var next = blank()
    if (next == '}') { at += 1; return new GenericInternalRow(row) }
    while (true) {
      if (next != '"') return null
      val start = at + 1
      val end = textEnd()
      if (end < 0) return null
      var i = expected
      if (i >= s.size || !s.isName(i, in, start, end)) {
        i = s.size - 1; while (i >= 0 && !s.isName(i, in, start, end)) i -= 1
      }
      if (i < 0 || blank() != ':') return null
      at += 1
      val v = value(s, i, blank())
      if (v.asInstanceOf[AnyRef] eq unread) return null
      row(i) = v
      expected = i + 1
      next = blank()
      at += 1
      if (next == '}') return new GenericInternalRow(row)
      if (next != ',') return null
      next = blank()
    }
    null
  }

  /** Reads a value that begins with this byte, the current one. */
  private def value(s: Shape, i: Int, first: Int): Any =
    if (first == 'n') { if (word(nullWord)) null else unread }
    else
      s.kinds(i) match {
        case Text =>
          if (first != '"') unread
          else {
            val start = at + 1
            val end = textEnd()
            if (end < 0) unread else UTF8String.fromBytes(in, start, end - start)
          }
        case Int32 => number(9, first) match { case n if n == notANumber => unread; case n => n.toInt }
        case Int64 => number(18, first) match { case n if n == notANumber => unread; case n => n }
        case Truth =>
          if (first == 't') (if (word(trueWord)) true else unread)
          else if (first == 'f' && word(falseWord)) false
          else unread
        case _ => if (first != '{') unread else { val r = objectOf(s.inner(i)); if (r == null) unread else r }
      }

  /**
   * The end of the text whose opening quote is the current byte, and moves behind its closing one; -1 if it is not
   * plain.
   */
  private def textEnd(): Int = {
    var i = at + 1
    while (i < in.length && plain(in(i))) i += 1
    if (i >= in.length || in(i) != '"' || i - at > longest) -1 else { at = i + 1; i }
  }

  private def number(most: Int, first: Int): Long = {
    val negative = first == '-'
    if (negative) at += 1
    val start = at
    var n = 0L
    while (at < in.length && at - start <= most && in(at) >= '0' && in(at) <= '9') {
      n = n * 10 + (in(at) - '0'); at += 1
    }
    val digits = at - start
    // What follows a value must be a comma or a brace, so a fraction or an exponent ends the short way there.
    if (digits == 0 || digits > most || (in(start) == '0' && (digits > 1 || negative))) notANumber
    else if (negative) -n
    else n
  }

  private def word(w: Array[Byte]): Boolean = {
    val end = at + w.length
    val same = end <= in.length && Arrays.equals(in, at, end, w, 0, w.length)
    if (same) at = end
    same
  }

}

private final class JsonWriter {
  import JsonBytes._
  private var out = new Array[Byte](128)
  private var length = 0
  def whole(r: InternalRow, s: Shape): Array[Byte] = if (write(r, s)) Arrays.copyOf(out, length) else null

  private def room(n: Int): Unit =
    if (length + n > out.length) out = Arrays.copyOf(out, Math.max(length + n, 2 * out.length))
  private def put(b: Array[Byte]): Unit = {
    room(b.length)
    System.arraycopy(b, 0, out, length, b.length)
    length += b.length
  }
  private def put(b: Int): Unit = { room(1); out(length) = b.toByte; length += 1 }

  private def write(r: InternalRow, s: Shape): Boolean = {
    put('{')
    var i = 0
    var plain = true
    while (plain && i < s.size) {
      put(s.written(i))
      if (r.isNullAt(i)) put(nullWord)
      else
        s.kinds(i) match {
          case Text => plain = text(r.getUTF8String(i))
          case Int32 => digits(r.getInt(i).toLong)
          case Int64 => digits(r.getLong(i))
          case Truth => put(if (r.getBoolean(i)) trueWord else falseWord)
          case _ => plain = write(r.getStruct(i, s.inner(i).size), s.inner(i))
        }
      i += 1
    }
    put('}')
    plain
  }

  private def text(s: UTF8String): Boolean = {
    val n = s.numBytes
    room(n + 2)
    out(length) = '"'
    s.writeToMemory(out, org.apache.spark.unsafe.Platform.BYTE_ARRAY_OFFSET + length + 1L)
    var i = length + 1
    val end = i + n
    while (i < end && plain(out(i))) i += 1
    if (i < end) false
    else { out(end) = '"'; length = end + 1; true }
  }

  private def digits(v: Long): Unit =
    if (v == Long.MinValue) put(v.toString.getBytes(UTF_8))
    else {
      room(20)
      var left = v
      if (left < 0) { out(length) = '-'; length += 1; left = -left }
      var n = 1
      var limit = 10L
      while (n < 19 && left >= limit) { n += 1; limit *= 10 }
      var i = length + n
      length = i
      var more = true
      while (more) {
        i -= 1
        out(i) = ('0' + left % 10).toByte
        left /= 10
        more = left != 0
      }
    }
}

private[millrace] object JsonBytes {

  /** Null if values of this type have no short way. */
  def of(t: DataType): JsonBytes = t match {
    case s: StructType if fits(s) => new JsonBytes(s)
    case _ => null
  }

  private def fits(t: DataType): Boolean = t match {
    case StringType | IntegerType | LongType | BooleanType => true
    case s: StructType =>
      s.forall(f =>
        fits(f.dataType) && f.name.forall(c => c < 128 && plain(c.toByte))
      ) && s.fieldNames.distinct.length == s.length
    case _ => false
  }

  /** Whether a byte of a text stands for itself: ASCII without control characters, quotes and backslashes. */
  private[millrace] def plain(b: Byte): Boolean = b >= ' ' && b != '"' && b != '\\'

  /** The longest text, in bytes, that is certainly within the limits of [[Json]]. */
  private[millrace] val longest = 1 << 20
  private[millrace] final val Text = 0
  private[millrace] final val Int32 = 1
  private[millrace] final val Int64 = 2
  private[millrace] final val Truth = 3
  private[millrace] final val Struct = 4

  /** The fields of an object: kinds, names, and what is written before each value. */
  private[millrace] final class Shape(s: StructType) {
    val size: Int = s.length
    val kinds: Array[Int] = s.fields.map(_.dataType match {
      case StringType => Text
      case IntegerType => Int32
      case LongType => Int64
      case BooleanType => Truth
      case _ => Struct
    })
    private val names: Array[Array[Byte]] = s.fieldNames.map(_.getBytes(UTF_8))
    val written: Array[Array[Byte]] = s.fieldNames.zipWithIndex.map { case (name, i) =>
      s"""${if (i == 0) "" else ","}"$name":""".getBytes(UTF_8)
    }
    val inner: Array[Shape] = s.fields.map(_.dataType match { case in: StructType => new Shape(in); case _ => null })
    def isName(i: Int, in: Array[Byte], start: Int, end: Int): Boolean = {
      val n = names(i)
      n.length == end - start && Arrays.equals(n, 0, n.length, in, start, end)
    }
  }

  private[millrace] val ended = -1
  private[millrace] val notANumber = Long.MinValue
  private[millrace] val unread = new Object
  private[millrace] val nullWord = "null".getBytes(UTF_8)
  private[millrace] val trueWord = "true".getBytes(UTF_8)
  private[millrace] val falseWord = "false".getBytes(UTF_8)
}
