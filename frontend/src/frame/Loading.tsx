import { Loader } from "@mantine/core";
import { useEffect, useState } from "react";
import { t } from "../ui/i18n";
import classes from "./frame.module.css";

/** After this time the message explains what the page waits for. */
const SLOW_MS = 4_000;

/** Fills its place while something loads; invisible for the first moment, so that fast answers do not flicker. */
export function Loading({ what }: { what?: string }) {
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <output className={classes.loading} aria-live="polite" data-loading>
      <Loader size="sm" type="dots" aria-hidden />
      <span>{slow ? t("The server is slow to respond…") : (what ?? t("Loading…"))}</span>
    </output>
  );
}
