/** What the cluster knows of topics, read for a few of them at a time. */

import type { DesignerServices, TopicFacts } from "../designer/services";

/** Requests at a time, and the milliseconds for which an answer is shown again. */
const AT_ONCE = 2;
const FRESH_MS = 30_000;

const known = new WeakMap<
  DesignerServices,
  Map<string, { asked: number; facts: Promise<TopicFacts> }>
>();
let running = 0;
const waiting: (() => void)[] = [];

async function turn(): Promise<void> {
  if (running >= AT_ONCE) await new Promise<void>((go) => waiting.push(go));
  running += 1;
}

function done(): void {
  running -= 1;
  waiting.shift()?.();
}

/** The facts of a topic; null if `wanted` says that nobody waits for them any more. Rejects if they cannot be read. */
export async function topicFacts(
  services: DesignerServices,
  topic: string,
  wanted: () => boolean,
): Promise<TopicFacts | null> {
  const facts = known.get(services) ?? new Map();
  known.set(services, facts);
  const before = facts.get(topic);
  if (before !== undefined && Date.now() - before.asked < FRESH_MS) return before.facts;
  await turn();
  try {
    if (!wanted()) return null;
    const found = { asked: Date.now(), facts: services.topicFacts(topic) };
    facts.set(topic, found);
    return await found.facts;
  } finally {
    done();
  }
}
