import { Button } from "@mantine/core";
import { addRule } from "../commands/addRule";
import { canRun, commandContext } from "../commands/command";
import { pinRecords } from "../commands/part";
import { canvas } from "../designer/canvasApi";
import { canPin, isShuffle } from "../designer/derived";
import { drawnOf } from "../designer/drawn";
import { goToDrawn, useDesigner } from "../designer/store";
import { roleText } from "../designer/words";
import { removeEdges } from "../graph/changes";
import {
  type DocumentEdge,
  edgeId,
  findNode,
  isStoreKind,
  labelOf,
  sourcePort,
  targetPort,
} from "../graph/document";
import { pinOn } from "../graph/pins";
import { readType, type SparkType, writeType } from "../graph/types";
import { Chip, Cut, Note } from "../ui";
import { t } from "../ui/i18n";
import { Section } from "./Section";

/** A type with its fields as a tree. */
function TypeTree({ name, type, depth = 0 }: { name: string; type: SparkType; depth?: number }) {
  const nested = type.fields.length > 0;
  return (
    <>
      <div className="type-row" style={{ paddingLeft: depth * 14 }}>
        <Cut>{name}</Cut>
        <code className="m-cut" title={writeType(type)}>
          {nested ? "STRUCT" : writeType(type)}
        </code>
      </div>
      {type.fields.map((field) => (
        <TypeTree key={field.name} name={field.name} type={field.type} depth={depth + 1} />
      ))}
    </>
  );
}

export function EdgeForm({ edge }: { edge: DocumentEdge }) {
  const { document, owners } = useDesigner(drawnOf);
  const type = useDesigner((state) => state.result?.ports[edge.source]?.[sourcePort(edge)]);
  const readOnly = useDesigner((state) => state.readOnly);
  const shuffle = useDesigner((state) => isShuffle(state, edge));
  const pinnable = useDesigner((state) => canPin(state, edge));
  const ruled = useDesigner(() => canRun(addRule, commandContext()));
  const pinned = pinOn(document, edgeId(edge));
  const source = findNode(document, edge.source);
  const target = findNode(document, edge.target);
  if (source === undefined || target === undefined) return null;
  const store = isStoreKind(source.kind);
  const within = owners.has(edge.source) || owners.has(edge.target);
  const ends = [
    { node: source, port: sourcePort(edge), usual: "out" },
    { node: target, port: targetPort(edge), usual: "in" },
  ];
  return (
    <div className="inspector-body m-scroll">
      <h2 className="inspector-heading">{store ? t("Store connection") : t("Edge")}</h2>
      <div className="inspector-facts">
        {type === undefined ? null : <Chip>{roleText(type.role)}</Chip>}
        {type?.key_changed === true ? <Chip>{t("key changed")}</Chip> : null}
      </div>
      <Section>
        {ends.map((end, index) => (
          <button
            key={index}
            type="button"
            className="link-row"
            onClick={() => goToDrawn(end.node.id)}
          >
            <span className="m-muted edge-end">{index === 0 ? t("from") : t("to")}</span>
            <Cut>{labelOf(end.node)}</Cut>
            {end.port === end.usual ? null : <small>{end.port}</small>}
          </button>
        ))}
      </Section>
      {shuffle ? (
        <Note tone="neutral">
          {t({
            id: "common.records_are_repartitioned_here",
            message:
              "Records are repartitioned here: each goes through a repartition topic to the task that owns its key.",
          })}
        </Note>
      ) : null}
      {type === undefined ? (
        store ? null : (
          <p className="inspector-hint">
            {t("The type is known once the nodes upstream compile.")}
          </p>
        )
      ) : (
        <Section title={t("What flows")}>
          <div className="type-tree">
            <TypeTree name="key" type={readType(type.key)} />
            <TypeTree name="value" type={readType(type.value)} />
          </div>
        </Section>
      )}
      {pinned === undefined ? null : (
        <Note tone="neutral">
          {t(
            {
              id: "common.records_are_pinned_here",
              message:
                "{n} {n, plural, one {record is} other {records are}} pinned here: simulations begin with them",
            },
            {
              n: pinned.records.length,
            },
          )}
        </Note>
      )}
      {readOnly ? null : (
        <div className="button-row">
          {store || !pinnable ? null : (
            <Button onClick={() => void pinRecords.run(commandContext())}>
              {t("Pin records…")}
            </Button>
          )}
          {store || within ? null : (
            <Button onClick={() => canvas()?.openAddMenu({ edge: edgeId(edge) })}>
              {t("Insert a node…")}
            </Button>
          )}
          {ruled ? (
            <Button data-testid="add-rule" onClick={() => void addRule.run(commandContext())}>
              {addRule.title()}
            </Button>
          ) : null}
          {within ? null : (
            <Button
              onClick={() =>
                useDesigner
                  .getState()
                  .change(t("Delete edge"), (now) => removeEdges(now, new Set([edgeId(edge)])), {
                    select: { nodes: [], edges: [] },
                  })
              }
            >
              {t("Delete edge")}
            </Button>
          )}
        </div>
      )}
      {within ? (
        <p className="inspector-hint">
          {pinnable
            ? t({
                id: "inspector.edge_within_fragment",
                message:
                  "The edge is within a fragment. It is changed where the fragment is drawn.",
              })
            : t({
                id: "inspector.edge_to_closed_fragment",
                message:
                  "Records are pinned on edges between nodes that run. Open the fragment at its end to pin some.",
              })}
        </p>
      ) : null}
    </div>
  );
}
