package org.apache.spark.sql.millrace

import java.io.InputStream
import java.net.URI
import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import java.nio.charset.StandardCharsets.UTF_8
import java.time.Duration
import java.util.Base64
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode

/**
 * A schema registry that does not answer, or rejects a request. This is not the fault of a record, so no handler skips
 * a record for it: the job stops.
 */
final class RegistryFailure(override val why: Why) extends RuntimeException(why.message) with Explained

/** A schema in a registry. `before`: the schemas that it refers to, each after those that it refers to itself. */
private[millrace] final case class SchemaText(text: String, before: Seq[String] = Nil)

/**
 * A subject of a schema registry (Confluent's HTTP interface). The schema of a number never changes, so it is fetched
 * once. Credentials are never part of the address: they come from `Registry.sign` or the variable
 * MILLRACE_REGISTRY_PASSWORDS, for the addresses named there.
 */
private[millrace] final case class Registry(url: String, subject: String) {
  private def base: String = url.stripSuffix("/")
  private def path(name: String): String = "/subjects/" + java.net.URLEncoder.encode(name, "UTF-8") + "/versions"

  /** The number and text of the latest schema of the subject. Throws [[RegistryFailure]]. */
  def latest: (Int, SchemaText) = {
    val budget = new RegistryBudget(base)
    val found = Registry
      .get(base, s"${path(subject)}/latest", budget)
      .getOrElse(throw Registry.failure(base, "registry_subject", s"has no subject $subject", "subject" -> subject))
    (found.path("id").asInt, text(found, budget))
  }

  /** The schema with a number. Throws [[BadBytes]] if the registry does not have it: that is the record's fault. */
  def schema(id: Int): SchemaText = {
    val known = Registry.schemas.get((base, id))
    if (known != null) known
    else {
      val budget = new RegistryBudget(base)
      val answer = Registry.get(base, s"/schemas/ids/$id", budget)
      val found = text(
        answer.getOrElse(
          throw new BadBytes(
            Why(
              "bytes_unknown_schema",
              s"the schema registry has no schema $id, to which the record refers",
              "id" -> id
            )
          )
        ),
        budget
      )
      Registry.schemas.put((base, id), found)
      found
    }
  }

  /** The number of a schema, which is registered if necessary. Throws [[RegistryFailure]]. */
  def id(schema: SchemaText, kind: String): Int = {
    val known = Registry.ids.get((base, subject, schema.text))
    if (known != null) known
    else {
      val body = Json.mapper.createObjectNode().put("schema", schema.text)
      if (kind != "AVRO") body.put("schemaType", kind)
      val found: Integer = Registry.post(base, path(subject), Json.mapper.writeValueAsString(body)).path("id").asInt
      Registry.ids.put((base, subject, schema.text), found)
      found
    }
  }

  private def text(answer: JsonNode, budget: RegistryBudget): SchemaText =
    SchemaText(answer.path("schema").asText, references(answer, Nil, budget).distinct)
  private def references(answer: JsonNode, above: List[String], budget: RegistryBudget): Seq[String] =
    answer.path("references").elements.asScala.toSeq.flatMap { r =>
      val name = r.path("subject").asText
      if (above.contains(name)) Nil
      else {
        val found = Registry
          .get(base, s"${path(name)}/${r.path("version").asInt}", budget)
          .getOrElse(
            throw Registry.failure(
              base,
              "registry_version",
              s"has no version ${r.path("version").asInt} of the subject $name, to which another schema refers",
              "version" -> r.path("version").asInt,
              "referred" -> name,
              "subject" -> subject
            )
          )
        references(found, name :: above, budget) :+ found.path("schema").asText
      }
    }
}

/**
 * Limits the cost of a schema with all schemas that it refers to: requests (including retries), and bytes of the
 * responses. Throws [[RegistryFailure]] if a limit is exceeded.
 */
private[millrace] final class RegistryBudget(base: String) {
  private var (requests, size) = (20, 2000000)
  def ask(): Unit = {
    requests -= 1
    if (requests < 0) throw Registry.failure(base, "registry_references", "has a schema that refers to too many others")
  }

  /** The text of a response, read no further than allowed. */
  def read(body: InputStream): String = {
    val bytes =
      try body.readNBytes(size + 1)
      finally body.close()
    size -= bytes.length
    if (size < 0) throw Registry.failure(base, "registry_schema_size", "returns a schema that is too large")
    new String(bytes, UTF_8)
  }
}

