/** Which diagnostics belong to which field. */

import type { Diagnostic } from "../api/types";

/** Whether something is only not there yet, as in every node that was just added. */
export function isMissing(diagnostic: Diagnostic): boolean {
  return /(_missing|_empty)$|^(one_of|no_nodes)$/.test(diagnostic.code);
}

/** Everything about a parameter, its parts included. */
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

/** Everything at one place inside a parameter: `branches[1].predicate`, `window.size`. */
export function at(diagnostics: readonly Diagnostic[], path: string): Diagnostic[] {
  return diagnostics.filter((each) => placeOf(each) === path);
}

/** What is not about any of the places that have a field of their own. */
export function elsewhere(
  diagnostics: readonly Diagnostic[],
  paths: readonly string[],
): Diagnostic[] {
  return diagnostics.filter((each) => !paths.includes(placeOf(each)));
}

/** Where a text's n-th character begins: the server counts characters, JavaScript half of some. */
export function offsetOf(text: string, characters: number): number {
  let at = 0;
  for (let left = characters; left > 0 && at < text.length; left--) {
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }
  return at;
}
