import { Button, FileButton } from "@mantine/core";
import IconFileImport from "@tabler/icons-react/dist/esm/icons/IconFileImport.mjs";
import { useState } from "react";
import { placedOn } from "../designer/placing";
import { useDesigner } from "../designer/store";
import { notify } from "../frame/notify";
import { Note } from "../ui";
import { t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import classes from "../ui/pages.module.css";
import { changesBetween } from "../versions/changes";
import { importDocument, useEditing } from "../versions/editing";
import { IMPORTED, type Imported, useImport } from "./importing";

/** Replaces the drawing by the topology in a file; saved, it is the next version. */
export function ImportDialog({ ws }: { ws: string }) {
  const [imported, setImported] = useState<Imported | null>(null);
  const { problem, read, reading } = useImport(ws, setImported);
  const { catalog, document } = useDesigner();
  const close = () => useEditing.setState({ dialog: null });
  const changes = imported === null ? "" : changesBetween(document, imported.document);

  const replace = async () => {
    if (imported === null || catalog === null) return;
    importDocument(imported.file, await placedOn(document, imported.document, catalog));
    notify(t("The drawing is now that of {file}. Save it to keep it.", { file: imported.file }));
    close();
  };

  return (
    <Modal opened onClose={close} title={t("Import a document or a program")} size={480}>
      <div className={classes.form}>
        <p>
          {t({
            id: "pages.topology_in_file_replaces",
            message:
              "The topology in the file replaces the drawing, which can be undone. Nodes with the same id keep their place and their state.",
          })}
        </p>
        <FileButton accept={IMPORTED} onChange={(file) => void read(file)}>
          {(button) => (
            <Button
              {...button}
              loading={reading}
              leftSection={<IconFileImport size={16} stroke={1.5} />}
              data-autofocus
              data-testid="import-file"
            >
              {imported?.file ?? t("Choose a file (.json or .py)…")}
            </Button>
          )}
        </FileButton>
        {problem === null ? null : (
          <Note tone="failed">
            <span className={classes.problem} data-testid="import-problem">
              {problem}
            </span>
          </Note>
        )}
        {imported === null ? null : (
          <Note>{changes === "" ? t("It is the same as the drawing.") : changes}</Note>
        )}
        <div className={classes.stickyEnd}>
          <Button onClick={close}>{t("Cancel")}</Button>
          <Button
            variant="filled"
            disabled={imported === null || reading || problem !== null}
            onClick={() => void replace()}
            data-testid="import-replace"
          >
            {t("Replace the drawing")}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
