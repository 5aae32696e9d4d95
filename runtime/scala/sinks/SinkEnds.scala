package org.apache.spark.sql.millrace

import java.nio.file.{Files, Path, StandardCopyOption}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode

import org.apache.kafka.clients.producer.RecordMetadata

/** The records written to a topic-partition: the offset of the first one, and the offset after the last. */
private[millrace] final class WrittenEnd(val topic: String, val partition: Int, var first: Long, var end: Long)
    extends Serializable

/** The offsets that the broker returned to one writer's producer, whose thread adds them; complete after a flush. */
private[millrace] final class WrittenEnds {
  private val ends = mutable.ArrayBuffer.empty[WrittenEnd]

  /** Whether a record was written at an offset that the broker did not return. */
  var unknown = false

  def add(m: RecordMetadata): Unit =
    if (m.offset < 0) unknown = true
    else {
      val end = ends.find(e => e.partition == m.partition && e.topic == m.topic)
      end match {
        case Some(e) => e.first = math.min(e.first, m.offset); e.end = math.max(e.end, m.offset + 1)
        case None => ends += new WrittenEnd(m.topic, m.partition, m.offset, m.offset + 1)
      }
    }
  def found: Array[WrittenEnd] = ends.toArray
}

/**
 * Notes beside a checkpoint where the output topics ended after the last micro-batch, so that another version's outputs
 * for the same input can be compared with them (ADR 27): `{"stream": the query's folder, "batch", "ends": {topic:
 * {partition: [the first offset ever noted, the one after the last]}}}`. A failure to do so never fails a batch.
 */
private[millrace] final class SinkEnds(file: Path, stream: String, client: Map[String, String]) {
  private val ends = mutable.Map.empty[(String, Int), (Long, Long)]
  if (Files.exists(file))
    for (
      topic <- Json.mapper.readTree(Files.readAllBytes(file)).path("ends").properties.asScala;
      partition <- topic.getValue.properties.asScala
    )
      ends((topic.getKey, partition.getKey.toInt)) = (
        partition.getValue.get(0).asLong,
        partition.getValue.get(1).asLong
      )

  def note(batch: Long, written: Seq[Written]): Unit =
    try {
      written.flatMap(_.ends).groupBy(e => (e.topic, e.partition)).foreach { case (place, es) =>
        add(place, es.map(_.first).min, es.map(_.end).max)
      }
      if (written.exists(_.incomplete)) ask()
      write(batch)
    } catch {
      case e: Exception => StreamTask.logger.warn(s"The end offsets of the output topics were not recorded: $e")
    }

  /** Adds offsets of a topic-partition. A topic that ends before its previous end was deleted and created again. */
  private def add(place: (String, Int), first: Long, end: Long): Unit = {
    val known = ends.get(place).filter(_._2 <= end)
    ends(place) = (known.fold(first)(_._1), end)
  }

  /** Asks the broker for all ends. Nothing is written between two micro-batches, so they are those of this batch. */
  private def ask(): Unit = {
    val places = Json.mapper.createArrayNode()
    ends.keys.foreach { case (topic, partition) => places.addArray().add(topic).add(partition) }
    val offsets = new TopicOffsets(Json.mapper.writeValueAsString(client.asJava))
    try
      Json.mapper.readTree(offsets.of(Json.mapper.writeValueAsString(places))).elements.asScala.foreach { found =>
        val place = (found.get(0).asText, found.get(1).asInt)
        add(place, ends(place)._1, found.get(3).asLong)
      }
    finally offsets.close()
  }

  private def write(batch: Long): Unit = {
    val out = Json.mapper.createObjectNode().put("stream", stream).put("batch", batch)
    val topics = out.putObject("ends")
    ends.toSeq.sortBy(_._1).foreach { case ((topic, partition), (first, end)) =>
      val places = Option(topics.get(topic)).getOrElse(topics.putObject(topic))
      places
        .asInstanceOf[com.fasterxml.jackson.databind.node.ObjectNode]
        .putArray(partition.toString)
        .add(first)
        .add(end)
    }
    val partial = file.resolveSibling(file.getFileName.toString + ".new")
    Files.write(partial, Json.mapper.writeValueAsBytes(out))
    Files.move(partial, file, StandardCopyOption.ATOMIC_MOVE)
  }
}

private[millrace] object SinkEnds {

  /** Reads `{"file", "stream"}`; null for a job that notes nothing. */
  def of(options: JsonNode, client: Map[String, String]): SinkEnds =
    if (!options.isObject) null
    else new SinkEnds(Path.of(options.get("file").asText), options.get("stream").asText, client)
}
