package org.apache.spark.sql.millrace

import java.time.Duration
import java.util.concurrent.{ConcurrentHashMap, CountDownLatch, TimeUnit}
import java.util.regex.Pattern

import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.admin.{Admin, ListTopicsOptions}
import org.apache.kafka.clients.consumer.InvalidOffsetException
import org.apache.kafka.common.{KafkaException, TopicPartition}
import org.apache.kafka.common.errors.{
  InterruptException,
  TimeoutException,
  UnknownTopicOrPartitionException,
  WakeupException
}

/**
 * Waits for the first record behind the offsets at which runs have stopped reading (py4j). All runs of this JVM with
 * the same client settings share a consumer: the broker holds its one request for all their topic-partitions until a
 * record arrives. Every ten seconds, one more request asks whether the topics are still the same ones.
 */
object TopicWatch {

  /** The interval at which it is checked that the topics are still the same ones. */
  @volatile private var checkMs = 10000L

  /** How long the broker may not answer before the runs wake up and report it. */
  private[millrace] val patienceSeconds = 20L
  private val watchers = new ConcurrentHashMap[Map[String, String], Watcher]()

  /**
   * Begins to watch for a run. `positionsJson`: the next offset of every topic-partition, `{topic: {partition:
   * offset}}`; `pattern`: of topics that the run reads beside those, or null. Throws if the broker does not answer.
   */
  def add(run: String, clientJson: String, positionsJson: String, pattern: String): Unit = {
    val client = KafkaClient.settings(clientJson)
    val sleeper = new Sleeper(run, PartitionOffsets.parse(positionsJson), Option(pattern).map(Pattern.compile))
    synchronized {
      val found = watchers.compute(client, (_, w) => if (w == null || w.ended) new Watcher(client) else w)
      try found.add(sleeper)
      finally if (found.remove("")) watchers.remove(client, found)
    }
  }

  /** Waits for at most this long. Returns why the run has to wake up, or an empty text. Unknown runs have to. */
  def waitFor(run: String, millis: Long): String =
    sleeperOf(run).fold("it is not watched")(s => if (s.woken.await(millis, TimeUnit.MILLISECONDS)) s.reason else "")

  /** Stops watching for a run, if it is watched. */
  def remove(run: String): Unit = synchronized {
    watchers.asScala.foreach { case (client, w) => if (w.remove(run)) watchers.remove(client, w) }
  }

  /** The number of consumers, and the interval at which topics are checked, for tests. */
  def consumers(): Int = watchers.size
  def checkEvery(millis: Long): Unit = checkMs = millis

  private def sleeperOf(run: String): Option[Sleeper] =
    watchers.values.asScala.flatMap(w => Option(w.sleepers.get(run))).headOption

  private final class Sleeper(val run: String, val positions: Map[TopicPartition, Long], val pattern: Option[Pattern]) {
    val topics: Set[String] = positions.keySet.map(_.topic)
    val woken = new CountDownLatch(1)

    /** Ids and numbers of partitions of the topics, with those that match the pattern. */
    var known: Map[String, String] = Map()
    @volatile var reason = ""
    def wake(why: String): Unit = synchronized(if (reason.isEmpty) { reason = why; woken.countDown() })
  }

  private final class Watcher(client: Map[String, String]) {
    val sleepers = new ConcurrentHashMap[String, Sleeper]()
    @volatile private var changed = true
    @volatile var ended = false
    private var failingSince = 0L
    private val admin = {
      val limit = TopicOffsets.patienceMs.toString
      val own = Map("default.api.timeout.ms" -> limit, "request.timeout.ms" -> limit)
      Admin.create(KafkaClient.properties(client - "group.id" ++ own))
    }
    @volatile private var consumer = connected()
    private val thread = new Thread(() => work(), "millrace-topic-watch")
    thread.setDaemon(true)
    thread.start()

    private def connected() = KafkaClient.consumer(client, TopicWatch.consumer)

    def add(s: Sleeper): Unit = {
      s.known = described(Seq(s))
      sleepers.put(s.run, s)
      change()
    }

    /** Returns whether no run is left, so that the watcher has ended. */
    def remove(run: String): Boolean = {
      val known = sleepers.remove(run) != null
      if (sleepers.isEmpty) ended = true
      if (known || ended) change()
      ended
    }
    private def change(): Unit = { changed = true; consumer.wakeup() }

    private def asleep: Seq[Sleeper] = sleepers.values.asScala.filter(_.reason.isEmpty).toSeq

