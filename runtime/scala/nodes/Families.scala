package org.apache.spark.sql.millrace

/** All operator families there are. */
private[millrace] object Families {
  val all: Seq[Family] = Seq(Stateless, Tables, StreamAggregates, TableAggregates, TableJoins, ForeignKeyJoins, StreamJoins, Suppressed)
}
