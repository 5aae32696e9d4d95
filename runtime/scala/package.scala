package org.apache.spark.sql

/**
 * The stream task operator of Millrace: Kafka Streams' semantics inside one stateful operator of Structured Streaming.
 */
package object millrace {

  /** A record's headers in their order; a name may occur several times. */
  type Headers = Array[Header]
}
