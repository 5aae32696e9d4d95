package org.apache.spark.sql.millrace

import java.io.{FileOutputStream, OutputStream}
import java.nio.file.Path
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.logging.log4j.LogManager
import org.apache.logging.log4j.core.{Appender, LogEvent, LoggerContext}
import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.Property

/** Appends each log line to the file of the run whose thread logs it; others go to standard error as before. */
private[millrace] object HostLog {
  private val files = new ConcurrentHashMap[String, OutputStream]()

  def begin(): Unit = {
    val context = LogManager.getContext(false).asInstanceOf[LoggerContext]
    val root = context.getConfiguration.getRootLogger
    root.getAppenders.asScala.toSeq.foreach { case (name, console) =>
      root.removeAppender(name)
      val routed = new Routed(console)
      routed.start()
      root.addAppender(routed, null, null)
    }
    context.updateLoggers()
  }

  /** The file is opened for appending, as its driver does: it can be truncated while it is open. */
  def open(run: String, file: Path): Unit = files.put(run, new FileOutputStream(file.toFile, true))
  def close(run: String): Unit = Option(files.remove(run)).foreach(_.close())

  private final class Routed(console: Appender)
      extends AbstractAppender("routed", null, console.getLayout, true, Property.EMPTY_ARRAY) {
    override def append(event: LogEvent): Unit = Option(Host.current).flatMap(run => Option(files.get(run))) match {
      case Some(file) =>
        try file.write(console.getLayout.toByteArray(event))
        catch { case NonFatal(_) => console.append(event) }
      case None => console.append(event)
    }
  }
}
