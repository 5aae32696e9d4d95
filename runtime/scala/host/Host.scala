package org.apache.spark.sql.millrace

import java.lang.management.ManagementFactory
import java.nio.file.Path
import java.util.concurrent.{ConcurrentHashMap, CountDownLatch}

import scala.util.control.NonFatal

import org.apache.spark.{SparkContext, TaskContext}
import org.apache.spark.api.python.Py4JServer
import org.apache.spark.scheduler.{
  SparkListener,
  SparkListenerStageSubmitted,
  SparkListenerTaskEnd,
  SparkListenerTaskStart
}
import org.apache.spark.sql.classic

/**
 * Runs of several deployments in one JVM. Each run has a session, a gateway with a secret of its own for its driver, a
 * log file, and a pool of the fair scheduler, which its threads inherit from the thread that opens it.
 */
object Host {

  /** A run. `threads`: all threads that its gateway starts, with those of its queries. */
  private final class Guest(val session: classic.SparkSession, val threads: ThreadGroup, val server: Py4JServer)

  private val guests = new ConcurrentHashMap[String, Guest]()

  /** Local property of the jobs of a run. */
  private[millrace] val property = "millrace.run"

  /** Prepares this JVM. `folder`: where the run with the most allocations is noted while the heap fills. */
  def begin(session: classic.SparkSession, folder: String): Unit = {
    session.sparkContext.addSparkListener(HostTasks)
    HostLog.begin()
    HeapGuard.begin(Path.of(folder))
  }

  /** Opens a run whose log lines are appended to a file. Returns port and secret of its gateway. */
  def open(base: classic.SparkSession, run: String, log: String): Array[String] = {
    val session = base.newSession()
    val threads = new ThreadGroup(s"run $run")
    HostLog.open(run, Path.of(log))
    var failed: Throwable = null
    val opened = new CountDownLatch(1)
    val opening = new Thread(
      threads,
      () =>
        try {
          val context = session.sparkContext
          context.setLocalProperty("spark.scheduler.pool", run.takeWhile(_ != '-'))
          context.setLocalProperty(property, run)
          classic.SparkSession.setActiveSession(session)
          val server = new Py4JServer(context.getConf)
          server.start()
          guests.put(run, new Guest(session, threads, server))
        } catch { case e: Throwable => failed = e }
        finally opened.countDown(),
      s"opening of run $run"
    )
    opening.start()
    opened.await()
    if (failed != null) { HostLog.close(run); throw failed }
    val server = guests.get(run).server
    Array(server.getListeningPort.toString, server.secret)
  }

  /** The session of an open run. */
  def session(run: String): classic.SparkSession = guests.get(run).session

  /**
   * Ends the queries and tasks of a run. Returns whether nothing of it is at work any more; false if a task still runs
   * after `patienceMs`, or later if its threads had hardly any processor time meanwhile: on a machine that has too much
   * to do, a run that ends slowly does not hang.
   */
  def close(run: String, patienceMs: Long): Boolean = {
    val guest = guests.remove(run)
    if (guest == null) return true
    val began = System.nanoTime()
    // New requests are refused; one that starts a query at this moment is waited for.
    guest.server.shutdown()
    val stopping = new Thread(
      () => {
        StreamThread.stop(run)
        while (!Thread.interrupted() && (calls(guest).nonEmpty || guest.session.streams.active.nonEmpty)) {
          guest.session.streams.active.foreach(q =>
            try q.stop()
            catch { case NonFatal(_) => }
          )
          calls(guest).foreach(_.interrupt())
          Thread.sleep(5)
        }
        // One that a request has begun meanwhile.
        StreamThread.stop(run)
      },
      s"end of run $run"
    )
    stopping.setDaemon(true)
    stopping.start()
    val used = new ProcessorTime(run)
    def waits = {
      val millis = (System.nanoTime() - began) / 1000000
      millis < patienceMs || (millis < longest * patienceMs && used.millis < patienceMs / 2)
    }
    while (stopping.isAlive && waits) stopping.join(10)
    while (busy(run) && waits) Thread.sleep(10)
    val ended = !stopping.isAlive && !busy(run)
    if (ended) {
      TopicWatch.remove(run)
      StreamTasks.release(run)
      KafkaSink.forget(run)
      Samples.unwatch(run)
      Reports.forget(run)
      HostLog.close(run)
    }
    ended
  }

