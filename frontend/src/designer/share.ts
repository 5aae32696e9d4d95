/** Structural sharing: reuses old objects where nothing changed, so that their views do not render again. */

export function same(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) {
    return false;
  }
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const leftKeys = Object.keys(left);
  if (leftKeys.length !== Object.keys(right).length) return false;
  return leftKeys.every(
    (key) =>
      key in right &&
      same((left as Record<string, unknown>)[key], (right as Record<string, unknown>)[key]),
  );
}

/** `next`, with every entry that equals the one in `old` replaced by the old object. */
export function shareEntries<Value>(
  old: Readonly<Record<string, Value>> | undefined,
  next: Readonly<Record<string, Value>>,
): Readonly<Record<string, Value>> {
  if (old === undefined) return next;
  let changed = Object.keys(old).length !== Object.keys(next).length;
  const shared: Record<string, Value> = {};
  for (const [key, value] of Object.entries(next)) {
    const before = old[key];
    if (before !== undefined && same(before, value)) {
      shared[key] = before;
    } else {
      shared[key] = value;
      changed = true;
    }
  }
  return changed ? shared : old;
}
