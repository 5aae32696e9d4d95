package org.apache.spark.sql.millrace

/** All operator families there are. */
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
