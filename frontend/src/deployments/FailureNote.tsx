import { Button } from "@mantine/core";
import IconAlertCircle from "@tabler/icons-react/dist/esm/icons/IconAlertCircle.mjs";
import { useState } from "react";
import type { Failure } from "../api/types";
import { t } from "../app/phrases";
import { useDesigner } from "../designer/store";
import { findNode, labelOf } from "../graph/document";
import { Note } from "../ui";
import { moment } from "../ui/format";
import classes from "./deployments.module.css";

/** The record that caused a failure, in one line: "orders-2 at offset 1,204, key "a"". */
export function recordText(failure: Failure): string | null {
  const { record } = failure;
  if (record === null || record.topic === null || record.topic === undefined) return null;
  const parts = [`${record.topic}-${record.partition ?? "?"}`];
  if (record.offset !== null && record.offset !== undefined) {
    parts.push(t("offset {n}", { n: record.offset }));
  }
  if (record.key !== null && record.key !== undefined) {
    parts.push(t("key {key}", { key: JSON.stringify(record.key) }));
  }
  if (typeof record.timestamp === "number") parts.push(moment(record.timestamp));
  return parts.join(" · ");
}

/** What failed, at which node, because of which record; with the way there. */
export function FailureNote({ failure }: { failure: Failure }) {
  const document = useDesigner((state) => state.document);
  const goTo = useDesigner((state) => state.goTo);
  const [all, setAll] = useState(false);
  const node = failure.node === null ? undefined : findNode(document, failure.node);
  const record = recordText(failure);
  const long = failure.message.length > 240;
  return (
    <Note tone="failed" icon={<IconAlertCircle size={16} stroke={1.5} style={{ flex: "none" }} />}>
      <div className={classes.failure} data-testid="failure">
        {node === undefined ? null : (
          <strong>
            {failure.parameter === null
              ? t("At {node}", { node: labelOf(node) })
              : t("At {node}, {parameter}", { node: labelOf(node), parameter: failure.parameter })}
          </strong>
        )}
        <span>{long && !all ? `${failure.message.slice(0, 240)}…` : failure.message}</span>
        {record === null ? null : <span className={classes.record}>{record}</span>}
        <span className={classes.failureActions}>
          {node === undefined ? null : (
            <Button
              variant="subtle"
              color="red"
              onClick={() => goTo(node.id, failure.parameter)}
              data-testid="failure-node"
            >
              {t("Go to the node")}
            </Button>
          )}
          {long ? (
            <Button variant="subtle" color="red" onClick={() => setAll(!all)}>
              {all ? t("Less") : t("All of it")}
            </Button>
          ) : null}
        </span>
      </div>
    </Note>
  );
}
