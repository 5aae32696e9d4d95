/** The other topologies of the workspace, which the command palette offers as well. */

import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "react-router";
import { listTopologies } from "../api/topologyCalls";
import { useDesigner } from "../designer/store";
import { limited } from "../frame/searching";
import { t } from "../ui/i18n";

/** Characters from which on topologies are searched, and the most that are offered. */
const LEAST = 2;
const MOST = 8;
const PAUSE_MS = 150;

/** A row of a list that is searched. */
export interface Choice {
  readonly id: string;
  readonly title: string;
  readonly note?: string;
  readonly icon?: string | undefined;
  readonly hue?: string;
  readonly keys?: string | undefined;
  readonly disabled?: boolean;
  run(): void;
}

/** The topologies whose name or description contains a text, except the open one. */
export function useTopologyChoices(typed: string): readonly Choice[] {
  const { ws = "" } = useParams();
  const navigate = useNavigate();
  const open = useDesigner((state) => state.topologyId);
  const [text] = useDebouncedValue(limited(typed.trim()), PAUSE_MS);
  const { data } = useQuery({
    queryKey: ["topologies", ws, "named", text],
    queryFn: () => listTopologies(ws, { search: text, page_size: MOST + 1 }),
    enabled: text.length >= LEAST,
  });
  // Those of the text before would be run by mistake.
  if (text !== limited(typed.trim())) return [];
  return (data?.results ?? [])
    .filter(({ id }) => id !== open)
    .slice(0, MOST)
    .map(({ description, id, name }) => ({
      id: `topology ${id}`,
      title: t("Open the topology {name}", { name }),
      note: description,
      run: () => void navigate(`/w/${ws}/t/${id}`),
    }));
}