object Registry {
  private val schemas = new ConcurrentHashMap[(String, Int), SchemaText]()
  private val ids = new ConcurrentHashMap[(String, String, String), Integer]()
  private val attempts = 3
  // A registry that redirects could send requests anywhere.
  private lazy val client =
    HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).followRedirects(HttpClient.Redirect.NEVER).build()

  /** Scheme, host and port of the permitted registries; none if all are permitted. */
  @volatile private var allowed: Option[Set[(String, String, Int)]] = listed(
    System.getenv("MILLRACE_SCHEMA_REGISTRIES")
  )
  @volatile private var passwords: Map[String, String] = read(System.getenv("MILLRACE_REGISTRY_PASSWORDS"))

  /** Sets the addresses of the permitted registries, separated by commas. Null permits any host, an empty text none. */
  def allow(addresses: String): Unit = allowed = listed(addresses)
  private def listed(addresses: String): Option[Set[(String, String, Int)]] =
    Option(addresses).map(_.split(',').map(_.trim).filter(_.nonEmpty).flatMap(origin).toSet)
  private def origin(address: String): Option[(String, String, Int)] = {
    val uri =
      try URI.create(address)
      catch { case _: IllegalArgumentException => null }
    if (uri == null || uri.getScheme == null || uri.getHost == null) None
    else {
      val scheme = uri.getScheme.toLowerCase(java.util.Locale.ROOT)
      Some(
        (
          scheme,
          uri.getHost.toLowerCase(java.util.Locale.ROOT),
          if (uri.getPort >= 0) uri.getPort else if (scheme == "https") 443 else 80
        )
      )
    }
  }

  /** Sets the credentials: `{"address": "user:password"}`; null for none. */
  def sign(json: String): Unit = passwords = read(json)
  private def read(json: String): Map[String, String] =
    if (json == null || json.isBlank) Map.empty
    else Json.mapper.readTree(json).properties.asScala.map(e => e.getKey.stripSuffix("/") -> e.getValue.asText).toMap

  /** The first bytes of a record, for messages. */
  private[millrace] def start(b: Array[Byte]): String =
    if (b.isEmpty) "there are no bytes" else s"it begins with ${digits(b)}"
  private[millrace] def digits(b: Array[Byte]): String =
    if (b.isEmpty) "–" else b.take(5).map(x => f"$x%02x").mkString(" ")

  /** `what`: an English predicate, with the registry as its subject. */
  private[millrace] def failure(base: String, code: String, what: String, facts: (String, Any)*): RegistryFailure = {
    val uri =
      try URI.create(base)
      catch { case _: IllegalArgumentException => null }
    val place =
      if (uri == null || uri.getHost == null) ""
      else s" at ${uri.getHost}${if (uri.getPort < 0) "" else s":${uri.getPort}"}"
    new RegistryFailure(Why(code, s"the schema registry$place $what", ("registry" -> base) +: facts: _*))
  }

  private def request(base: String, path: String): HttpRequest.Builder = {
    if (!allowed.forall(hosts => origin(base).exists(hosts.contains)))
      throw failure(
        base,
        "registry_not_allowed",
        "is not in the list of permitted registries (MILLRACE_SCHEMA_REGISTRIES)"
      )
    val b =
      try HttpRequest.newBuilder(URI.create(base + path))
      catch {
        case _: IllegalArgumentException =>
          throw failure(base, "registry_address", "has an address that is not http or https")
      }
    b.timeout(Duration.ofSeconds(15)).header("Accept", "application/vnd.schemaregistry.v1+json")
    passwords
      .find { case (address, _) => base == address || base.startsWith(address + "/") }
      .foreach { case (_, pair) =>
        b.header("Authorization", "Basic " + Base64.getEncoder.encodeToString(pair.getBytes(UTF_8)))
      }
    b
  }

  private final case class Answer(statusCode: Int, body: String)

  /** The response; None if the registry responds with 404. Transient failures (no connection, 429, 50x) are retried. */
  private def send(base: String, r: HttpRequest, budget: RegistryBudget): Option[JsonNode] = {
    var attempt = 0
    while (true) {
      attempt += 1
      budget.ask()
      val answer =
        try {
          val a = client.send(r, HttpResponse.BodyHandlers.ofInputStream())
          Right(Answer(a.statusCode, budget.read(a.body)))
        } catch { case e: java.io.IOException => Left(e) }
      answer match {
        case Right(a) if a.statusCode / 100 == 2 =>
          return Some(
            try Json.mapper.readTree(a.body)
            catch {
              case _: com.fasterxml.jackson.core.JsonProcessingException =>
                throw failure(base, "registry_response", "returns a response that is not JSON")
            }
          )
        case Right(a) if a.statusCode == 404 => return None
        case Right(a) if a.statusCode == 401 || a.statusCode == 403 =>
          throw failure(
            base,
            "registry_credentials",
            s"rejects the credentials (status ${a.statusCode})",
            "status" -> a.statusCode
          )
        case Right(a) if a.statusCode / 100 == 3 =>
          throw failure(
            base,
            "registry_redirects",
            s"redirects the request (status ${a.statusCode}); redirects are not followed",
            "status" -> a.statusCode
          )
        case Right(a) if a.statusCode / 100 == 4 && a.statusCode != 429 =>
          throw answered(base, a, s"rejects the request (status ${a.statusCode})")
        case Right(a) if attempt == attempts => throw answered(base, a, s"responds with status ${a.statusCode}")
        case Left(e) if attempt == attempts =>
          val reason = Option(e.getMessage).getOrElse(e.getClass.getSimpleName)
          throw failure(base, "registry_unreachable", s"cannot be reached ($reason)", "reason" -> reason)
        case _ => Thread.sleep(200L * attempt * attempt)
      }
    }
    None
  }
  private def answered(base: String, a: Answer, what: String): RegistryFailure = {
    val reason = message(a.body)
    failure(base, "registry_answer", s"$what: $reason", "status" -> a.statusCode, "reason" -> reason)
  }
  private def message(body: String): String =
    (try Option(Json.mapper.readTree(body)).map(_.path("message").asText("")).getOrElse("")
    catch { case _: com.fasterxml.jackson.core.JsonProcessingException => body }).take(500)

  private def get(base: String, path: String, budget: RegistryBudget): Option[JsonNode] =
    send(base, request(base, path).GET().build(), budget)
  private def post(base: String, path: String, body: String): JsonNode = {
    val r = request(base, path)
      .header("Content-Type", "application/vnd.schemaregistry.v1+json")
      .POST(HttpRequest.BodyPublishers.ofString(body))
      .build()
    send(base, r, new RegistryBudget(base))
      .getOrElse(throw failure(base, "registry_path", s"does not have $path", "path" -> path))
  }
}
