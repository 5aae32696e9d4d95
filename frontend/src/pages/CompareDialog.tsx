import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Suspense, useState } from "react";
import { compileDocument } from "../api/compileCalls";
import { getVersion } from "../api/topologyCalls";
import type { VersionSummary } from "../api/types";
import { useDesigner } from "../designer/store";
import { Differing } from "../differing/Differing";
import { Loading } from "../frame/Loading";
import { Waiting } from "../frame/Waiting";
import { Segments } from "../ui";
import { t } from "../ui/i18n";
import { later } from "../ui/later";
import { Modal } from "../ui/Modal";
import { asText, changesBetween } from "../versions/changes";
import { useEditing } from "../versions/editing";
import classes from "./versions.module.css";

const SideBySide = later(async () => (await import("../code/SideBySide")).SideBySide);

const CompareCanvas = later(async () => (await import("./CompareCanvas")).CompareCanvas);

const CompareState = later(async () => (await import("./CompareState")).CompareState);

type What = "canvas" | "document" | "code" | "state";

/** Compares two versions, or a version and the canvas: in one drawing, or side by side as document or generated code. */
export function CompareDialog(props: {
  topology: number;
  version: number;
  versions: readonly VersionSummary[];
  onClose: () => void;
}) {
  const drawing = useDesigner((state) => state.document);
  const drawnCode = useDesigner((state) => state.result?.code ?? null);
  const { ws } = useEditing();
  const [left, setLeft] = useState(String(props.version));
  const [right, setRight] = useState("drawing");
  const [what, setWhat] = useState<What>("canvas");
  const documentOf = async (side: string) =>
    side === "drawing" ? drawing : (await getVersion(props.topology, Number(side))).document;
  const nameOf = (side: string) => options.find((each) => each.value === side)?.label ?? side;
  const load = async (side: string) => {
    const document = await documentOf(side);
    if (what !== "code") return { document, text: asText(document) };
    const code = side === "drawing" ? drawnCode : (await compileDocument(ws, document, 0)).code;
    const job = code?.files.find((file) => file.path === "job.py");
    return { document, text: job?.text ?? `# ${t("This version does not compile.")}\n` };
  };
  const sides = useQuery({
    queryKey: ["compare", props.topology, left, right, what],
    queryFn: async () => ({ left: await load(left), right: await load(right) }),
    staleTime: 0,
  });
  const options = [
    { value: "drawing", label: t("The drawing") },
    ...props.versions.map(({ number }) => ({
      value: String(number),
      label: t("Version {n}", { n: number }),
    })),
  ];
  const summary =
    sides.data === undefined
      ? ""
      : changesBetween(sides.data.left.document, sides.data.right.document);
  return (
    <Modal opened onClose={props.onClose} title={t("Compare")} size="min(1200px, 92vw)">
      <div className={classes.compare}>
        <div className={classes.compareBar}>
          <Select
            aria-label={t("Left side")}
            data={options}
            value={left}
            onChange={(value) => setLeft(value ?? left)}
            w={140}
          />
          <span>→</span>
          <Select
            aria-label={t("Right side")}
            data={options}
            value={right}
            onChange={(value) => setRight(value ?? right)}
            w={140}
          />
          <Segments<What>
            label={t("Compare as")}
            value={what}
            onChange={setWhat}
            items={[
              { id: "canvas", title: t("Canvas") },
              { id: "document", title: t("Document") },
              { id: "code", title: t("Code") },
              { id: "state", title: t("State") },
            ]}
          />
          <span className={`${classes.note} m-cut`} title={summary}>
            {sides.data === undefined ? "" : summary || t("No nodes differ.")}
          </span>
        </div>
        {left === right ? null : (
          <Differing
            key={`${left} ${right}`}
            names={[nameOf(left), nameOf(right)]}
            load={async () => ({ old: await documentOf(left), new: await documentOf(right) })}
            onOpened={props.onClose}
          />
        )}
        <Waiting query={sides} />
        {sides.data === undefined ? null : (
          <Suspense fallback={<Loading />}>
            {what === "canvas" ? (
              <CompareCanvas left={sides.data.left.document} right={sides.data.right.document} />
            ) : what === "state" ? (
              <CompareState
                ws={ws}
                left={sides.data.left.document}
                right={sides.data.right.document}
              />
            ) : (
              <SideBySide
                left={sides.data.left.text}
                right={sides.data.right.text}
                path={what === "code" ? "job.py" : "topology.json"}
              />
            )}
          </Suspense>
        )}
      </div>
    </Modal>
  );
}
