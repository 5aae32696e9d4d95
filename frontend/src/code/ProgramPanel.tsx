import { Button } from "@mantine/core";
import { useEffect, useMemo, useRef, useState } from "react";
import { pendingText } from "../designer/pending";
import { useDesigner } from "../designer/store";
import { Loading } from "../frame/Loading";
import { may, useWorkspace } from "../frame/session";
import { Empty } from "../ui";
import { t } from "../ui/i18n";
import { useEditing } from "../versions/editing";
import classes from "./code.module.css";
import { filesOf, joined, PROGRAM } from "./files";
import { ProgramEditor } from "./ProgramEditor";
import { showProgram, useTyping } from "./typing";

/** Why the program cannot be edited; null if it can. */
function useRefusal(): string | null {
  const ws = useEditing((state) => state.ws);
  const role = useWorkspace(ws)?.role;
  const readOnly = useDesigner((state) => state.readOnly);
  const code = useDesigner((state) => state.result?.code ?? null);
  if (readOnly) return t("You can read this topology.");
  if (!may(role, "operator")) {
    return t({
      id: "code.needs_operator",
      message: "Editing the program runs it on the server: this needs the role operator.",
    });
  }
  if (code !== null && joined(code.files) === null) {
    return t({
      id: "code.not_one_text",
      message:
        "A module has line breaks or characters that this editor would change. Edit it in the settings.",
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
  const program = useMemo(() => {
    if (code === null) return undefined;
    return joined(code.files) ?? code.files.find((file) => file.path === PROGRAM)?.text;
  }, [code]);
  const paths = useTyping((state) =>
    filesOf(state.text)
      .map(({ path }) => path)
      .join("\n"),
  );
  const [file, setFile] = useState(PROGRAM);
  const showFile = useRef<(path: string) => void>(() => {});
  // biome-ignore lint/correctness/useExhaustiveDependencies: also when what was typed is drawn or discarded
  useEffect(() => {
    if (topology === null || program === undefined || result?.revision !== revision) return;
    showProgram(topology, useDesigner.getState().document, program, refusal === null);
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
      {paths === PROGRAM ? null : (
        <nav className={classes.tabs} aria-label={t("Files of the program")}>
          {paths.split("\n").map((path) => (
            <button
              key={path}
              type="button"
              className={classes.file}
              title={path}
              aria-current={path === file}
              onClick={() => showFile.current(path)}
            >
              {path}
            </button>
          ))}
        </nav>
      )}
      <div className={classes.host}>
        <ProgramEditor readOnly={refusal !== null} onFile={setFile} showFile={showFile} />
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
