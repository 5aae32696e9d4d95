package oracle

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode
import java.io.{BufferedInputStream, BufferedOutputStream, DataInputStream, DataOutputStream, File, IOException}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types._
import scala.collection.mutable
import scala.jdk.CollectionConverters._

/** What code in Python raised. */
class PythonFailure(val kind: String, message: String) extends RuntimeException(s"$kind: $message")

/**
 * The Python process of a topology, which runs the code of its nodes: the worker of the operator
 * (`millrace_runtime/processor/worker.py`), with its frames. It starts with the first call. Only with
 * `-Doracle.python`, because the code is the document's.
 */
class Python(doc: Doc) {
  private lazy val process: Process = {
    val made = Python.start()
    Python.running += made
    made
  }
  private lazy val in = new DataInputStream(new BufferedInputStream(process.getInputStream))
  private lazy val out = new DataOutputStream(new BufferedOutputStream(process.getOutputStream))

  def message(call: String, node: String): ObjectNode = {
    val m = Doc.mapper.createObjectNode().put("call", call).put("node", node)
    if (call == "start" || call == "functions" || call == "windows" || call == "handler")
      doc.settings.opt("modules").foreach(m.set[JsonNode]("modules", _))
    m
  }

  /** Makes a call. `serve` returns the answer to a message of the code, or null if it does not wait for one. */
  def call(m: ObjectNode)(serve: JsonNode => JsonNode): Unit = {
    write(m)
    var done = false
    while (!done) {
      val frame = read()
      var answer: JsonNode = null
      frame.get(0).forEach(each => answer = serve(each))
      val end = frame.get(1)
      if (end.isNull) {
        val reply = Doc.mapper.createObjectNode()
        reply.set[JsonNode]("answer", if (answer == null) Doc.mapper.nullNode else answer)
        write(reply)
      } else {
        done = true
        val error = end.get("error")
        if (error != null) throw new PythonFailure(error.path("type").asText, error.path("message").asText)
      }
    }
  }

  private def write(m: JsonNode): Unit = {
    val b = Doc.mapper.writeValueAsBytes(m)
    out.writeInt(b.length); out.write(b); out.flush()
  }
  private def read(): JsonNode = try {
    val b = new Array[Byte](in.readInt())
    in.readFully(b)
    Doc.mapper.readTree(b)
  } catch { case _: IOException => throw new PythonFailure("ProcessLost", "the Python process ended") }

  // ---- functions that expressions call, and windows ------------------------------------------------------------

  private val started = mutable.Set[String]()
  private val uses = mutable.Map[(String, String, Seq[DataType]), Int]()

  /** Puts calls in the place of the functions of a node in a parsed expression. */
  def resolved(n: Node)(e: Expression): Expression = {
    val returns =
      n.req("returns").properties.asScala.map(r => r.getKey -> Sql.parseType(r.getValue.asText, n, "returns")).toMap
    e.transformUp {
      case f: UnresolvedFunction if f.nameParts.size == 1 && returns.contains(f.nameParts.head) =>
        PythonCall(this, n, f.nameParts.head, returns(f.nameParts.head), f.arguments)
    }
  }

  def function(n: Node, name: String, types: Seq[DataType], values: Seq[Any], returns: DataType): Any = {
    val id = s"$$functions/${n.id}"
    if (started.add(id))
      call(
        message("functions", id)
          .put("name", n.id)
          .put("code", n.text("functions"))
          .put("judges", n.kind.startsWith("filter"))
      )(_ => null)
    val m = message("function", id).put("function", name)
    m.put("use", uses.getOrElseUpdate((id, name, types), uses.size))
    val all = m.putArray("types")
    (types :+ returns).foreach(t => all.add(Doc.mapper.readTree(t.json)))
    val given = m.putArray("arguments")
    types.zip(values).foreach { case (t, v) => given.add(Wire.node(v, t)) }
    var result: JsonNode = null
    call(m) { each => if (each.get(0).asText == "result") result = each.get(1); null }
    Wire.value(result, returns)
  }

  /** The windows that the last function of a node's code returns. */
  def windows(n: Node, code: String, size: Long, grace: Long): ChosenWindows = new ChosenWindows(size, grace) {
    private val id = s"$$windows/${n.id}"
    private val last = "(?m)^def (\\w+)".r.findAllMatchIn(code).map(_.group(1)).toSeq.lastOption
    override protected def of(time: Long): Seq[(Long, Long)] = {
      if (started.add(id))
        call(message("windows", id).put("name", n.id).put("code", code).put("function", last.getOrElse("")))(_ => null)
      var found: Seq[(Long, Long)] = Nil
      call(message("windows_of", id).put("timestamp", time)) { each =>
        if (each.get(0).asText == "windows")
          found = each.get(1).elements.asScala.map(w => (w.get(0).asLong, w.get(1).asLong)).toSeq
        null
      }
      found
    }
  }
}

object Python {
  private val command = Option(System.getProperty("oracle.python"))
  private val path = System.getProperty("oracle.python.path", "")
  private val running = mutable.ListBuffer[Process]()

  /** Refuses code in Python that has no twin here, unless it may run. */
  def require(doc: Doc): Unit = {
    if (command.isEmpty) {
      doc.nodes.find(n => coded(n) && !doc.builtins.contains(n.id)).foreach { n =>
        throw new Unsupported(s"the Python code of ${n.id}")
      }
      PythonHandlers.used(doc).foreach(kind => throw new Unsupported(s"the Python code of ${kind}_function"))
    }
  }
  private def coded(n: Node): Boolean =
    n.opt("code").isDefined || n.opt("functions").isDefined || n.opt("window").exists(_.has("code"))

  /** Ends all processes. */
  def close(): Unit = { running.foreach(_.destroyForcibly()); running.clear() }

  /** What the code may see of the environment: the same as in a deployment. */
  private val seen = "PATH HOME USER LOGNAME LANG LANGUAGE TZ TMPDIR LD_LIBRARY_PATH VIRTUAL_ENV".split(' ').toSet

  private def start(): Process = {
    val worker = path
      .split(File.pathSeparator)
      .map(new File(_, "millrace_runtime/processor/worker.py"))
      .find(_.isFile)
      .getOrElse(throw new Unsupported("Python without millrace_runtime"))
    val b = new ProcessBuilder(command.get, "-u", worker.getPath, "60000", "2048")
      .redirectError(ProcessBuilder.Redirect.INHERIT)
    b.environment().keySet.removeIf(name => !seen(name) && !name.startsWith("LC_"))
    b.environment().put("PYTHONPATH", path)
    b.environment().put("PYTHONHASHSEED", "0")
    b.start()
  }
}

/** Values as the code in Python gets them: DECIMAL as text, maps as pairs, so that their keys keep their type. */
object Wire extends Values(pairs = true) {
  def value(j: JsonNode, t: DataType): Any = if (j == null || j.isNull) null
  else {
    val p = j.traverse(Doc.mapper)
    p.nextToken()
    read(p, t)
  }
}

/** A call of a function in Python. */
case class PythonCall(python: Python, node: Node, name: String, dataType: DataType, children: Seq[Expression])
    extends Expression
    with CodegenFallback {
  override def nullable: Boolean = true
  override def foldable: Boolean = false
  override def eval(input: InternalRow): Any =
    python.function(node, name, children.map(_.dataType), children.map(_.eval(input)), dataType)
  override protected def withNewChildrenInternal(c: IndexedSeq[Expression]): Expression = copy(children = c)
}
