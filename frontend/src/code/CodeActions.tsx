import { Button, CopyButton } from "@mantine/core";
import IconCopy from "@tabler/icons-react/dist/esm/icons/IconCopy.mjs";
import IconDownload from "@tabler/icons-react/dist/esm/icons/IconDownload.mjs";
import { useState } from "react";
import { downloadExport } from "../api/calls";
import { t } from "../app/phrases";
import { tellError } from "../app/tell";
import { useDesigner } from "../designer/store";
import { save } from "../pages/files";
import { Tip } from "../ui";

interface CodeActionsProps {
  topology: number;
  name: string;
  /** The version that an export takes; null as long as nothing was saved. */
  version: number | null;
  changed: boolean;
}

/** Copy what is shown; download the whole job of the saved version. */
export function CodeActions({ topology, name, version, changed }: CodeActionsProps) {
  const [busy, setBusy] = useState(false);
  const job = useDesigner(
    (state) => state.result?.code?.files.find((file) => file.path === "job.py")?.text ?? null,
  );
  const download = async () => {
    if (version === null) return;
    setBusy(true);
    try {
      save(`${name}-v${version}.zip`, await downloadExport(topology, version));
    } catch (error) {
      tellError(error, t("Not exported"));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
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
    </>
  );
}
