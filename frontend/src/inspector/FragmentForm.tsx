import { Button, Select, TextInput } from "@mantine/core";
import IconChevronRight from "@tabler/icons-react/dist/esm/icons/IconChevronRight.mjs";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ComponentType, useId, useMemo, useState } from "react";
import { Link } from "react-router";
import { asApiError } from "../api/client";
import { hueOf } from "../designer/derived";
import { drawnOf } from "../designer/drawn";
import { useRuntime } from "../designer/runtime";
import { useServices } from "../designer/servicesContext";
import { useSimulated } from "../designer/simulated";
import { useDesigner, useDiagnosticsOf } from "../designer/store";
import { kindOf } from "../graph/catalog";
import {
  asObject,
  type DocumentNode,
  edgeId,
  emptyDocument,
  isStoreKind,
  type Json,
  paramsOf,
  type TopologyDocument,
} from "../graph/document";
import { setArgument, updateFragment } from "../graph/fragmentChanges";
import {
  type Definition,
  definitionOf,
  definitionsOf,
  partsOf,
  referenceOf,
} from "../graph/fragments";
import { parametersOf, placeOf, typedValue } from "../graph/parameters";
import { Cut, Note } from "../ui";
import { t } from "../ui/i18n";
import { KindIcon } from "../ui/KindIcon";
import { changesBetween } from "../versions/changes";
import { canonical } from "../versions/merge";
import { Facts, Guarantee } from "./Facts";
import { FieldProblems } from "./Field";
import { Section } from "./Section";
import { asText } from "./widgets/widget";

/** A definition as a document, to be compared. */
function asDocument(definition: Definition): TopologyDocument {
  return { ...emptyDocument(""), ...(definition as Partial<TopologyDocument>) };
}

/** The arguments of a fragment node: one field for each parameter. Empty: the default. */
function Arguments({ node, definition }: { node: DocumentNode; definition: Definition }) {
  const readOnly = useDesigner((state) => state.readOnly);
  const document = useDesigner((state) => state.document);
  const diagnostics = useDiagnosticsOf(node.id);
  const given = asObject(paramsOf(node).arguments);
  const declared = parametersOf(asDocument(definition));
  if (declared.length === 0) return null;
  const places = parametersOf(document).map(([name]) => placeOf(name));
  const set = (name: string, value: Json | undefined) =>
    useDesigner
      .getState()
      .change(
        t("Change {title}", { title: name }),
        (now) => setArgument(now, node.id, name, value),
        {
          gesture: `argument ${node.id} ${name}`,
        },
      );
  return (
    <Section title={t("Parameters")}>
      {declared.map(([name, row]) => {
        const value = given[name];
        const own = diagnostics.filter((each) => each.path === `arguments.${name}`);
        const text = value === undefined ? "" : asText(value);
        const common = { label: name, description: row.description ?? null, disabled: readOnly };
        return (
          <div key={name} data-parameter={`arguments.${name}`}>
            {row.type === "boolean" ? (
              <Select
                {...common}
                data={["true", "false", ...places]}
                value={text || null}
                placeholder={String(row.default)}
                clearable
                onChange={(next) =>
                  set(name, next === null ? undefined : typedValue("boolean", next))
                }
              />
            ) : (
              <TextInput
                {...common}
                value={text}
                placeholder={asText(row.default as Json)}
                data-testid={`argument-${name}`}
                onChange={(event) => {
                  const next = event.currentTarget.value;
                  set(name, next === "" ? undefined : typedValue(row.type, next));
                }}
                onBlur={() => useDesigner.getState().endGesture()}
              />
            )}
            <FieldProblems diagnostics={own} />
          </div>
        );
      })}
    </Section>
  );
}

/** What a definition has that affects how it runs, as text. */
function essence({ edges, nodes, parameters }: TopologyDocument): string {
  const own = nodes.map(({ description: _d, label: _l, position: _p, ...node }) => canonical(node));
  return canonical([own.sort(), edges.map(edgeId).sort(), parameters ?? {}]);
}

/**
 * A definition that was changed in this topology, and is not the workspace's version of its number. It can become the next
 * version, or give way to the workspace's.
 */
