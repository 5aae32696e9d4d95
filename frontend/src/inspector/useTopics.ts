import { useEffect, useMemo, useState } from "react";
import { useServices } from "../designer/servicesContext";
import { useDesigner } from "../designer/store";
import { placeOf } from "../graph/parameters";

/** Names of topics: those of the cluster, unless it is unreachable, and those in the document. */
export function useTopics(): { readonly topics: string[]; readonly unreachable: boolean } {
  const services = useServices();
  const named = useDesigner((state) => state.document.topics);
  const [found, setFound] = useState<readonly string[] | null>([]);
  useEffect(() => {
    let here = true;
    services.topics().then(
      (topics) => {
        if (here) setFound(topics.map((topic) => topic.name));
      },
      // Names can still be typed; the check before a deployment reports that the cluster is unreachable.
      () => {
        if (here) setFound(null);
      },
    );
    return () => {
      here = false;
    };
  }, [services]);
  const parameters = useDesigner((state) => state.document.parameters);
  const topics = useMemo(() => {
    const places = Object.entries(parameters ?? {}).flatMap(([name, each]) =>
      each?.type === "topic" ? [placeOf(name)] : [],
    );
    return [...new Set([...places, ...Object.keys(named ?? {}), ...(found ?? [])])].sort();
  }, [found, named, parameters]);
  return { topics, unreachable: found === null };
}
