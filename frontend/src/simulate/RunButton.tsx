import { Button, Loader } from "@mantine/core";
import { useEffect, useState } from "react";
import { Tip } from "../ui";
import { t } from "../ui/i18n";
import classes from "./simulate.module.css";
import { runAndShow, useSimulation } from "./store";

/** Milliseconds in which a second click on *Run* does not cancel the run. */
const CANCEL_MS = 400;

/** *Run*, replaced by *Cancel* if a run takes longer than a moment. */
export function RunButton({ disabled, ws }: { disabled: boolean; ws: string }) {
  const phase = useSimulation((state) => state.phase);
  const busy = phase !== "idle";
  const [long, setLong] = useState(false);
  useEffect(() => {
    setLong(false);
    if (!busy) return;
    const timer = setTimeout(() => setLong(true), CANCEL_MS);
    return () => clearTimeout(timer);
  }, [busy]);
  const cancels = busy && long;
  return (
    <Tip text={cancels ? t("Cancel") : t("Run")} keys={cancels ? undefined : "Alt+R"}>
      <Button
        className={classes.run ?? ""}
        variant={cancels ? "default" : "filled"}
        loading={busy && !long}
        disabled={cancels ? phase === "cancelling" : disabled}
        leftSection={cancels ? <Loader size={14} color="gray" /> : null}
        onClick={() => (cancels ? useSimulation.getState().cancel(ws) : void runAndShow(ws))}
        data-testid="simulate-run"
      >
        {phase === "cancelling" ? t("Canceling…") : cancels ? t("Cancel") : t("Run")}
      </Button>
    </Tip>
  );
}
