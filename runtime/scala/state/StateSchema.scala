package org.apache.spark.sql.millrace

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, ArrayData, GenericArrayData, MapData}
import org.apache.spark.sql.types._

/**
 * The requirements of a deployment's accepted changes for tasks whose state is older. A task's state notes the number
 * of the last change that was applied to it. `drops`: by change, numbered from 1, the prefixes of names in the state
 * that begin empty; `decided`: how older values are converted.
 */
private[millrace] final case class StateChanges(drops: IndexedSeq[Set[String]], decided: Seq[Decided] = Nil) {
  def last: Long = drops.length.toLong

  /** The prefixes that a state must forget if change `from` was the last one applied to it. */
  def after(from: Long): Set[String] = drops.drop(from.toInt).flatten.toSet

  /** The function that converts values in the state to another type; None if there is none. */
  def conversion(name: String, from: DataType, to: DataType): Option[Any => Any] =
    Conversion.of(from, to, Decisions(decided.filter(d => StateChanges.drops(Set(d.store), name))))

  /** A type to which values of both types can be converted, without loss if possible. */
  def common(name: String, a: DataType, b: DataType): Option[DataType] =
    Conversion
      .common(a, b)
      .orElse(Seq(a -> b, b -> a).collectFirst { case (x, y) if conversion(name, x, y).isDefined => y })
}

/** An expression over `old` that converts the values of a store to its new type, as decided by a person. */
private[millrace] final case class Decided(store: String, from: DataType, to: DataType, expression: Expr)

/**
 * The decisions about a store, in order. The state of a task without input goes through several of them, and through
 * the widenings in between.
 */
private[millrace] final case class Decisions(all: Seq[Decided]) extends Conversion.Leaf {
  override def apply(from: DataType, to: DataType): Option[Any => Any] = {
    val reached = all.foldLeft(Seq[(DataType, Any => Any)]((from, v => v))) { (known, d) =>
      Decisions.through(known, d.from).fold(known)(f => (d.to -> Decisions.after(f, d.expression(_))) +: known)
    }
    Decisions.through(reached.init, to)
  }
}

private object Decisions {

  /** The conversion to a type from one of those that were reached: from itself if possible, else from the latest. */
  private def through(reached: Seq[(DataType, Any => Any)], to: DataType): Option[Any => Any] =
    reached
      .sortBy(_._1 != to)
      .iterator
      .flatMap { case (type_, way) => Conversion.of(type_, to).map(after(way, _)) }
      .nextOption()

  private def after(first: Any => Any, second: Any => Any): Any => Any = old => {
    val made = first(old)
    if (made == null) null else second(made)
  }
}

private[millrace] object StateChanges {
  val none: StateChanges = StateChanges(IndexedSeq.empty)

  /**
   * Parses `[{"drop": ["sum"], "convert": [{"store": "mean", "from": "DOUBLE", "to": "BIGINT", "expression": "CAST(old
   * AS BIGINT)"}]}, ...]`.
   */
  def parse(j: JsonNode, spark: SparkSession): StateChanges = StateChanges(
    j.elements.asScala.map(_.path("drop").elements.asScala.map(_.asText).toSet).toIndexedSeq,
    j.elements.asScala
      .flatMap(_.path("convert").elements.asScala)
      .map { d =>
        val store = d.get("store").asText
        val (from, to) =
          (Expressions.parseType(d.get("from").asText).asNullable, Expressions.parseType(d.get("to").asText).asNullable)
        val expression =
          try
            Expressions
              .compile(spark, d.get("expression").asText, Layout(IndexedSeq("old" -> from)), "convert", Some(to))
          catch {
            case x: Expressions.Invalid =>
              throw new Refused(store, "convert", Why("expression", x.reason, "reason" -> x.reason))
          }
        Decided(store, from, to, expression)
      }
      .toSeq
  )

  private val clocks = Seq("store:", "swept:", "sequence:", "$rows/")
  private val counters = Set(":records", ":bytes", ":single", ":sequence")

  /**
   * Whether rows or a clock of this name belong to one of the stores. Copies of a table belong to the table, regardless
   * of the node that holds them.
   */
  def concerns(prefixes: Set[String], name: String): Boolean = {
    val bare = clocks.find(name.startsWith(_)).map(c => name.substring(c.length))
    prefixes.exists { p =>
      bare.exists(b => b == p || b.startsWith(p + "$")) || (bare.isEmpty && counters.exists(c => name == p + c))
    }
  }
  def drops(prefixes: Set[String], store: String): Boolean =
    prefixes.exists(p => store == p || (store.startsWith(p + "$") && !store.contains("$copy")))
}

