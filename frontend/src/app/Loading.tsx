import { Loader } from "@mantine/core";
import classes from "./app.module.css";
import { t } from "./phrases";

/** Fills its place while something loads; invisible for the first moment, so that fast answers do not flicker. */
export function Loading({ what }: { what?: string }) {
  return (
    <output className={classes.loading} aria-live="polite">
      <Loader size="sm" type="dots" aria-hidden />
      <span>{what ?? t("Loading…")}</span>
    </output>
  );
}
