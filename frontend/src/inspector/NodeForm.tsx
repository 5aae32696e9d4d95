import "./widgets/ofNodes";
import { Button, Menu, Textarea } from "@mantine/core";
import IconPlus from "@tabler/icons-react/dist/esm/icons/IconPlus.mjs";
import IconTable from "@tabler/icons-react/dist/esm/icons/IconTable.mjs";
import { type ComponentType, useCallback, useMemo, useRef } from "react";
import { Link } from "react-router";
import { addKind } from "../commands/addNode";
import { portRoles } from "../designer/derived";
import { planText } from "../designer/localize";
import { useServices } from "../designer/servicesContext";
import { useDesigner, useDiagnosticsOf } from "../designer/store";
import { isAsked, kindOf, portsOf } from "../graph/catalog";
import { connect, moveChild, setDescription, setLabel, setParam } from "../graph/changes";
import { refusal } from "../graph/connect";
import {
  type DocumentNode,
  edgeId,
  findNode,
  isStoreKind,
  type Json,
  labelOf,
  paramsOf,
  sourcePort,
  targetPort,
} from "../graph/document";
import { isFragment } from "../graph/fragments";
import { isMissing } from "../problems/places";
import { Cut, Note } from "../ui";
import { t } from "../ui/i18n";
import { KindIcon } from "../ui/KindIcon";
import { Facts, Guarantee } from "./Facts";
import { FieldProblems } from "./Field";
import { FragmentForm } from "./FragmentForm";
import { ParameterField } from "./ParameterField";
import { PlacesOfParameters } from "./PlacesOfParameters";
import { Section } from "./Section";
import { topicsOf } from "./topicsOf";
import { useFocus } from "./useFocus";
import { MoveButtons } from "./widgets/MoveButtons";

/** Explains why the node runs the way it does. */
function HowItRuns({ node }: { node: DocumentNode }) {
  const catalog = useDesigner((state) => state.catalog);
  const why = useDesigner((state) => state.result?.plan?.nodes[node.id]?.why ?? null);
  if (why === null) return null;
  return (
    <details className="inspector-help">
      <summary>{t("Why it runs this way")}</summary>
      <p>{planText(catalog, node.kind, "why", why)}</p>
    </details>
  );
}

