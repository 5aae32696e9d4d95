/** A sentence whose parts between backticks are commands. */
export function Commands({ text }: { text: string }) {
  return text
    .split("`")
    .map((part, index) => (index % 2 === 1 ? <code key={part}>{part}</code> : part));
}
