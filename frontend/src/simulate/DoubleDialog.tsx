import { Button, Checkbox } from "@mantine/core";
import { Suspense, useId, useMemo, useState } from "react";
import { chosenNodes, commandContext } from "../commands/command";
import { drawing } from "../designer/drawn";
import { useDesigner } from "../designer/store";
import { type DocumentNode, findNode, labelOf } from "../graph/document";
import { type DoubleRow, doubleOf, setDouble } from "../graph/pins";
import { columnsOf } from "../inspector/columns";
import { ExpressionField } from "../inspector/widgets/expressionField";
import { AddButton, Row } from "../inspector/widgets/rows";
import { moved, replaced } from "../inspector/widgets/widget";
import { DialogEnd } from "../ui/DialogEnd";
import { t } from "../ui/i18n";
import { later } from "../ui/later";
import { Modal } from "../ui/Modal";
import classes from "./simulate.module.css";

const TriedValues = later(async () => (await import("../inspector/TriedValues")).TriedValues);

/** The table of answers that stands for the selected node in simulations and tests. */
export function DoubleDialog({ onClose }: { onClose: () => void }) {
  const [id] = chosenNodes(commandContext());
  const node = id === undefined ? undefined : findNode(drawing(useDesigner.getState()), id);
  return node === undefined ? null : <Answers node={node} onClose={onClose} />;
}

const PARTS = ["when", "key", "value"] as const;

function Answers({ node, onClose }: { node: DocumentNode; onClose: () => void }) {
  const type = useDesigner((state) => state.result?.ports[node.id]?.out);
  const old = doubleOf(useDesigner.getState().document, node.id);
  const [rows, setRows] = useState<readonly DoubleRow[]>(() => old?.rows ?? [{}]);
  const [passes, setPasses] = useState(old?.passes === true);
  const save = () => {
    const double = { rows, ...(passes ? { passes } : {}) };
    useDesigner
      .getState()
      .change(t("Double for simulations and tests…"), (now) => setDouble(now, node.id, double));
    onClose();
  };
  const remove = () => {
    useDesigner.getState().change(t("Remove the double"), (now) => setDouble(now, node.id, null));
    onClose();
  };
  return (
    <Modal
      opened
      onClose={onClose}
      // It closes suggestions of the code, and would lose what was written.
      closeOnEscape={false}
      size={720}
      title={t("Double of {node}", { node: labelOf(node) })}
    >
      <div className={classes.pinning}>
        <p>
          {t({
            id: "simulate.double_stands_for",
            message:
              "In simulations and tests, this table runs in place of the node: each record gets the answer of the first row that matches. It is kept with the topology and never deployed.",
          })}
        </p>
        {type === undefined ? null : (
          <p className="m-mono m-muted">
            {t("gives key {key} · value {value}", { key: type.key, value: type.value })}
          </p>
        )}
        <div className="list">
          {rows.map((row, index) => (
            <Row
              key={index}
              index={index}
              count={rows.length}
              ordered
              readOnly={false}
              onMove={(by) => setRows(moved(rows, index, by))}
              onRemove={() => setRows(rows.filter((_row, at) => at !== index))}
              head={t("Answer {n}", { n: index + 1 })}
            >
              {PARTS.map((part) => (
                <Part
                  key={part}
                  node={node}
                  part={part}
                  text={row[part] ?? ""}
                  onChange={(text) => {
                    const { [part]: _old, ...others } = row;
                    const next = text.trim() === "" ? others : { ...others, [part]: text };
                    setRows(replaced(rows, index, next));
                  }}
                />
              ))}
            </Row>
          ))}
          <AddButton
            text={t("Add an answer")}
            hidden={false}
            onClick={() => setRows([...rows, {}])}
          />
        </div>
        <Checkbox
          label={t("Records that match no answer pass unchanged")}
          checked={passes}
          onChange={(event) => setPasses(event.currentTarget.checked)}
        />
        {old === undefined ? null : (
          <div className={classes.sources}>
            <Button variant="default" onClick={remove}>
              {t("Remove the double")}
            </Button>
          </div>
        )}
      </div>
      <DialogEnd onCancel={onClose} onClick={save} data-testid="save-double">
        {t("Save the double")}
      </DialogEnd>
    </Modal>
  );
}

/** An expression of an answer, with the values that it gives for sample records. */
function Part(props: {
  node: DocumentNode;
  part: (typeof PARTS)[number];
  text: string;
  onChange: (text: string) => void;
}) {
  const { node, onChange, part, text } = props;
  const document = useDesigner(drawing);
  const result = useDesigner((state) => state.result);
  const formats = useDesigner((state) => state.catalog?.formats);
  const columns = useMemo(
    () => columnsOf("record", node, document, result, formats),
    [node, document, result, formats],
  );
  const [focused, setFocused] = useState(false);
  const label = useId();
  const { name, otherwise } = {
    when: { name: t("Matches if"), otherwise: t("all records") },
    key: { name: t("Key"), otherwise: t("the key of the record") },
    value: { name: t("Value"), otherwise: t("no record") },
  }[part];
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only notices the focus of the editor
    <div className={classes.answer} onFocus={() => setFocused(true)} data-part={part}>
      <span id={label}>{name}</span>
      <div>
        <ExpressionField
          text={text}
          columns={columns}
          diagnostics={NO_DIAGNOSTICS}
          labelId={label}
          readOnly={false}
          placeholder={otherwise}
          onChange={onChange}
          onDone={() => undefined}
        />
        {focused ? (
          <Suspense>
            <TriedValues node={node} text={text} port={undefined} wrong={false} told />
          </Suspense>
        ) : null}
      </div>
    </div>
  );
}

const NO_DIAGNOSTICS: readonly never[] = [];