/** The node's stores, and a button that adds one. */
function Stores({ node }: { node: DocumentNode }) {
  const document = useDesigner((state) => state.document);
  const catalog = useDesigner((state) => state.catalog);
  const readOnly = useDesigner((state) => state.readOnly);
  const gives = useDesigner((state) => Object.values(portRoles(state, node.id)).join(" "));
  if (catalog === null) return null;
  const takes = kindOf(catalog, node.kind)?.takes_store ?? null;
  if (takes === null || takes.length === 0) return null;
  // A processor may use several stores, and read those of tables; an operator keeps its state in one.
  const several = kindOf(catalog, node.kind)?.reads_stores === true;
  const connected = document.edges
    .filter((edge) => edge.target === node.id && edge.target_port === "store")
    .map((edge) => findNode(document, edge.source))
    .filter((store) => store !== undefined);
  const keeps = kindOf(catalog, node.kind)?.stateful === true || gives.includes("table");
  if (!keeps && connected.length === 0) return null;
  return (
    <Section title={t("Store")}>
      {connected.map((store) => (
        <button
          key={store.id}
          type="button"
          className="link-row"
          onClick={() => useDesigner.getState().goTo(store.id)}
        >
          <KindIcon name={kindOf(catalog, store.kind)?.icon} size={15} />
          <Cut>{String(paramsOf(store).name ?? labelOf(store))}</Cut>
          <small>{kindOf(catalog, store.kind)?.title}</small>
        </button>
      ))}
      {readOnly || (connected.length > 0 && !several) ? null : (
        <div className="button-row">
          <Menu position="bottom-start" width={220}>
            <Menu.Target>
              <Button
                size="compact-xs"
                variant="subtle"
                leftSection={<IconPlus size={13} stroke={1.5} />}
              >
                {t("Add a store")}
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              {takes.map((kind) => (
                <Menu.Item
                  key={kind}
                  leftSection={<KindIcon name={kindOf(catalog, kind)?.icon} size={15} />}
                  onClick={() => addKind(kind)}
                >
                  {kindOf(catalog, kind)?.title ?? kind}
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
          {several ? <ReadTable node={node.id} /> : null}
        </div>
      )}
      {connected.length === 0 ? (
        <p className="inspector-hint">
          {several
            ? t({
                id: "inspector.it_has_no_store",
                message:
                  "It has no store: what its code keeps in variables is lost with a restart.",
              })
            : t({
                id: "inspector.without_store_state_is_kept",
                message:
                  "Without a store, state is kept in a store named after the node's id, which cannot be queried.",
              })}
        </p>
      ) : null}
    </Section>
  );
}

/** A button that connects a table, whose store the processor can then read. */
function ReadTable({ node }: { node: string }) {
  const document = useDesigner((state) => state.document);
  const catalog = useDesigner((state) => state.catalog);
  const ports = useDesigner((state) => state.result?.ports);
  if (catalog === null) return null;
  const to = { node, port: "store" };
  const tables = document.nodes.filter(
    (each) =>
      !isStoreKind(each.kind) &&
      refusal(document, catalog, ports ?? {}, { node: each.id, port: "out" }, to) === null,
  );
  if (tables.length === 0) return null;
  const read = (table: string) =>
    useDesigner
      .getState()
      .change(t("Read a table"), (now) => connect(now, { node: table, port: "out" }, to));
  return (
    <Menu position="bottom-start" width={220}>
      <Menu.Target>
        <Button
          size="compact-xs"
          variant="subtle"
          leftSection={<IconPlus size={13} stroke={1.5} />}
        >
          {t("Read a table")}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {tables.map((each) => (
          <Menu.Item
            key={each.id}
            leftSection={<KindIcon name={kindOf(catalog, each.kind)?.icon} size={15} />}
            onClick={() => read(each.id)}
          >
            {labelOf(each)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Links to the records of the topics that the node uses. */
function Topics({ node }: { node: DocumentNode }) {
  const services = useServices();
  return topicsOf(node).map((each) => (
    <Link
      key={each}
      to={services.topicAddress(each)}
      className="link-row"
      data-testid={`look-at-${each}`}
    >
      <IconTable size={15} stroke={1.5} />
      <Cut>{t("Show the records of {topic}", { topic: each })}</Cut>
    </Link>
  ));
}

/** The order in which a node's children get a record, if there are several. */
function Children({ node }: { node: DocumentNode }) {
  const document = useDesigner((state) => state.document);
  const readOnly = useDesigner((state) => state.readOnly);
  const edges = document.edges.filter(
    (edge) => edge.source === node.id && targetPort(edge) !== "store",
  );
  if (edges.length < 2) return null;
  const move = (edge: string, by: 1 | -1) =>
    useDesigner.getState().change(t("Reorder children"), (now) => moveChild(now, edge, by));
  return (
    <Section title={t("Order of children")}>
      <p className="inspector-hint">
        {t({
          id: "inspector.record_is_forwarded_to_children",
          message: "A record is forwarded to the children in this order, depth first.",
        })}
      </p>
      {edges.map((edge, index) => {
        const child = findNode(document, edge.target);
        return (
          <div className="child-row" key={edgeId(edge)}>
            <span className="list-number m-figures">{index + 1}</span>
            <button
              type="button"
              className="m-cut link-text"
              title={child === undefined ? edge.target : labelOf(child)}
              onClick={() => useDesigner.getState().goTo(edge.target)}
            >
              {child === undefined ? edge.target : labelOf(child)}
            </button>
            {sourcePort(edge) === "out" ? null : (
              <code className="m-muted">{sourcePort(edge)}</code>
            )}
            {readOnly ? null : (
              <span className="list-tools">
                <MoveButtons
                  index={index}
                  count={edges.length}
                  onMove={(by) => move(edgeId(edge), by)}
                />
              </span>
            )}
          </div>
        );
      })}
    </Section>
  );
}

/** The name of a node, edited in place. */
function Name({ node, taken }: { node: DocumentNode; taken: boolean }) {
  const readOnly = useDesigner((state) => state.readOnly);
  return (
    <div className="inspector-name" data-node-label="" data-parameter={taken ? undefined : "label"}>
      <input
        value={node.label ?? ""}
        placeholder={node.id}
        readOnly={readOnly}
        aria-label={t("Label")}
        spellCheck={false}
        onChange={(event) => {
          const label = event.currentTarget.value;
          useDesigner
            .getState()
            .change(t("Rename"), (document) => setLabel(document, node.id, label), {
              gesture: `label ${node.id}`,
            });
        }}
        onBlur={() => useDesigner.getState().endGesture()}
        onKeyDown={(event) => {
          if (event.key === "Enter" || event.key === "Escape") event.currentTarget.blur();
        }}
      />
      <code title={t("The id never changes: state and checkpoints refer to it")}>{node.id}</code>
    </div>
  );
}

export function NodeForm(props: {
  node: DocumentNode;
  nodeRuntime: ComponentType<{ node: string }> | undefined;
}) {
  const { node, nodeRuntime: More } = props;
  const catalog = useDesigner((state) => state.catalog);
  const readOnly = useDesigner((state) => state.readOnly);
  const layer = useDesigner((state) => state.layer);
  const diagnostics = useDiagnosticsOf(node.id);
  const form = useRef<HTMLDivElement>(null);
  const id = node.id;
  useFocus(id, form);
  const set = useCallback(
    (name: string, value: Json | undefined) => {
      const state = useDesigner.getState();
      const { catalog: known } = state;
      if (known === null) return;
      const title =
        kindOf(known, findNode(state.document, id)?.kind ?? "")?.parameters.find(
          (each) => each.name === name,
        )?.title ?? name;
      state.change(
        t("Change {title}", { title }),
        (document) => setParam(document, known, id, name, value),
        { gesture: `param ${id} ${name}` },
      );
    },
    [id],
  );
  const kind = catalog === null ? undefined : kindOf(catalog, node.kind);
  const ports = useMemo(
    () => (catalog === null ? [] : portsOf(catalog, node).map((port) => port.name)),
    [catalog, node],
  );
  if (catalog === null) return null;
  const params = paramsOf(node);
  const all = kind?.parameters ?? [];
  const shown = all.filter(
    (parameter) => isAsked(parameter, params, all) || params[parameter.name] !== undefined,
  );
  const named = new Set(shown.map((parameter) => parameter.name));
  const general = diagnostics.filter(
    (each) =>
      each.inner === undefined &&
      !each.path?.startsWith("arguments.") &&
      (each.parameter === null || !named.has(each.parameter.split(/[.[]/)[0] ?? "")),
  );
  return (
    <div ref={form} className="inspector-body m-scroll" data-steady="">
      <PlacesOfParameters />
      <Name node={node} taken={named.has("label")} />
      <Facts node={node} />
      {kind === undefined ? (
        <Note tone="failed">
          {t(
            {
              id: "inspector.this_version_of_millrace",
              message:
                "This version of Millrace does not know the kind {kind}. The node is kept unchanged.",
            },
            {
              kind: node.kind,
            },
          )}
        </Note>
      ) : null}
      {layer === "runtime" && More !== undefined ? <More node={id} /> : null}
      <div className="inspector-parameters" data-ports={ports.join(" ")}>
        {shown.map((parameter) => (
          <ParameterField
            key={parameter.name}
            parameter={parameter}
            node={node}
            value={params[parameter.name]}
            diagnostics={diagnostics}
            onSet={set}
          />
        ))}
        {isFragment(node) ? <FragmentForm node={node} nodeRuntime={More} /> : null}
        {kind !== undefined && shown.length === 0 && !isFragment(node) ? (
          <p className="inspector-hint">{t("This node has no parameters.")}</p>
        ) : null}
      </div>
      {general.length === 0 ? null : (
        <div className="inspector-general" data-missing={general.every(isMissing) || undefined}>
          <FieldProblems diagnostics={general} />
        </div>
      )}
      <Guarantee node={node} />
      <Topics node={node} />
      <Stores node={node} />
      <Children node={node} />
      {readOnly && !node.description ? null : (
        <Section title={t("Notes")}>
          <Textarea
            value={node.description ?? ""}
            placeholder={t("Why this node exists")}
            aria-label={t("Notes")}
            readOnly={readOnly}
            autosize
            minRows={1}
            maxRows={8}
            onChange={(event) => {
              const text = event.currentTarget.value;
              useDesigner
                .getState()
                .change(
                  t("Change {title}", { title: t("Notes") }),
                  (now) => setDescription(now, id, text),
                  {
                    gesture: `notes ${id}`,
                  },
                );
            }}
            onBlur={() => useDesigner.getState().endGesture()}
          />
        </Section>
      )}
      <HowItRuns node={node} />
      {kind === undefined ? null : (
        <details className="inspector-help">
          <summary>{t("What it does")}</summary>
          <p>{kind.description}</p>
          {kind.help === kind.description ? null : <p>{kind.help}</p>}
        </details>
      )}
      {layer !== "runtime" && More !== undefined ? <More node={id} /> : null}
    </div>
  );
}
