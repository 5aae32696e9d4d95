package org.apache.spark.sql.millrace

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.{FunctionRegistry, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions.Expression

/**
 * The functions that an expression may call: those of Spark's registry that compute a value of one record from its
 * arguments alone.
 */
object Functions {
  private val manyRecords = Set("agg_funcs", "window_funcs", "generator_funcs", "table_funcs")
  private val java = "runs Java code"
  private val files = "can read local files"
  private val session = "reads properties of the server or the session"
  private val tables = "returns a table, not a value"

  /** The names of refused functions, with the reasons. */
  private val refused: Map[String, String] = Seq(
    java -> "java_method reflect try_reflect",
    files -> "from_protobuf to_protobuf input_file_name input_file_block_start input_file_block_length",
    session -> ("current_user session_user user current_catalog current_database current_schema current_path version " +
      "python_worker_logs sql_keywords collations"),
    tables -> "range variant_explode variant_explode_outer json_tuple schema_of_variant_agg"
  ).flatMap { case (why, names) => names.split(' ').map(_ -> why) }.toMap

  /** Functions whose options can name files, with the number of their arguments without options. */
  private val withoutOptions = Map("from_avro" -> 2, "schema_of_avro" -> 1, "from_xml" -> 2, "schema_of_xml" -> 1)

  /** The classes of refused functions, because Spark also creates them for names without parentheses. */
  private lazy val refusedClasses: Map[String, String] =
    refused.keys.flatMap(name => FunctionRegistry.expressions.get(name).map(_._1.getClassName -> name)).toMap

  /** Whether an expression may call the function, regardless of its arguments. */
  def allows(name: String): Boolean =
    !refused.contains(name) && FunctionRegistry.expressions.get(name).exists { case (info, _) =>
      !manyRecords(info.getGroup)
    }

  /** The reason why a call is refused; none if it is allowed or Spark does not know the name. */
  private[millrace] def refusal(f: UnresolvedFunction): Option[String] = {
    val name = f.nameParts.last.toLowerCase(Locale.ROOT)
    if (f.nameParts.size > 1) Some("is called by a qualified name")
    else
      refused
        .get(name)
        .orElse(
          withoutOptions
            .get(name)
            .filter(f.arguments.size > _)
            .map(_ => "has options, which can name local files")
        )
  }

  /** The same for an expression that Spark has resolved. */
  private[millrace] def refusal(e: Expression): Option[String] = refusedClasses.get(e.getClass.getName).map(refused)
}