function ChangedHere(props: {
  node: DocumentNode;
  mine: TopologyDocument;
  theirs: TopologyDocument;
  fragment: { readonly id: number; readonly latest_version: number | null };
}) {
  const { fragment, mine, node, theirs } = props;
  const services = useServices();
  const queries = useQueryClient();
  const readOnly = useDesigner((state) => state.readOnly);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const { name, version } = partsOf(referenceOf(node));
  const use = (number: number, definition: TopologyDocument) => {
    const reference = `${name}@${number}`;
    useDesigner.getState().change(t("Use version {n} of the workspace", { n: number }), (now) => {
      const users = now.nodes.filter((each) => referenceOf(each) === referenceOf(node));
      return users.reduce((made, { id }) => updateFragment(made, id, reference, definition), now);
    });
  };
  const save = async () => {
    setBusy(true);
    setFailure(null);
    try {
      // A document contains the fragments that it uses.
      const inner = definitionsOf(useDesigner.getState().document.fragments, mine.nodes);
      const some = Object.keys(inner).length > 0;
      const made = { ...mine, name, ...(some ? { fragments: inner } : {}) };
      const number = await services.saveFragment(fragment.id, fragment.latest_version ?? 0, made);
      use(number, made);
      void queries.invalidateQueries({ queryKey: ["fragments"] });
    } catch (error) {
      setFailure(asApiError(error).text);
    } finally {
      setBusy(false);
    }
  };
  const next = (fragment.latest_version ?? 0) + 1;
  return (
    <>
      <Note tone="degraded">
        <span data-testid="fragment-changed">
          {t(
            {
              id: "inspector.fragment_changed_here",
              message:
                "Changed in this topology: it is not version {n} of the workspace any more ({text}).",
            },
            { n: version, text: changesBetween(theirs, mine) || t("parameters") },
          )}
        </span>
      </Note>
      {failure === null ? null : <Note tone="failed">{failure}</Note>}
      {readOnly ? null : (
        <div className="button-row">
          <Button
            size="compact-sm"
            variant="default"
            loading={busy}
            onClick={() => void save()}
            data-testid="save-fragment"
          >
            {t("Save as version {n}", { n: next })}
          </Button>
          <Button size="compact-sm" variant="default" onClick={() => use(version, theirs)}>
            {t("Use version {n} of the workspace", { n: version })}
          </Button>
        </div>
      )}
    </>
  );
}

/** The version of the fragment, what was changed in it here, and what a newer one changes. */
function FragmentVersion({ node, definition }: { node: DocumentNode; definition: Definition }) {
  const services = useServices();
  const readOnly = useDesigner((state) => state.readOnly);
  const { name, version } = partsOf(referenceOf(node));
  const found = useQuery({
    queryKey: ["fragments", "named", name],
    queryFn: async () =>
      (await services.fragments(name)).find((each) => each.name === name) ?? null,
    staleTime: 5_000,
  }).data;
  const newest = found?.latest_version ?? null;
  const id = found?.id ?? 0;
  const outdated = newest !== null && newest > version;
  const latest = useQuery({
    queryKey: ["fragment", id, newest],
    queryFn: () => services.fragment(id, newest ?? 0),
    enabled: outdated,
  }).data;
  // The newest version is also known, by the query below, while it is the one in use.
  const newer = outdated ? latest : undefined;
  const saved = useQuery({
    queryKey: ["fragment", id, version],
    queryFn: () => services.fragment(id, version),
    enabled: newest !== null && newest >= version,
  }).data;
  const mine = useMemo(() => asDocument(definition), [definition]);
  const changed = useMemo(
    () => saved !== undefined && essence(saved) !== essence(mine),
    [saved, mine],
  );
  const reference = `${name}@${newest}`;
  const update = (fragment: TopologyDocument) =>
    useDesigner
      .getState()
      .change(t("Update to version {n}", { n: newest ?? 0 }), (now) =>
        updateFragment(now, node.id, reference, fragment),
      );
  return (
    <Section title={t("Version")}>
      <p className="inspector-hint" data-testid="fragment-version">
        {t("{name}, version {n}", { name, n: version })}
      </p>
      {found === null ? (
        <p className="inspector-hint">
          {t({
            id: "inspector.fragment_is_not_here",
            message:
              "The workspace has no fragment of this name. The topology contains what it uses.",
          })}
        </p>
      ) : null}
      {found == null ? null : (
        <Link to={services.topologyAddress(found.id)} className="link-row">
          <Cut>{t("Open the fragment")}</Cut>
        </Link>
      )}
      {found == null || saved === undefined || !changed ? null : (
        <ChangedHere node={node} mine={mine} theirs={saved} fragment={found} />
      )}
      {newer === undefined || newest === null ? null : (
        <>
          <Note tone="neutral">
            {t("Version {n}: {text}", {
              n: newest,
              text: changesBetween(asDocument(definition), newer) || t("the same nodes"),
            })}
          </Note>
          {readOnly ? null : (
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => update(newer)}
              data-testid="update-fragment"
            >
              {t("Update to version {n}", { n: newest })}
            </Button>
          )}
        </>
      )}
    </Section>
  );
}

