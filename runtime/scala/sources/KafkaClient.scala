package org.apache.spark.sql.millrace

import java.util.Properties

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode

import org.apache.kafka.clients.consumer.KafkaConsumer
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.serialization.ByteArrayDeserializer

/** Settings of Kafka clients, which drivers pass as a JSON object. */
private[millrace] object KafkaClient {
  def settings(json: String): Map[String, String] = settings(Json.mapper.readTree(json))
  def settings(json: JsonNode): Map[String, String] =
    json.properties.asScala.map(e => e.getKey -> e.getValue.asText).toMap

  def properties(settings: Map[String, String]): Properties = {
    val p = new Properties()
    settings.foreach { case (name, value) => p.put(name, value) }
    p
  }

  /** A consumer outside of any group, which begins where it is told. `own`: settings that replace the client's. */
  def consumer(client: Map[String, String], own: Map[String, String]): KafkaConsumer[Array[Byte], Array[Byte]] =
    new KafkaConsumer(
      properties(client - "group.id" ++ alone ++ own),
      new ByteArrayDeserializer,
      new ByteArrayDeserializer
    )
  private val alone =
    Map("enable.auto.commit" -> "false", "auto.offset.reset" -> "none", "allow.auto.create.topics" -> "false")
}

/** Offsets of topic-partitions as Spark's Kafka source writes them: `{topic: {partition: offset}}`. */
private[millrace] object PartitionOffsets {
  def parse(json: String): Map[TopicPartition, Long] = (for {
    topic <- Json.mapper.readTree(json).properties.asScala
    place <- topic.getValue.properties.asScala
  } yield new TopicPartition(topic.getKey, place.getKey.toInt) -> place.getValue.asLong).toMap

  def json(offsets: Iterable[(TopicPartition, Long)]): String = {
    val out = Json.mapper.createObjectNode()
    offsets.toSeq.sortBy { case (p, _) => (p.topic, p.partition) }.foreach { case (p, offset) =>
      val topic = Option(out.get(p.topic).asInstanceOf[ObjectNode]).getOrElse(out.putObject(p.topic))
      topic.put(p.partition.toString, offset)
    }
    Json.mapper.writeValueAsString(out)
  }
}
