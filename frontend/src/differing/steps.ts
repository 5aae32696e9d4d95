/** Which steps of a record only one of two versions has. */

import { findNode, labelOf } from "../graph/document";
import { childrenOf, endingOf } from "../simulate/steps";
import type { Shown } from "../simulate/store";
import { wayOf } from "../simulate/way";

/** What a record does at each node on its way, as text that two versions have in common. */
export function texts({ document, result }: Shown, record: number): readonly string[] {
  const children = childrenOf(result.steps);
  return wayOf(result.steps, record).map(({ depth, drop, last, step, writes }) => {
    const node = findNode(document, step.node);
    return JSON.stringify([
      depth,
      node === undefined ? step.node : labelOf(node),
      step.record?.key ?? null,
      step.record?.value ?? null,
      drop?.reason ?? endingOf(last, children),
      writes.map(({ row }) => [row.key, row.value]),
    ]);
  });
}

/** The places of the texts that the other list does not have, each as often as there. */
export function apartFrom(
  texts: readonly string[],
  others: readonly string[],
): ReadonlySet<number> {
  const left = [...others];
  const apart = new Set<number>();
  texts.forEach((text, index) => {
    const at = left.indexOf(text);
    if (at < 0) apart.add(index);
    else left.splice(at, 1);
  });
  return apart;
}
