package org.apache.spark.sql.millrace

import java.util.concurrent.TimeUnit

import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.admin.{Admin, OffsetSpec}
import org.apache.kafka.common.TopicPartition

/** Reads offsets of topic-partitions from the broker while a job runs (py4j). `clientJson`: Kafka client settings. */
final class TopicOffsets(clientJson: String) {
  private val admin = {
    val p = new java.util.Properties()
    Json.mapper.readTree(clientJson).properties.forEach(e => p.put(e.getKey, e.getValue.asText))
    p.put("default.api.timeout.ms", TopicOffsets.patienceMs.toString)
    p.put("request.timeout.ms", TopicOffsets.patienceMs.toString)
    Admin.create(p)
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

  def close(): Unit = admin.close(java.time.Duration.ZERO)
}

private object TopicOffsets { val patienceMs = 3000L }
