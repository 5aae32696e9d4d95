/** Assigns diagnostics to fields. */

import type { Diagnostic } from "../api/types";

/** Whether a diagnostic only says that something is missing, as in every newly added node. */
export function isMissing(diagnostic: Diagnostic): boolean {
  return /(_missing|_empty)$|^(one_of|no_nodes)$/.test(diagnostic.code);
}

/** Whether a diagnostic says no more than that its field is empty. */
export function isNeeded(diagnostic: Diagnostic): boolean {
  return /^(parameter_missing|part_missing|window_part_missing|expression_empty)$/.test(
    diagnostic.code,
  );
}

/** The diagnostics of a parameter, including its parts. */
export function about(diagnostics: readonly Diagnostic[], parameter: string): Diagnostic[] {
  return diagnostics.filter(
    (each) =>
      each.parameter === parameter ||
      (each.parameter?.startsWith(`${parameter}.`) ?? false) ||
      (each.parameter?.startsWith(`${parameter}[`) ?? false),
  );
}

function placeOf(diagnostic: Diagnostic): string {
  return diagnostic.path ?? diagnostic.parameter ?? "";
}

/** The diagnostics at a path inside a parameter: `branches[1].predicate`, `window.size`. */
export function at(diagnostics: readonly Diagnostic[], path: string): Diagnostic[] {
  return diagnostics.filter((each) => placeOf(each) === path);
}

/** The diagnostics at none of the paths that have a field of their own. */
export function elsewhere(
  diagnostics: readonly Diagnostic[],
  paths: readonly string[],
): Diagnostic[] {
  return diagnostics.filter((each) => !paths.includes(placeOf(each)));
}

/** Converts a position in Unicode characters, as the server counts, to one in UTF-16 code units. */
export function offsetOf(text: string, characters: number): number {
  let at = 0;
  for (let left = characters; left > 0 && at < text.length; left--) {
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }
  return at;
}
