/** Addresses of pages that others link to. */

/** The address of a topic's page, at one record. */
export function recordAddress(
  ws: string,
  topic: string,
  partition: number,
  offset: number,
): string {
  const at = `start=offset&partition=${partition}&offset=${offset}`;
  return `${topicAddress(ws, topic)}?${at}&record=${partition}:${offset}`;
}

/** The address of a topic's page. */
export const topicAddress = (ws: string, topic: string): string =>
  `/w/${ws}/topics/${encodeURIComponent(topic)}`;