/** Records in and out of an inner node, in the simulation or while the topology runs. */
function Count({ id }: { id: string }) {
  const layer = useDesigner((state) => state.layer);
  const live = useRuntime((state) => state.figures?.nodes[id]);
  const simulated = useSimulated((state) => state.nodes?.[id]);
  const counts =
    layer === "runtime"
      ? live === undefined
        ? null
        : [live.inTotal, live.outTotal]
      : simulated === undefined
        ? null
        : [simulated.in, simulated.out];
  if (counts === null) return null;
  return (
    <small className="m-figures" data-testid={`inner-${id}`}>
      {counts.join(" → ")}
    </small>
  );
}

type More = ComponentType<{ node: string }> | undefined;

/** The nodes of the fragment with what happens at each; the chosen one shows how it runs and its figures. */
function Contents({ node, nodeRuntime: More }: { node: string; nodeRuntime: More }) {
  const catalog = useDesigner((state) => state.catalog);
  const inner = useDesigner((state) => state.result?.fragments?.[node]?.nodes);
  const diagnostics = useDiagnosticsOf(node);
  const chosen = useDesigner((state) => state.selection.inner);
  const id = useId();
  if (catalog === null || inner === undefined) return null;
  const choose = (next: string | undefined) =>
    useDesigner.getState().select({ nodes: [node], inner: next });
  return (
    <Section title={t("Contents")}>
      {inner.map((each, index) => {
        const open = each.id === chosen;
        return (
          <div key={each.id} data-inner={each.id}>
            <button
              type="button"
              className="link-row inner-row"
              data-hue={hueOf(catalog, each.kind)}
              title={each.id}
              aria-expanded={open}
              aria-controls={open ? `${id}-${index}` : undefined}
              onClick={() => choose(open ? undefined : each.id)}
            >
              <IconChevronRight size={12} stroke={1.5} className="inner-arrow" />
              <KindIcon name={kindOf(catalog, each.kind)?.icon} size={15} className="kind-icon" />
              <Cut>{each.label || each.local}</Cut>
              {isStoreKind(each.kind) ? null : <Count id={each.id} />}
            </button>
            <FieldProblems diagnostics={diagnostics.filter((found) => found.inner === each.id)} />
            {open ? (
              <div className="inner-details" id={`${id}-${index}`} data-testid="inner-details">
                <Facts node={each} />
                <Guarantee node={each} />
                {More === undefined ? null : <More node={each.id} />}
              </div>
            ) : null}
          </div>
        );
      })}
    </Section>
  );
}

/** What the form of a fragment node has in place of parameters. */
export function FragmentForm(props: { node: DocumentNode; nodeRuntime: More }) {
  const { node, nodeRuntime } = props;
  const fragments = useDesigner((state) => state.document.fragments);
  const definition = definitionOf(fragments, node);
  const [dissolving, setDissolving] = useState(false);
  const opened = useDesigner((state) => drawnOf(state).opened.has(node.id));
  const readOnly = useDesigner((state) => state.readOnly);
  if (definition === undefined) return null;
  const dissolve = async () => {
    setDissolving(true);
    const { commandById } = await import("../commands/registry");
    const { commandContext } = await import("../commands/command");
    await commandById("dissolve-fragment")?.run(commandContext());
    setDissolving(false);
  };
  return (
    <>
      <Arguments node={node} definition={definition} />
      <FragmentVersion node={node} definition={definition} />
      <Contents node={node.id} nodeRuntime={nodeRuntime} />
      <p className="inspector-hint">
        {t({
          id: "inspector.fragment_in_simulations",
          message:
            "Open it in place to pin records on its edges, to run up to one of its nodes or to mute one. As a whole, it is not muted: its inputs and outputs can have different types.",
        })}
      </p>
      <div className="button-row">
        <Button
          size="compact-sm"
          variant="default"
          aria-expanded={opened}
          onClick={() => void useDesigner.getState().openInPlace(node.id, !opened)}
          data-testid="open-in-place"
        >
          {opened ? t("Close the fragment") : t("Open in place")}
        </Button>
        {readOnly ? null : (
          <Button
            size="compact-sm"
            variant="default"
            loading={dissolving}
            onClick={() => void dissolve()}
            data-testid="dissolve"
          >
            {t("Dissolve the fragment")}
          </Button>
        )}
      </div>
    </>
  );
}
