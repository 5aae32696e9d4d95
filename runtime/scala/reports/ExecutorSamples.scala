package org.apache.spark.sql.millrace

import java.util.concurrent.ConcurrentHashMap

import scala.util.control.NonFatal

import org.apache.spark.{SparkContext, SparkEnv}
import org.apache.spark.rpc.{RpcCallContext, RpcEnv, ThreadSafeRpcEndpoint}
import org.apache.spark.util.RpcUtils

/**
 * Samples of tasks on executors. While an executor runs tasks of a run, it asks the driver once a second whether its
 * records are being watched, and sends those it has kept since.
 */
private[millrace] object ExecutorSamples {

  /**
   * A message of an executor. `kept`: as returned by [[Sampler.take]], null if there is nothing new. The response is
   * the number of characters that it may send next time, 0 for nothing.
   */
  private final case class Look(run: String, executor: String, kept: String)

  private val name = "millrace-samples"
  private val everyMs = 1000L

  private final class Driver(override val rpcEnv: RpcEnv) extends ThreadSafeRpcEndpoint {
    override def receiveAndReply(context: RpcCallContext): PartialFunction[Any, Unit] = {
      case Look(run, executor, kept) => context.reply(Samples.share(run, executor, kept))
    }
  }

  private var served: RpcEnv = _

  /** Called in the driver before the tasks of a query start. */
  def serve(): Unit = synchronized {
    val env = SparkEnv.get.rpcEnv
    if (served ne env) { env.setupEndpoint(name, new Driver(env)); served = env }
  }

  private val asking = ConcurrentHashMap.newKeySet[String]()

  /** Called in the JVM of a task of the run. */
  def follow(run: String): Unit = {
    val executor = SparkEnv.get.executorId
    if (executor != SparkContext.DRIVER_IDENTIFIER && asking.add(run)) {
      val asks = new Thread(
        () =>
          try ask(run, executor)
          finally asking.remove(run),
        s"millrace-samples-$run"
      )
      asks.setDaemon(true)
      asks.start()
    }
  }

  private def ask(run: String, executor: String): Unit = {
    val env = SparkEnv.get
    val driver = RpcUtils.makeDriverRef(name, env.conf, env.rpcEnv)
    var share = 0
    while (StreamTasks.has(run)) {
      // Samples are for inspection only: if they fail, the tasks continue without them.
      share =
        try driver.askSync[Int](Look(run, executor, Samples.take(run, share)))
        catch { case NonFatal(_) => 0 }
      if (share > 0) Samples.watch(run) else Samples.unwatch(run)
      Thread.sleep(everyMs)
    }
    Samples.unwatch(run)
  }
}
