package org.apache.spark.sql.millrace

import java.util.concurrent.FutureTask

import org.apache.spark.SparkContext
import org.apache.spark.api.python.PythonGatewayServer
import org.apache.spark.sql.{classic, SparkSession}

/**
 * The main class of a JVM that creates its session by itself, with the settings in its system properties
 * (`session/early.py`). Python connects as to PySpark's own JVM, which ends with its standard input.
 */
object EarlySession {
  private val first =
    """{"expressions": [{"text": "concat(key, 'a')", "columns": {"key": "STRING"}}], "types": ["STRING"]}"""
  private val task = new FutureTask[classic.SparkSession](() => create())

  def main(args: Array[String]): Unit = {
    val creating = new Thread(task, "session")
    creating.setDaemon(true)
    creating.start()
    PythonGatewayServer.main(Array.empty)
  }

  /** The session, once it is created (py4j). */
  def session(): classic.SparkSession = task.get()

  private def create(): classic.SparkSession = {
    SparkContext.getOrCreate()
    val made = WithoutLearning(SparkSession.builder().getOrCreate()).asInstanceOf[classic.SparkSession]
    // Python prepares the session itself meanwhile; the first topology needs the analyzer.
    val warm = new Thread(() => Analysis.analyze(made, first), "first analysis")
    warm.setDaemon(true)
    warm.start()
    made
  }
}
