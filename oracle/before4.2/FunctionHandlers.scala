package oracle

/** Handlers answer with records to send since 4.2: see `kafka4.2`. */
object FunctionHandlers {
  def deserialization: Class[_] = none
  def processing: Class[_] = none
  private def none = throw new Unsupported("a handler in Python, before 4.2")
}