/**
 * Converts values of one type to another by widening, by the rules of `state_changes.py`. Any other conversion is
 * refused: bits are never read as another type.
 */
private[millrace] object Conversion {
  def text(t: DataType): String = t.asNullable.json

  /** A conversion to try for two types, also within others, that are not converted otherwise. */
  trait Leaf extends Serializable { def apply(from: DataType, to: DataType): Option[Any => Any] }
  private object none extends Leaf { override def apply(from: DataType, to: DataType): Option[Any => Any] = None }

  /** The conversion from one type to another; None if values cannot be carried over. */
  def of(from: DataType, to: DataType, leaf: Leaf = none): Option[Any => Any] = (from.asNullable, to.asNullable) match {
    case (a, b) if a == b => Some(identity)
    case (a, b) => inside(a, b, leaf).orElse(leaf(a, b))
  }

  private def inside(from: DataType, to: DataType, leaf: Leaf): Option[Any => Any] = (from, to) match {
    case (StructType(old), StructType(now)) => struct(old, now, leaf)
    case (ArrayType(a, _), ArrayType(b, _)) =>
      of(a, b, leaf).map(f => v => new GenericArrayData(elements(v.asInstanceOf[ArrayData], a, f)))
    case (MapType(ak, av, _), MapType(bk, bv, _)) =>
      for (k <- of(ak, bk, leaf); v <- of(av, bv, leaf)) yield (m: Any) => {
        val d = m.asInstanceOf[MapData]
        new ArrayBasedMapData(
          new GenericArrayData(elements(d.keyArray(), ak, k)),
          new GenericArrayData(elements(d.valueArray(), av, v))
        )
      }
    case (a, b) => widened(a, b)
  }

  /** A type with the fields of both, and the wider of two types; None if there is none. */
  def common(a: DataType, b: DataType): Option[DataType] = (a.asNullable, b.asNullable) match {
    case (StructType(mine), StructType(others)) =>
      val (shared, more) = others.partition(f => mine.exists(_.name.equalsIgnoreCase(f.name)))
      val fields = mine.map { f =>
        shared.find(_.name.equalsIgnoreCase(f.name)) match {
          case Some(g) => common(f.dataType, g.dataType).map(t => g.copy(dataType = t))
          case None => Some(f)
        }
      }
      Option.when(fields.forall(_.isDefined))(StructType(fields.flatten ++ more))
    case (ArrayType(x, _), ArrayType(y, _)) => common(x, y).map(ArrayType(_))
    case (MapType(xk, xv, _), MapType(yk, yv, _)) => for (k <- common(xk, yk); v <- common(xv, yv)) yield MapType(k, v)
    case (x, y) => Option.when(x == y || widened(y, x).isDefined)(x).orElse(widened(x, y).map(_ => y))
  }

  private def widened(from: DataType, to: DataType): Option[Any => Any] = (from, to) match {
    case (ByteType, ShortType) => Some(_.asInstanceOf[Byte].toShort)
    case (ByteType, IntegerType) => Some(_.asInstanceOf[Byte].toInt)
    case (ByteType, LongType) => Some(_.asInstanceOf[Byte].toLong)
    case (ShortType, IntegerType) => Some(_.asInstanceOf[Short].toInt)
    case (ShortType, LongType) => Some(_.asInstanceOf[Short].toLong)
    case (IntegerType, LongType) => Some(_.asInstanceOf[Int].toLong)
    case (FloatType, DoubleType) => Some(_.asInstanceOf[Float].toDouble)
    case _ => None
  }

  private def elements(a: ArrayData, t: DataType, f: Any => Any): Array[Any] =
    Array.tabulate[Any](a.numElements())(i => if (a.isNullAt(i)) null else f(a.get(i, t)))

  /** Converts fields by name, as Spark compares names; a new one is null. */
  private def struct(old: Array[StructField], now: Array[StructField], leaf: Leaf): Option[Any => Any] = {
    val places = now.map(f => old.indexWhere(_.name.equalsIgnoreCase(f.name)))
    val converters = now.zip(places).map { case (f, at) =>
      if (at < 0) Some((_: Any) => null)
      else if (ForeignKey.outdated(old(at), f)) Some((_: Any) => ForeignKey.anyRow)
      else of(old(at).dataType, f.dataType, leaf)
    }
    if (converters.exists(_.isEmpty)) None
    else {
      val fields = converters.map(_.get)
      Some { v =>
        val row = v.asInstanceOf[InternalRow]
        new GenericInternalRow(Array.tabulate[Any](now.length) { i =>
          val at = places(i)
          if (at < 0 || row.isNullAt(at)) null else fields(i)(row.get(at, old(at).dataType))
        })
      }
    }
  }
}
