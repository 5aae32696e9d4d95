package org.apache.spark.sql.millrace

/**
 * Rows that a node keeps in the state under one name, and the position of the record's key in their keys: `skip` bytes
 * come before it, `cut` bytes after it; `counted`: the four bytes before it are its length. `key`: the type of the
 * record's key.
 */
private[millrace] final case class KeptRows(
    name: String,
    key: KeyType,
    skip: Int = 0,
    cut: Int = 0,
    counted: Boolean = false,
    closed: Option[Closed] = None,
    copied: Option[TableSource] = None
) extends Serializable {

  /** The bytes that determine the partition: of a windowed key, those of the inner key [PL8]. */
  def keyOf(row: Array[Byte]): Array[Byte] = {
    val tail = KeptRows.tail(key)
    if (counted) java.util.Arrays.copyOfRange(row, 4, 4 + Bytes.getInt(row, 0) - tail)
    else java.util.Arrays.copyOfRange(row, skip, row.length - cut - tail)
  }
  def named(other: String): KeptRows = copy(name = other)
}

/**
 * Rows of windows that were sent when they closed: their time is at most the clock's minus `behind`, or what `windows`
 * say. The time is a long, `fromEnd` bytes from the end of the key or, if that is 0, at the start.
 */
private[millrace] final case class Closed(clock: String, behind: Long, fromEnd: Int, windows: WindowsOf = null) {
  def sent(row: Array[Byte], upTo: Long): Boolean = upTo >= 0 &&
    Bytes.getLong(row, if (fromEnd == 0) 0 else row.length - fromEnd) <=
    (if (windows == null) upTo - behind else windows.closedBy(upTo))
}

private[millrace] object KeptRows {

  /** The number of bytes of the window in a key. */
  def tail(k: KeyType): Int = k.window.fold(0)(w => if (w.kind == "session") 16 else 8)

  /** The rows of a table; versions have their time after the key. */
  def table(name: String, key: KeyType, history: java.lang.Long): KeptRows =
    KeptRows(name, key, cut = if (history == null) 0 else 8)
  def table(s: StoreSettings, key: KeyType): KeptRows = table(s.state, key, s.history)

  /** The copy that a node keeps of a table of another level. */
  def copyAt(node: NodeSpec, input: Int): Seq[KeptRows] = node.inputs(input) match {
    case p: TablePort =>
      p.owner match {
        case t: TableSpec if t.level != node.level =>
          Seq(table(s"${node.id}$$copy$input", p.key, t.history).copy(copied = Some(t)))
        case _ => Nil
      }
    case _ => Nil
  }
}
