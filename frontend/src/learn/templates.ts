import { useQuery } from "@tanstack/react-query";
import { listTemplates } from "../api/topologyCalls";
import type { Template } from "../api/types";
import { language } from "../ui/i18n";

/** The templates for new topologies. */
export function useTemplates(): readonly Template[] {
  const { data } = useQuery({
    queryKey: ["templates"],
    queryFn: listTemplates,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data ?? [];
}

/** Title and description in the page's language. */
export function textsOf(template: Template): { title: string; description: string } {
  return language() === "zh"
    ? { title: template.title_zh, description: template.description_zh }
    : { title: template.title, description: template.description };
}
