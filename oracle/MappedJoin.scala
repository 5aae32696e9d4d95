package oracle

import java.lang.reflect.{InvocationTargetException, Proxy}
import org.apache.kafka.streams.kstream._

/**
 * A join with a global table whose joiner sees the keys of both sides (KIP-1340). It exists since 4.4, so it is called
 * by reflection.
 */
object MappedJoin {
  private val name = "org.apache.kafka.streams.kstream.ValueJoinerWithStreamAndMappedKey"

  def apply(
      stream: KStream[Any, Any],
      table: GlobalKTable[Any, Any],
      mapper: KeyValueMapper[Any, Any, Any],
      joiner: (Any, Any, Any, Any) => Any,
      kind: String,
      named: Named
  ): KStream[Any, Any] = {
    val interface =
      try Class.forName(name)
      catch { case _: ClassNotFoundException => throw new Unsupported("mapped_key, before 4.4") }
    val made = Proxy.newProxyInstance(
      getClass.getClassLoader,
      Array(interface),
      (_, method, args) =>
        if (method.getName == "apply") joiner(args(0), args(1), args(2), args(3)).asInstanceOf[AnyRef] else null
    )
    val types = Array(classOf[GlobalKTable[_, _]], classOf[KeyValueMapper[_, _, _]], interface, classOf[Named])
    val method = classOf[KStream[_, _]].getMethod(if (kind == "inner") "join" else "leftJoin", types: _*)
    try method.invoke(stream, table, mapper, made, named).asInstanceOf[KStream[Any, Any]]
    catch { case e: InvocationTargetException => throw e.getCause }
  }
}
