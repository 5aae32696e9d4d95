import { Button } from "@mantine/core";
import { useEffect, useMemo } from "react";
import { pendingText } from "../designer/pending";
import { useDesigner } from "../designer/store";
import { Loading } from "../frame/Loading";
import { may, useWorkspace } from "../frame/session";
import { Empty } from "../ui";
import { t } from "../ui/i18n";
import { useEditing } from "../versions/editing";
import classes from "./code.module.css";
import { ProgramEditor } from "./ProgramEditor";
import { showProgram, useTyping } from "./typing";

/** Why the program cannot be edited; null if it can. */
function useRefusal(): string | null {
  const ws = useEditing((state) => state.ws);
  const role = useWorkspace(ws)?.role;
  const readOnly = useDesigner((state) => state.readOnly);
  const files = useDesigner((state) => state.result?.code?.files.length ?? 1);
  const fragments = useDesigner((state) => state.document.fragments !== undefined);
  if (readOnly) return t("You can read this topology.");
  if (!may(role, "operator")) {
    return t({
      id: "code.needs_operator",
      message: "Editing the program runs it on the server: this needs the role operator.",
    });
  }
  if (fragments || files > 1) {
    return t({
      id: "code.not_one_file",
      message: "This program has fragments or several files. Edit its nodes on the canvas.",
    });
  }
  return null;
}

/** The program beside the canvas: what is typed is drawn, and what is drawn is written. */
export function ProgramPanel() {
  const topology = useDesigner((state) => state.topologyId);
  const revision = useDesigner((state) => state.revision);
  const result = useDesigner((state) => state.result);
  const shown = useTyping((state) => state.topology === topology);
  const { fault, reading, replaced } = useTyping();
  const pending = useTyping((state) => state.text !== state.sound);
  const refusal = useRefusal();
  const code = result?.code ?? null;
  const program = code?.files.find((file) => file.path === "job.py")?.text;
  // biome-ignore lint/correctness/useExhaustiveDependencies: also when what was typed is drawn or discarded
  useEffect(() => {
    if (topology === null || program === undefined || result?.revision !== revision) return;
    showProgram(topology, useDesigner.getState().document, program);
  }, [topology, program, result, revision, pending]);
  const status = useMemo(() => {
    if (refusal !== null) return refusal;
    if (fault !== null) return fault.line === null ? fault.message : null;
    if (reading) return t("Reading…");
    if (replaced) {
      return t({
        id: "code.lines_replaced",
        message: "Lines that you typed were replaced by the canvas. Undo brings them back.",
      });
    }
    return code === null && result !== null ? t("No code while there are errors") : null;
  }, [refusal, fault, reading, replaced, code, result]);
  if (!shown) {
    return result !== null && code === null ? (
      <Empty title={t("No code yet")}>
        {t("Add a source to the canvas to see the generated program.")}
      </Empty>
    ) : (
      <Loading what={t("Compiling…")} />
    );
  }
  return (
    <div className={classes.tab}>
      <div className={classes.host}>
        <ProgramEditor readOnly={refusal !== null} />
      </div>
      <div className={classes.status} role="status" data-testid="program-status">
        {fault === null || refusal !== null ? (
          status
        ) : (
          <>
            <span className={classes.fault}>{fault.message}</span>
            {pending ? (
              <Button
                size="compact-xs"
                variant="default"
                title={t("Shows the program of the canvas. Undo brings your text back.")}
                onClick={() => pendingText()?.discard()}
              >
                {t("Discard")}
              </Button>
            ) : null}
          </>
        )}
      </div>
    </div>
  );
}
