import { useEffect, useMemo, useState } from "react";
import { useServices } from "../designer/servicesContext";
import { useDesigner } from "../designer/store";
import { placeOf } from "../graph/parameters";

/** Names of topics: those of the cluster, if it responds, and those in the document. */
export function useTopics(): string[] {
  const services = useServices();
  const named = useDesigner((state) => state.document.topics);
  const [found, setFound] = useState<readonly string[]>([]);
  useEffect(() => {
    let here = true;
    services.topics().then(
      (topics) => {
        if (here) setFound(topics.map((topic) => topic.name));
      },
      // Names can still be typed; the check before a deployment reports that the cluster is unreachable.
      () => undefined,
    );
    return () => {
      here = false;
    };
  }, [services]);
  const parameters = useDesigner((state) => state.document.parameters);
  return useMemo(() => {
    const places = Object.entries(parameters ?? {}).flatMap(([name, each]) =>
      each?.type === "topic" ? [placeOf(name)] : [],
    );
    return [...new Set([...places, ...Object.keys(named ?? {}), ...found])].sort();
  }, [found, named, parameters]);
}