  /** So many times the patience are waited for a run whose threads hardly get to work. */
  private val longest = 5

  /** The processor time that the threads of a run at work have used since this was made. */
  private final class ProcessorTime(run: String) {
    private val threads = ManagementFactory.getThreadMXBean
    private val before = now

    private def now: Map[Long, Long] =
      HostTasks.known().collect { case (t, `run`) => t.getId -> threads.getThreadCpuTime(t.getId) }.toMap

    def millis: Long = now.map { case (id, nanos) => nanos - before.getOrElse(id, 0L) }.sum / 1000000
  }

  /** The run of a host to which this thread belongs: of a task, of a query or of a request; else null. */
  private[millrace] def current: String = Option(TaskContext.get()) match {
    case Some(task) => task.getLocalProperty(property)
    case None => SparkContext.getActive.map(_.getLocalProperty(property)).orNull
  }

  /** The run that must leave because the heap is nearly full; null if there is none. */
  def leaving(): String = HeapGuard.leaving

  private def busy(run: String): Boolean = HostTasks.threads().exists(_._2 == run)

  /** Threads of a run that execute a request of its driver. */
  private def calls(guest: Guest): Seq[Thread] = {
    val found = new Array[Thread](guest.threads.activeCount() * 2 + 16)
    found.take(guest.threads.enumerate(found)).toSeq.filter { t =>
      t.getStackTrace.exists(_.getClassName.startsWith("py4j.commands."))
    }
  }
}

/** Which run each Spark task and stream thread of this JVM belongs to. */
private[millrace] object HostTasks extends SparkListener {
  private val runs = new ConcurrentHashMap[Int, String]()
  private val tasks = new ConcurrentHashMap[Long, String]()
  private val named = """.*\(TID (\d+)\).*""".r

  override def onStageSubmitted(e: SparkListenerStageSubmitted): Unit =
    Option(e.properties).flatMap(p => Option(p.getProperty(Host.property))).foreach(runs.put(e.stageInfo.stageId, _))
  override def onTaskStart(e: SparkListenerTaskStart): Unit =
    Option(runs.get(e.stageId)).foreach(tasks.put(e.taskInfo.taskId, _))
  override def onTaskEnd(e: SparkListenerTaskEnd): Unit = if (e.taskInfo != null) tasks.remove(e.taskInfo.taskId)
  override def onStageCompleted(e: org.apache.spark.scheduler.SparkListenerStageCompleted): Unit =
    runs.remove(e.stageInfo.stageId)

  /** The living threads of tasks, and stream threads, each with its run. */
  def threads(): Seq[(Thread, String)] = {
    SparkContext.getActive.foreach(context =>
      try context.listenerBus.waitUntilEmpty(1000L)
      catch { case NonFatal(_) => }
    )
    known()
  }

  /** The same, as far as Spark has reported it by now. */
  def known(): Seq[(Thread, String)] = StreamThread.alive ++ (
    if (tasks.isEmpty) Nil
    else
      alive().flatMap { t =>
        t.getName match {
          case named(id) => Option(tasks.get(id.toLong)).map(t -> _)
          case _ => None
        }
      }
  )

  /** All threads of this JVM. `Thread.getAllStackTraces` would stop each of them. */
  private def alive(): Seq[Thread] = {
    var root = Thread.currentThread.getThreadGroup
    while (root.getParent != null) root = root.getParent
    val found = new Array[Thread](root.activeCount() * 2 + 16)
    found.take(root.enumerate(found)).toSeq
  }
}
