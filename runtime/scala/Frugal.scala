package org.apache.spark.sql.millrace

import org.apache.hadoop.conf.Configuration

import org.apache.spark.network.util.JavaUtils
import org.apache.spark.sql.{classic, SparkSession}

/** Spares a session work that Spark repeats for each micro-batch and that nobody reads (py4j). */
object Frugal {

  /**
   * Call it once, before the first query. Without Spark's own pages, nothing reads what its listeners keep about jobs,
   * stages, tasks and executions. Settings of Hadoop forget the files that they are from: Spark serializes the settings
   * for each stateful operator of each micro-batch, and Hadoop compresses the name of the file for each setting. Java
   * deletes folders and sets permissions, not a process for each: snapshots of state stores do that with every second
   * micro-batch.
   */
  def prepare(session: SparkSession): Unit = {
    val spark = session.asInstanceOf[classic.SparkSession]
    val context = spark.sparkContext
    if (context.ui.isEmpty) {
      context.statusStore.listener.foreach(context.removeSparkListener)
      spark.sharedState.statusStore.listener.foreach(context.removeSparkListener)
    }
    JavaUtils.isUnix = false
    PosixFiles.use(context.hadoopConfiguration)
    context.hadoopConfiguration.size() // reads the files
    sources.get(context.hadoopConfiguration) match {
      case m: java.util.Map[_, _] => m.clear()
      case _ => // nothing was read
    }
  }

  private lazy val sources = {
    val f = classOf[Configuration].getDeclaredField("updatingResource")
    f.setAccessible(true)
    f
  }
}
