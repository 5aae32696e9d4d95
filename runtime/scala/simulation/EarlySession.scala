package org.apache.spark.sql.millrace

import java.util.concurrent.FutureTask

import org.apache.spark.SparkContext
import org.apache.spark.api.python.PythonGatewayServer
import org.apache.spark.sql.{classic, SparkSession}
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser

/**
 * The main class of a JVM that creates its session by itself, with the settings in its system properties
 * (`session/early.py`). Python connects as to PySpark's own JVM, which ends with its standard input.
 */
object EarlySession {
  private val first =
    """{"expressions": [{"text": "concat(key, 'a')", "columns": {"key": "STRING"}}], "types": ["STRING"]}"""
  private val task = new FutureTask[classic.SparkSession](() => create())

  /**
   * Loads the functions of SQL and its parser while the session's thread starts Spark's core, which needs none of them.
   * What initializes classes of SQL does not run beside it: it waits for this thread.
   */
  private val loading = new Thread(
    () => {
      CatalystSqlParser.parseExpression("concat(key, 'a')")
      FunctionRegistry.builtin.listFunction()
    },
    "loading"
  )

  def main(args: Array[String]): Unit = {
    loading.setDaemon(true)
    loading.start()
    val creating = new Thread(task, "session")
    creating.setDaemon(true)
    creating.start()
    PythonGatewayServer.main(Array.empty)
  }

  /** The session, once it is created (py4j). */
  def session(): classic.SparkSession = task.get()

  private def create(): classic.SparkSession = {
    SparkContext.getOrCreate()
    loading.join()
    val made = WithoutLearning(SparkSession.builder().getOrCreate()).asInstanceOf[classic.SparkSession]
    // Python prepares the session itself meanwhile; the first topology needs the analyzer.
    val warm = new Thread(() => Analysis.analyze(made, first), "first analysis")
    warm.setDaemon(true)
    warm.start()
    made
  }
}
