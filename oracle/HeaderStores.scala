package oracle

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode
import java.time.Duration
import org.apache.kafka.common.header.Headers
import org.apache.kafka.common.serialization.Serde
import org.apache.kafka.streams.processor.StateStore
import org.apache.kafka.streams.state.{StoreBuilder, Stores}
import org.apache.spark.sql.types.{BinaryType, DataType}
import scala.util.Try

/** Stores whose rows have headers (KIP-1271), by reflection: releases before 4.3 do not have them. */
object HeaderStores {
  private def known(name: String) = Try(Class.forName(s"org.apache.kafka.streams.state.$name")).toOption
  private val rows = known("ValueTimestampHeaders")
  private val sessions = known("AggregationWithHeaders")

  private def called(name: String, arguments: AnyRef*): Any =
    classOf[Stores].getMethods.find(m => m.getName == name && m.getParameterCount == arguments.size) match {
      case Some(m) => m.invoke(null, arguments: _*)
      case None => throw new Unsupported("headers in stores, before 4.3")
    }
  private def built(kind: String, supplier: Any, key: Serde[_], value: Serde[_]): StoreBuilder[_ <: StateStore] =
    called(s"${kind}StoreWithHeadersBuilder", supplier.asInstanceOf[AnyRef], key, value)
      .asInstanceOf[StoreBuilder[_ <: StateStore]]

  def keyValue(name: String, key: Serde[_], value: Serde[_]): StoreBuilder[_ <: StateStore] =
    built("timestampedKeyValue", called("persistentTimestampedKeyValueStoreWithHeaders", name), key, value)

  def window(
      name: String,
      retention: Duration,
      size: Duration,
      key: Serde[_],
      value: Serde[_]
  ): StoreBuilder[_ <: StateStore] = {
    val duplicates = java.lang.Boolean.FALSE
    val supplier = called("persistentTimestampedWindowStoreWithHeaders", name, retention, size, duplicates)
    built("timestampedWindow", supplier, key, value)
  }

  def session(name: String, retention: Duration, key: Serde[_], value: Serde[_]): StoreBuilder[_ <: StateStore] =
    built("session", called("persistentSessionStoreWithHeaders", name, retention), key, value)

  /** A value with headers, as a session store keeps it. */
  def aggregation(value: Any, headers: Headers): Any =
    sessions.get.getMethods.find(_.getName == "make").get.invoke(null, value.asInstanceOf[AnyRef], headers)

  /** The parts of what [[aggregation]] returns. */
  object Aggregation {
    def unapply(row: Any): Option[(Any, Headers)] = sessions.filter(_.isInstance(row)).map { c =>
      (c.getMethod("aggregation").invoke(row), c.getMethod("headers").invoke(row).asInstanceOf[Headers])
    }
  }

  /** A row with headers. */
  def row(value: Any, timestamp: Long, headers: Headers): Any =
    rows.get.getMethods
      .find(_.getName == "make")
      .get
      .invoke(null, value.asInstanceOf[AnyRef], java.lang.Long.valueOf(timestamp), headers)

  /** The parts of a row; None for what is no row with headers. */
  def unapply(row: Any): Option[(Any, Long, Headers)] = rows.filter(_.isInstance(row)).map { c =>
    def part(name: String) = c.getMethod(name).invoke(row)
    (part("value"), part("timestamp").asInstanceOf[Long], part("headers").asInstanceOf[Headers])
  }

  /** A row as a struct of value, timestamp and headers. */
  def json(value: Any, timestamp: Long, headers: Headers, valueType: DataType): JsonNode = {
    val o = Main.mapper.createObjectNode()
    o.set[JsonNode]("value", Json.node(value, valueType))
    o.put("timestamp", timestamp)
    withHeaders(o, headers)
  }

  /** A row of a session store as a struct of aggregation and headers. */
  def json(aggregation: Any, headers: Headers, valueType: DataType): JsonNode = {
    val o = Main.mapper.createObjectNode()
    o.set[JsonNode]("aggregation", Json.node(aggregation, valueType))
    withHeaders(o, headers)
  }

  private def withHeaders(o: ObjectNode, headers: Headers): JsonNode = {
    val all = o.putArray("headers")
    headers.forEach { h =>
      val each = all.addObject().put("name", h.key)
      each.set[JsonNode]("value", Json.node(h.value, BinaryType))
    }
    o
  }
}