    private def work(): Unit =
      try {
        var checked = System.nanoTime()
        while (!ended) {
          if (changed) assign()
          try poll()
          catch {
            case _: WakeupException => // something changed
            case e: InvalidOffsetException =>
              e.partitions.forEach(p => asleep.filter(_.positions.contains(p)).foreach(_.wake(s"$p has other offsets")))
              changed = true
            case e: KafkaException if !e.isInstanceOf[InterruptException] => wakeAll(e.getMessage)
          }
          if (!ended && System.nanoTime() - checked > TimeUnit.MILLISECONDS.toNanos(checkMs)) {
            check()
            checked = System.nanoTime()
          }
        }
      } catch { case e: Throwable => wakeAll(String.valueOf(e.getMessage)) }
      finally {
        ended = true
        consumer.close(Duration.ZERO)
        admin.close(Duration.ZERO)
      }

    /**
     * Reads from the lowest position of each topic-partition on: runs may have stopped at different ones. The broker
     * still holds the request of the consumer before, which could not send another one.
     */
    private def assign(): Unit = {
      changed = false
      if (!consumer.assignment.isEmpty) { consumer.close(Duration.ZERO); consumer = connected() }
      val lowest = asleep.flatMap(_.positions).groupMapReduce(_._1)(_._2)(Math.min)
      consumer.assign(lowest.keySet.asJava)
      lowest.foreach { case (place, offset) => consumer.seek(place, offset) }
    }

    private def poll(): Unit =
      if (consumer.assignment.isEmpty) Thread.sleep(TopicWatch.restMs)
      else {
        val found = consumer.poll(Duration.ofSeconds(1))
        found.forEach { record =>
          val place = new TopicPartition(record.topic, record.partition)
          asleep.filter(_.positions.get(place).exists(_ <= record.offset)).foreach(_.wake(s"a record in $place"))
        }
        if (!found.isEmpty) changed = true
      }

    /** Wakes the runs whose topics were deleted, created again, extended or, with a pattern, created. */
    private def check(): Unit = {
      val all = asleep
      if (all.nonEmpty)
        try {
          val now = described(all)
          failingSince = 0L
          all.foreach { s =>
            val mine = now.filter { case (topic, _) => s.topics(topic) || s.pattern.exists(_.matcher(topic).matches) }
            if (mine != s.known) {
              val others = (mine.toSet ++ s.known.toSet -- mine.toSet.intersect(s.known.toSet)).map(_._1)
              s.wake(s"another topic ${others.toSeq.sorted.mkString(", ")}")
            }
          }
        } catch {
          case e: KafkaException if e.isInstanceOf[TimeoutException] =>
            if (failingSince == 0L) failingSince = System.nanoTime()
            if (System.nanoTime() - failingSince > TimeUnit.SECONDS.toNanos(patienceSeconds))
              wakeAll("the broker does not answer")
          case e: KafkaException => wakeAll(e.getMessage)
        }
    }
    private def wakeAll(why: String): Unit = { asleep.foreach(_.wake(why)); changed = true }

    /** Ids and numbers of partitions of the topics of these runs that exist. */
    private def described(runs: Seq[Sleeper]): Map[String, String] = {
      val patterns = runs.flatMap(_.pattern)
      val matching =
        if (patterns.isEmpty) Set()
        else
          result(admin.listTopics(new ListTopicsOptions).names).asScala
            .filter(topic => patterns.exists(_.matcher(topic).matches))
      admin
        .describeTopics((runs.flatMap(_.topics).toSet ++ matching).asJava)
        .topicNameValues
        .asScala
        .flatMap { case (topic, described) =>
          try {
            val found = result(described)
            Some(topic -> s"${found.topicId} ${found.partitions.size}")
          } catch { case _: UnknownTopicOrPartitionException => None }
        }
        .toMap
    }
    private def result[T](future: org.apache.kafka.common.KafkaFuture[T]): T =
      try future.get(TopicOffsets.patienceMs, TimeUnit.MILLISECONDS)
      catch {
        case e: java.util.concurrent.ExecutionException => throw e.getCause
        case e: java.util.concurrent.TimeoutException => throw new TimeoutException(e)
      }
  }

  private val restMs = 50L

  /** The broker holds a fetch request for half of Kafka's usual timeout, and answers it with a record at most. */
  private val consumer = Map(
    "fetch.max.wait.ms" -> "15000",
    "request.timeout.ms" -> "30000",
    "max.partition.fetch.bytes" -> "1"
  )
}
