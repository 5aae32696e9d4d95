import { Button, Textarea } from "@mantine/core";
import { useState } from "react";
import { getEdgeRecords } from "../api/deploymentCalls";
import { chosenDrawnEdge, drawing } from "../designer/drawn";
import { useDesigner } from "../designer/store";
import { type DocumentEdge, edgeId, findNode, labelOf, sourcePort } from "../graph/document";
import { type PinnedRecord, pinOn, setPin } from "../graph/pins";
import { useLive } from "../live/store";
import { Note } from "../ui";
import { DialogEnd } from "../ui/DialogEnd";
import { type Translated, t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import { type BadLine, deployedOn, MOST_RECORDS, recordsOf, simulatedOn, textOf } from "./pins";
import classes from "./simulate.module.css";
import { failureOf, useSimulation } from "./store";

/** Pins records on the selected edge. */
export function PinDialog({ onClose }: { onClose: () => void }) {
  const edge = chosenDrawnEdge(useDesigner.getState());
  return edge === undefined ? null : <Records edge={edge} onClose={onClose} />;
}

function Records({ edge, onClose }: { edge: DocumentEdge; onClose: () => void }) {
  const document = useDesigner((state) => state.document);
  const drawn = useDesigner(drawing);
  const type = useDesigner((state) => state.result?.ports[edge.source]?.[sourcePort(edge)]);
  const deployment = useLive((live) => live.deployment?.id ?? null);
  const shown = useSimulation((state) => state.shown);
  const old = pinOn(document, edgeId(edge));
  const [text, setText] = useState(() => textOf(old?.records ?? []));
  const [asking, setAsking] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const { bad, records } = recordsOf(text);
  const many = records.length > MOST_RECORDS;
  const simulated = simulatedOn(shown, edgeId(edge));
  const take = (found: readonly PinnedRecord[]) => {
    setFailure(null);
    setText(textOf(found));
  };
  const ask = async () => {
    if (deployment === null) return;
    setAsking(true);
    try {
      // The driver samples records only after it has been asked for the first time.
      for (let times = 0; times < 6; times += 1) {
        const found = deployedOn((await getEdgeRecords(deployment, edgeId(edge))).records);
        if (found.length > 0) {
          take(found);
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, 1_000));
      }
      setFailure(t("No record passed over this edge."));
    } catch (error) {
      setFailure(failureOf(error));
    } finally {
      setAsking(false);
    }
  };
  const change = (label: Translated, next: readonly PinnedRecord[] | null) => {
    useDesigner.getState().change(label, (now) => setPin(now, edge, next));
    onClose();
  };
  const name = (id: string) => {
    const node = findNode(document, id) ?? findNode(drawn, id);
    return node === undefined ? id : labelOf(node);
  };
  return (
    <Modal
      opened
      onClose={onClose}
      size={720}
      title={t("Records from {source} to {target}", {
        source: name(edge.source),
        target: name(edge.target),
      })}
    >
      <div className={classes.pinning}>
        <p>
          {t({
            id: "simulate.pinned_records_stand_for",
            message:
              "In simulations these records stand for everything before the edge: only what follows runs, and what that needs. They are kept with the topology and never deployed.",
          })}
        </p>
        {type === undefined ? null : (
          <p className="m-mono m-muted">{`key ${type.key} · value ${type.value}`}</p>
        )}
        <div className={classes.sources}>
          <Button
            variant="default"
            disabled={simulated.length === 0}
            onClick={() => take(simulated)}
          >
            {t("Take {n} from the last simulation", { n: simulated.length })}
          </Button>
          {deployment === null ? null : (
            <Button variant="default" loading={asking} onClick={() => void ask()}>
              {t("Take from the deployment")}
            </Button>
          )}
          {old === undefined ? null : (
            <Button variant="default" onClick={() => change(t("Remove the pinned records"), null)}>
              {t("Remove the pinned records")}
            </Button>
          )}
        </div>
        <Textarea
          label={t("One record per line, as JSON")}
          description={t({
            id: "simulate.fields_of_pinned_records",
            message:
              "Fields: key, value, timestamp (ms), partition, headers. Without lines, no record arrives.",
          })}
          placeholder={`{"key": ${sampleOf(type?.key)}, "value": ${sampleOf(type?.value)}, "timestamp": 0}`}
          classNames={{ input: "m-mono" }}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          error={
            bad !== null
              ? textOfBad(bad)
              : many
                ? t("At most {n} records.", { n: MOST_RECORDS })
                : undefined
          }
          autosize
          minRows={8}
          maxRows={16}
          data-autofocus
          data-testid="pinned-records"
        />
        {failure === null ? null : <Note tone="failed">{failure}</Note>}
      </div>
      <DialogEnd
        onCancel={onClose}
        disabled={bad !== null || many}
        onClick={() => change(t("Pin records"), records)}
        data-testid="pin"
      >
        {t("Pin {n} {n, plural, one {record} other {records}}", { n: records.length })}
      </DialogEnd>
    </Modal>
  );
}

function textOfBad({ field, known, n }: BadLine): Translated {
  if (field === null) return t("Line {n} is not a JSON object.", { n });
  return known
    ? t("Line {n} has a wrong {field}.", { n, field })
    : t("Line {n} has the unknown field {field}.", { n, field });
}

/** A value of a Spark type, as JSON. */
function sampleOf(type = "STRING"): string {
  if (/^(STRING|BINARY)/.test(type)) return '"a"';
  if (/^(TINYINT|SMALLINT|INT|BIGINT|FLOAT|DOUBLE|DECIMAL)/.test(type)) return "3";
  if (/^BOOLEAN/.test(type)) return "true";
  return type.startsWith("ARRAY") ? "[…]" : "{…}";
}
