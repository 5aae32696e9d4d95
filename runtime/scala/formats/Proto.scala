package org.apache.spark.sql.millrace

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.sql.types._

/**
 * A field of a message. `kind`: a scalar type of Protobuf, `enum`, `message`, `timestamp` or `map` (whose `message` is
 * its entry). `implicitly`: without presence (proto3), so that a default value is not written.
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

  /** The wire type: 0 varint, 1 eight bytes, 2 length and bytes, 5 four bytes. */
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

private[millrace] object Proto {
  private val token = "\"(?:[^\"\\\\]|\\\\.)*+\"|'(?:[^'\\\\]|\\\\.)*+'|[A-Za-z_.][\\w.]*|\\S".r
  private val comments = "(?s)//[^\\n]*|/\\*.*?\\*/".r

  /**
   * Builds a message from the compiler's description of its schema: `{"name": "shop.Order", "messages": {"shop.Order":
   * [{"name", "number", "kind", "of", "repeated", "packed", "implicit", "entry"}]}, "enums": {"shop.State": {"0":
   * "NEW"}}}`.
   */
  def message(j: JsonNode): ProtoMessage = {
    val made = mutable.Map[String, ProtoMessage]()
    def message(name: String): ProtoMessage =
      made.getOrElseUpdate(name, new ProtoMessage(name, fields(j.path("messages").path(name))))
    def fields(all: JsonNode): Array[ProtoField] = all.elements.asScala.map(field).toArray
    def field(f: JsonNode): ProtoField = {
      val (name, kind, of) = (f.path("name").asText, f.path("kind").asText, f.path("of").asText)
      val inner = kind match {
        case "map" => new ProtoMessage(s"$name entry", fields(f.path("entry")))
        case "message" => message(of)
        case _ => null
      }
      val symbols = j.path("enums").path(of).properties.asScala.map(e => e.getKey.toInt -> e.getValue.asText).toMap
      def is(property: String) = f.path(property).asBoolean
      new ProtoField(
        name,
        f.path("number").asInt,
        kind,
        is("repeated"),
        is("packed"),
        is("implicit"),
        inner,
        if (kind == "enum") symbols else Map.empty
      )
    }
    message(j.path("name").asText)
  }

  /**
   * The full name of the message at a path of indexes in a .proto text. A registry's header has such paths: [1, 0] is
   * the first message inside the second one.
   */
  def nameAt(text: String, path: Seq[Int]): Option[String] = {
    val tokens = token.findAllIn(comments.replaceAllIn(text, " ")).toIndexedSeq
    // The open brackets: name and path for that of a message, None for others.
    var open: List[Option[(String, Seq[Int])]] = Nil
    val counts = mutable.Map[Seq[Int], Int]().withDefaultValue(0)
    var (space, found) = ("", Option.empty[String])
    tokens.indices.foreach { i =>
      def next = tokens.lift(i + 1).getOrElse("")
      tokens(i) match {
        case "package" if open.isEmpty => space = s"$next."
        case "{" =>
          val outer = open.flatten.headOption
          val within = open.forall(_.nonEmpty) && i >= 2 && tokens(i - 2) == "message"
          open ::= Option.when(within) {
            val above = outer.fold(Seq.empty[Int])(_._2)
            val at = above :+ counts(above)
            counts(above) += 1
            val name = outer.fold(space)(_._1 + ".") + tokens(i - 1)
            if (at == path) found = Some(name)
            (name, at)
          }
        case "}" => open = open.drop(1)
        case _ =>
      }
    }
    found
  }
}
