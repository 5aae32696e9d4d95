package org.apache.spark.sql.millrace

import java.util.{HashMap => JHashMap}

/**
 * Paths of rows: sorted by them, rows are in the order in which a task takes them. A path starts with the turn of the
 * current record: nothing for the input record itself, else that of the latest topic in between. Then come the numbers,
 * 4 bytes each, of what the record causes without another topic.
 */
private[millrace] object Turns {

  /**
   * Marks rows that go through a topic: they come after all others that the same record causes, since a task takes them
   * only when the record is done.
   */
  private val behind = 0x80

  /** The bytes of a turn: mark, timestamp, generation, level, number. */
  private val size = 1 + 8 + 1 + 1 + 4

  def beside(path: Array[Byte], number: Int): Array[Byte] = append(path, number)
  def after(path: Array[Byte], number: Int): Array[Byte] = append(path, number | Int.MinValue)

  private def append(path: Array[Byte], number: Int): Array[Byte] = {
    val p = java.util.Arrays.copyOf(path, path.length + 4)
    Bytes.putInt(p, path.length, number)
    p
  }

  private def time(turn: Array[Byte], at: Int): Long = Bytes.getLong(turn, at + 1)
  private def generation(turn: Array[Byte], at: Int): Int = turn(at + 9) & 0xff
}

/**
 * A simulation's order: the one of Kafka Streams' test driver, a single task that also reads the internal topics. Of
 * the records that wait in all of them, it takes the one with the smallest timestamp [PL1]. In a topic, the first
 * record comes first, so one with a high timestamp delays those behind it.
 *
 * A turn lists, from the highest timestamp down, the records that had to come before and waited longest: a record
 * belongs below those that it depends on (the record that sent it, the one before it in its topic) and that have a
 * higher timestamp than its own. Of equal timestamps, those that are fewer topics away come first.
 *
 * The test driver has one task. Of several tasks, each counts what it sends, and no two send the same number.
 */
private[millrace] final class Turns(level: Int, index: Int, tasks: Int) {
  import Turns._
  private val last = new JHashMap[(Int, Int), Array[Byte]]()
  private var sent = 0

  /** Starts another input record. */
  def begin(): Unit = { last.clear(); sent = 0 }

  /**
   * The path of a record that a DataFrame sent through a topic: its turn, followed by its own path, which distinguishes
   * it from the input record's other results.
   */
  def arrived(path: Array[Byte], dest: Int, timestamp: Long): Array[Byte] = {
    val made = next(Array.emptyByteArray, dest, index, timestamp, 0)
    val whole = java.util.Arrays.copyOf(made, made.length + path.length)
    System.arraycopy(path, 0, whole, made.length, path.length)
    whole
  }

  /** The turn of a record that the record with that path sends through the topic of `dest` to a task. */
  def next(path: Array[Byte], dest: Int, task: Int, timestamp: Long): Array[Byte] = {
    sent += 1
    next(path, dest, task, timestamp, sent * tasks + index)
  }

  private def next(path: Array[Byte], dest: Int, task: Int, timestamp: Long, number: Int): Array[Byte] = {
    val sender = turn(path)
    val previous = last.get((dest, task))
    val latest = if (previous != null && Bytes.compare(previous, sender) > 0) previous else sender
    var kept = 0
    while (kept < latest.length && time(latest, kept) > timestamp) kept += size
    def equal(t: Array[Byte]): Boolean =
      t != null && t.length > kept && time(t, kept) == timestamp && java.util.Arrays.equals(t, 0, kept, latest, 0, kept)
    val away = Math.max(
      if (equal(sender)) generation(sender, kept) + 1 else 0,
      if (equal(previous)) generation(previous, kept) else 0
    )
    val made = java.util.Arrays.copyOf(latest, kept + size)
    made(kept) = behind.toByte
    Bytes.putLong(made, kept + 1, timestamp)
    made(kept + 9) = Math.min(away, 255).toByte
    made(kept + 10) = level.toByte
    Bytes.putInt(made, kept + 11, number)
    last.put((dest, task), made)
    made
  }

  private def turn(path: Array[Byte]): Array[Byte] = {
    var end = 0
    while (end < path.length && (path(end) & behind) != 0) end += size
    java.util.Arrays.copyOf(path, end)
  }
}
