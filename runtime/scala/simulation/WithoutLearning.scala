package org.apache.spark.sql.millrace

import java.net.URL
import java.util.{Collections, Enumeration}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.SparkSessionExtensionsProvider
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry
import org.apache.spark.sql.ml.InternalFunctionRegistration

/**
 * Leaves the functions of Spark's machine learning out of the creation of a session. Each session registers them, for
 * which Scala's reflection reads a good part of Spark's types: a quarter of the time that a session takes. Here the
 * first use registers them.
 */
object WithoutLearning {
  private val service = s"META-INF/services/${classOf[SparkSessionExtensionsProvider].getName}"
  private val names = Seq("vector_to_array", "array_to_vector", "aggregate_metrics").map(FunctionIdentifier(_))

  /** What `create` returns, while this thread finds all extensions of sessions but those of machine learning. */
  def apply[T](create: => T): T = {
    val thread = Thread.currentThread
    val own = thread.getContextClassLoader
    thread.setContextClassLoader(new Extensions(own))
    try create
    finally {
      thread.setContextClassLoader(own)
      names.foreach(registerOnUse)
    }
  }

  private def registerOnUse(name: FunctionIdentifier): Unit =
    FunctionRegistry.internal.registerFunction(
      name,
      arguments => {
        InternalFunctionRegistration.apply()
        FunctionRegistry.internal.lookupFunction(name, arguments)
      },
      "internal"
    )

  private class Extensions(parent: ClassLoader) extends ClassLoader(parent) {
    override def getResources(name: String): Enumeration[URL] = {
      val found = super.getResources(name)
      if (name == service) Collections.enumeration(Collections.list(found).asScala.filterNot(ofLearning).asJava)
      else found
    }
  }

  private def ofLearning(url: URL): Boolean = url.getPath.contains("/spark-mllib_")
}
