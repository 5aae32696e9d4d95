import { useEffect, useRef, useState } from "react";
import type { TopicFacts } from "../designer/services";
import { useServices } from "../designer/servicesContext";
import { count } from "../ui/format";
import { t } from "../ui/i18n";
import { topicFacts } from "./topicFacts";

/** A topic in a list: its partitions, its number of records and the latest one, read once the option is seen. */
export function TopicOption({ topic }: { topic: string }) {
  const services = useServices();
  const row = useRef<HTMLDivElement>(null);
  const [facts, setFacts] = useState<TopicFacts | null>(null);
  useEffect(() => {
    // A parameter stands for a topic and is none.
    if (row.current === null || topic.includes("$")) return;
    let here = true;
    const seen = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting !== true) return;
      seen.disconnect();
      topicFacts(services, topic, () => here).then(
        (found) => {
          if (here) setFacts(found);
        },
        // The topic may not exist yet: the name can be chosen all the same.
        () => undefined,
      );
    });
    seen.observe(row.current);
    return () => {
      here = false;
      seen.disconnect();
    };
  }, [services, topic]);
  return (
    <div ref={row} className="topic-option" data-testid="topic-option">
      <span className="m-cut">{topic}</span>
      <small className="m-muted m-figures">
        {facts === null
          ? ""
          : t(
              {
                id: "inspector.partitions_and_records",
                message:
                  "{partitions} {partitions, plural, one {partition} other {partitions}} · {records}",
              },
              {
                partitions: facts.partitions,
                records: t("{shown} {n, plural, one {record} other {records}}", {
                  n: facts.records,
                  shown: count(facts.records),
                }),
              },
            )}
      </small>
      <code className="m-cut m-muted">{facts === null ? "" : latestText(facts)}</code>
    </div>
  );
}

function latestText({ latest }: TopicFacts): string {
  if (latest === null) return "";
  const [key, value] = [latest.key, latest.value].map((part) => part.text ?? "null");
  return `${key} → ${value}`.slice(0, 200);
}
