package org.apache.spark.sql.millrace

/** All operator families. */
private[millrace] object Families {
  val all: Seq[Family] = Seq(
    Stateless,
    Processors,
    Tables,
    StreamAggregates,
    TableAggregates,
    TableJoins,
    ForeignKeyJoins,
    StreamJoins,
    Suppressed
  )
}
