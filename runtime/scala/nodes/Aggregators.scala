package org.apache.spark.sql.millrace

/**
 * Adds records to an aggregate. `initial` may be null (a reduction starts with the first value); `add` receives the
 * aggregate so far, or `initial`.
 */
private[millrace] abstract class Aggregator {
  def initial: Any
  def add(agg: Any, key: Any, value: Any, timestamp: Long): Any

  /** Merges two sessions; called only for session windows. */
  def merge(key: Any, left: Any, right: Any): Any
}

private[millrace] object Aggregator {
  val count: Aggregator = new Aggregator {
    override def initial: Any = 0L
    override def add(agg: Any, key: Any, value: Any, timestamp: Long): Any = agg.asInstanceOf[Long] + 1L
    override def merge(key: Any, left: Any, right: Any): Any = left.asInstanceOf[Long] + right.asInstanceOf[Long]
  }

  def reduce(reducer: Expr): Aggregator = new Aggregator {
    override def initial: Any = null
    override def add(agg: Any, key: Any, value: Any, timestamp: Long): Any =
      if (agg == null) value else reducer(agg, value)
    override def merge(key: Any, left: Any, right: Any): Any = if (left == null) right else reducer(left, right)
  }

  def aggregate(initializer: Expr, aggregator: Expr, merger: Expr): Aggregator = new Aggregator {
    override def initial: Any = initializer()
    override def add(agg: Any, key: Any, value: Any, timestamp: Long): Any = aggregator(agg, key, value, timestamp)
    override def merge(key: Any, left: Any, right: Any): Any = merger(key, left, right)
  }
}
