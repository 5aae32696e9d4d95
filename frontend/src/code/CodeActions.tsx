import { Button, CopyButton } from "@mantine/core";
import IconCopy from "@tabler/icons-react/dist/esm/icons/IconCopy.mjs";
import IconDownload from "@tabler/icons-react/dist/esm/icons/IconDownload.mjs";
import { useState } from "react";
import { downloadExport } from "../api/topologyCalls";
import { notifyError } from "../frame/notify";
import { Segments, Tip } from "../ui";
import { save } from "../ui/files";
import { t } from "../ui/i18n";
import classes from "./code.module.css";
import { type Dialect, useDialect, useJob } from "./dialect";

interface CodeActionsProps {
  topology: number;
  name: string;
  /** The version that is exported; null if nothing has been saved yet. */
  version: number | null;
  changed: boolean;
}

/** Copies the code that is shown, or downloads the complete job of the saved version. */
export function CodeActions({ topology, name, version, changed }: CodeActionsProps) {
  const [busy, setBusy] = useState(false);
  const job = useJob();
  const dialect = useDialect((state) => state.dialect);
  const choose = useDialect((state) => state.choose);
  const download = async () => {
    if (version === null) return;
    setBusy(true);
    try {
      const file =
        dialect === "plain" ? `${name}-v${version}-plain.zip` : `${name}-v${version}.zip`;
      save(file, await downloadExport(topology, version, dialect));
    } catch (error) {
      notifyError(error, t("Could not export"));
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className={classes.bar}>
      <Segments<Dialect>
        label={t("Dialect of the code")}
        value={dialect}
        onChange={choose}
        items={[
          { id: "exact", title: t("Exact") },
          { id: "plain", title: t("Plain Spark") },
        ]}
      />
      <span className="ui-space" />
      <CopyButton value={job ?? ""}>
        {({ copied, copy }) => (
          <Button
            variant="subtle"
            disabled={job === null}
            leftSection={<IconCopy size={16} stroke={1.5} />}
            onClick={copy}
          >
            {copied ? t("Copied") : t("Copy")}
          </Button>
        )}
      </CopyButton>
      <Tip
        text={
          version === null
            ? t("Save a version first")
            : changed
              ? t("The saved version {n}, without your changes since", { n: version })
              : dialect === "plain"
                ? t("A program that imports nothing but pyspark")
                : t("Code, runtime and instructions, ready for any Spark")
        }
      >
        <Button
          variant="subtle"
          data-disabled={version === null || undefined}
          loading={busy}
          leftSection={<IconDownload size={16} stroke={1.5} />}
          onClick={() => void download()}
          data-testid="export-zip"
        >
          {version === null ? t("Export zip") : t("Export v{n} as zip", { n: version })}
        </Button>
      </Tip>
    </div>
  );
}
