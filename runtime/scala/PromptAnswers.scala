package org.apache.spark.sql.millrace

import java.net.SocketException
import java.util

import scala.jdk.CollectionConverters._

import py4j.{DefaultGatewayServerListener, GatewayServer, Py4JServerConnection}

/**
 * Sends Java's answers to Python at once (py4j).
 *
 * py4j writes an answer in blocks of 8 kB. By default, TCP sends a second block only when the first one has been
 * acknowledged, which Python's side, having nothing to send, does after 40 ms.
 */
object PromptAnswers extends DefaultGatewayServerListener {

  /** Affects the connections of a server, those that there are and later ones. */
  def of(server: GatewayServer): Unit = {
    server.addListener(this)
    connections.get(server).asInstanceOf[util.List[Py4JServerConnection]].asScala.toSeq.foreach(connectionStarted)
  }

  override def connectionStarted(connection: Py4JServerConnection): Unit =
    try connection.getSocket.setTcpNoDelay(true)
    catch { case _: SocketException => } // it is closed

  private lazy val connections = {
    val f = classOf[GatewayServer].getDeclaredField("connections")
    f.setAccessible(true)
    f
  }
}
