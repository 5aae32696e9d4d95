import { Button } from "@mantine/core";
import { useMemo } from "react";
import type { Diagnostic } from "../api/types";
import { knownRoles } from "../designer/derived";
import { useDesigner } from "../designer/store";
import { t } from "../ui/i18n";
import { fixesOf, fixOf } from "./fixes";

/** The state that fixes need; null while the topology may not be changed, or was changed since it was checked. */
function usable() {
  const state = useDesigner.getState();
  const { catalog, readOnly, result, revision } = state;
  if (catalog === null || readOnly || result?.revision !== revision) return null;
  return { ...state, context: { catalog, known: knownRoles(state) } };
}

/** Removes the problem, where its message knows how. */
export function FixButton({ diagnostic }: { diagnostic: Diagnostic }) {
  const document = useDesigner((state) => state.document);
  const catalog = useDesigner((state) => state.catalog);
  const readOnly = useDesigner((state) => state.readOnly);
  const fix = useMemo(() => {
    if (catalog === null || readOnly) return null;
    const known = knownRoles(useDesigner.getState());
    return fixOf(diagnostic, document, { catalog, known });
  }, [diagnostic, document, catalog, readOnly]);
  if (fix === null) return null;
  return (
    <Button
      size="compact-xs"
      variant="light"
      data-testid="fix"
      onClick={() => usable()?.change(fix.title, fix.apply)}
    >
      {fix.title}
    </Button>
  );
}

/** Applies all fixes of a list at once, as one undo entry; nothing if there are fewer than two. */
export function FixAll({ diagnostics }: { diagnostics: readonly Diagnostic[] }) {
  const document = useDesigner((state) => state.document);
  const catalog = useDesigner((state) => state.catalog);
  const readOnly = useDesigner((state) => state.readOnly);
  const fixes = useMemo(() => {
    if (catalog === null || readOnly) return [];
    const known = knownRoles(useDesigner.getState());
    return fixesOf(diagnostics, document, { catalog, known });
  }, [diagnostics, document, catalog, readOnly]);
  if (fixes.length < 2) return null;
  const title = t("Apply {n} fixes", { n: fixes.length });
  return (
    <Button
      size="compact-xs"
      variant="default"
      data-testid="fix-all"
      onClick={() =>
        usable()?.change(title, (now) => fixes.reduce((made, fix) => fix.apply(made), now))
      }
    >
      {title}
    </Button>
  );
}
