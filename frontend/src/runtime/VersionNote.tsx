import { useRuntime } from "../designer/runtime";
import { useDesigner } from "../designer/store";
import { findNode, labelOf } from "../graph/document";
import { Note } from "../ui";
import { t } from "../ui/i18n";

/** The maximum number of names to list of each kind of difference. */
const MOST_NAMES = 5;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES);
  if (names.length > MOST_NAMES) shown.push(`+${names.length - MOST_NAMES}`);
  return shown.join(", ");
}

/** Among running figures: which version they are of, and which nodes the canvas shows otherwise. */
export function VersionNote() {
  const running = useRuntime((state) => state.running);
  const shown = useDesigner((state) => state.layer === "runtime");
  const document = useDesigner((state) => state.document);
  if (running === null || !shown) return null;
  const { changed, drawnOnly, runningOnly, version } = running;
  const name = (id: string) => {
    const node = findNode(document, id);
    return node === undefined ? (changed[id]?.label ?? id) : labelOf(node);
  };
  const parts = [
    [Object.keys(changed).map(name), t("Different here")],
    [[...drawnOnly].map(name), t("Only here")],
    [runningOnly, t("Only in the version")],
  ] as const;
  return (
    <div data-testid="running-version">
      <Note tone="degraded">
        {t(
          {
            id: "runtime.figures_and_marked_expressions",
            message: "The figures and the marked expressions are of version {n}, which is running.",
          },
          {
            n: version,
          },
        )}{" "}
        {parts
          .filter(([names]) => names.length > 0)
          .map(([names, what]) => `${what}: ${listed(names)}`)
          .join(" · ")}
      </Note>
    </div>
  );
}
