import { Select, TextInput } from "@mantine/core";
import { type Phrase, phrase, t } from "../ui/i18n";
import classes from "./simulate.module.css";

type How = "keep" | "hash" | "replace";
export interface Mask {
  readonly how: How;
  readonly by: string;
}

const MASKS: readonly { value: How; label: Phrase }[] = [
  { value: "keep", label: phrase("Keep as it is") },
  { value: "hash", label: phrase("Hash") },
  { value: "replace", label: phrase("Replace with") },
];

const KEPT: Mask = { how: "keep", by: "" };

/** Masks by the path of the field. */
export type Masks = Readonly<Record<string, Mask>>;

/** Parses JSON, such as numbers and null; other text is returned unchanged. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The masks of these fields for a request. Fields that are kept are omitted. */
export function masksOf(paths: readonly string[], masks: Masks) {
  return Object.fromEntries(
    paths.flatMap((path) => {
      const mask = masks[path] ?? KEPT;
      if (mask.how === "keep") return [];
      return [[path, { how: mask.how, by: mask.how === "replace" ? readJson(mask.by) : null }]];
    }),
  );
}

/** Chooses how each field is masked before a record leaves the server. */
export function MaskList(props: {
  paths: readonly string[];
  masks: Masks;
  onChange: (masks: Masks) => void;
}) {
  const { masks, onChange, paths } = props;
  return (
    <div className={classes.masks} data-testid="masks">
      {paths.map((path) => {
        const mask = masks[path] ?? KEPT;
        const set = (change: Partial<Mask>) =>
          onChange({ ...masks, [path]: { ...mask, ...change } });
        return (
          <div key={path} className={classes.mask}>
            <span className="m-mono">{path}</span>
            <Select
              aria-label={t("Mask of {path}", { path })}
              data={MASKS.map(({ value, label }) => ({ value, label: t(label) }))}
              value={mask.how}
              allowDeselect={false}
              onChange={(how) => set({ how: (how ?? "keep") as How })}
            />
            {mask.how === "replace" ? (
              <TextInput
                aria-label={t("Replacement for {path}", { path })}
                value={mask.by}
                classNames={{ input: "m-mono" }}
                onChange={(event) => set({ by: event.currentTarget.value })}
              />
            ) : (
              <span />
            )}
          </div>
        );
      })}
    </div>
  );
}
