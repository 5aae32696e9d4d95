package org.apache.spark.sql.millrace

import java.util.concurrent.TimeUnit

import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.admin.{Admin, OffsetSpec}
import org.apache.kafka.common.TopicPartition

/** Reads offsets of topic-partitions from the broker while a job runs (py4j). `clientJson`: Kafka client settings. */
final class TopicOffsets(clientJson: String) {
  private val admin = {
    val limit = TopicOffsets.patienceMs.toString
    val own = Map("default.api.timeout.ms" -> limit, "request.timeout.ms" -> limit)
    Admin.create(KafkaClient.properties(KafkaClient.settings(clientJson) ++ own))
  }

  /**
   * Returns, for `[[topic, partition], ...]`, `[[topic, partition, earliest, end], ...]`: the end is the offset of the
   * next record. Throws if the broker does not answer.
   */
  def of(placesJson: String): String = {
    val places = Json.mapper
      .readTree(placesJson)
      .elements
      .asScala
      .map(x => new TopicPartition(x.get(0).asText, x.get(1).asInt))
      .toSeq
    val (first, end) = (list(places, OffsetSpec.earliest), list(places, OffsetSpec.latest))
    val out = Json.mapper.createArrayNode()
    places.foreach(p =>
      out
        .addArray()
        .add(p.topic)
        .add(p.partition)
        .add(first.get(p).get(TopicOffsets.patienceMs, TimeUnit.MILLISECONDS).offset)
        .add(end.get(p).get(TopicOffsets.patienceMs, TimeUnit.MILLISECONDS).offset)
    )
    Json.mapper.writeValueAsString(out)
  }
  private def list(places: Seq[TopicPartition], at: OffsetSpec) = {
    val asked = admin.listOffsets(places.map(_ -> at).toMap.asJava)
    places.map(p => p -> asked.partitionResult(p)).toMap.asJava
  }

  /** Returns the ids of those of these topics that exist, as `{name: id}`, with one request. */
  def ids(namesJson: String): String = {
    val names = Json.mapper.readTree(namesJson).elements.asScala.map(_.asText).toSeq
    val out = Json.mapper.createObjectNode()
    admin.describeTopics(names.asJava).topicNameValues.asScala.foreach { case (name, described) =>
      try out.put(name, described.get(TopicOffsets.patienceMs, TimeUnit.MILLISECONDS).topicId.toString)
      catch {
        case e: java.util.concurrent.ExecutionException
            if e.getCause.isInstanceOf[org.apache.kafka.common.errors.UnknownTopicOrPartitionException] =>
      }
    }
    Json.mapper.writeValueAsString(out)
  }

  def close(): Unit = admin.close(java.time.Duration.ZERO)
}

private object TopicOffsets { val patienceMs = 3000L }
