import { TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useMemo, useState } from "react";
import { type ApiError, asApiError } from "../api/client";
import { useServices } from "../designer/servicesContext";
import { useDesigner } from "../designer/store";
import { findNode, isStoreKind, labelOf, type TopologyDocument } from "../graph/document";
import { cutPorts, fragmentOf, proposedNames, replaced } from "../graph/fragmentChanges";
import { INPUT } from "../graph/fragments";
import { Note } from "../ui";
import { DialogEnd } from "../ui/DialogEnd";
import { t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import classes from "../ui/pages.module.css";

const NAME = /^[a-z][a-z0-9_-]*$/;

/** The chosen nodes with the stores that nothing else uses. */
function withStores(document: TopologyDocument, nodes: readonly string[]): Set<string> {
  const chosen = new Set(nodes);
  for (const { id, kind } of document.nodes) {
    const users = document.edges.filter((edge) => edge.source === id);
    if (isStoreKind(kind) && users.length > 0 && users.every((edge) => chosen.has(edge.target))) {
      chosen.add(id);
    }
  }
  return chosen;
}

/** Makes a fragment of the selected nodes, and uses it in their place. */
export function MakeFragmentDialog({ onClose }: { onClose: () => void }) {
  const services = useServices();
  const queries = useQueryClient();
  // The nodes that were selected when it was opened.
  const [{ catalog, document, known, nodes }] = useState(() => {
    const state = useDesigner.getState();
    const { catalog: kinds, document: drawn, selection } = state;
    return {
      catalog: kinds,
      document: drawn,
      known: state.result?.ports ?? {},
      nodes: withStores(drawn, selection.nodes),
    };
  });
  const ports = useMemo(() => cutPorts(document, nodes, known), [document, nodes, known]);
  const [name, setName] = useState("");
  const [names, setNames] = useState(() => proposedNames(ports ?? [], nodes));
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const taken = (each: string) =>
    names.filter((other) => other === each).length > 1 || nodes.has(each);
  const sound = names.every((each) => NAME.test(each) && !taken(each));

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (catalog === null || ports === null || !sound || name.trim() === "") return;
    setBusy(true);
    setError(null);
    try {
      const fragment = fragmentOf(document, catalog, nodes, name.trim(), ports, names);
      await services.createFragment(name.trim(), fragment);
      void queries.invalidateQueries({ queryKey: ["fragments"] });
      const made = replaced(document, catalog, nodes, ports, names, `${name.trim()}@1`, fragment);
      useDesigner
        .getState()
        .change(t("Make the fragment {name}", { name: name.trim() }), () => made.document, {
          select: { nodes: [made.id], edges: [] },
        });
      onClose();
    } catch (failure) {
      setError(asApiError(failure));
      setBusy(false);
    }
  };

  return (
    <Modal opened onClose={onClose} title={t("Make a fragment")} size={520}>
      <form onSubmit={(event) => void submit(event)} className={classes.form}>
        {ports === null ? (
          <Note tone="failed">
            {t({
              id: "inspector.fragment_cuts_store",
              message:
                "A store is used both inside and outside of the selection. Select all nodes that use it.",
            })}
          </Note>
        ) : null}
        <TextInput
          label={t("Name")}
          value={name}
          maxLength={100}
          onChange={(event) => setName(event.currentTarget.value)}
          error={error?.fields.name?.[0]}
          data-autofocus
          data-testid="fragment-name"
        />
        {ports?.map((port, index) => {
          const value = names[index] ?? "";
          const input = port.kind === INPUT;
          const source = findNode(document, port.source);
          const from = source === undefined ? port.source : labelOf(source);
          const title = input
            ? t("Input from {node}", { node: from })
            : t("Output of {node}", { node: from });
          const wrong = !NAME.test(value)
            ? t("Lowercase letters, digits, _ and -, beginning with a letter")
            : taken(value)
              ? t("This name is taken.")
              : null;
          return (
            <TextInput
              key={index}
              label={title}
              description={
                input ? (
                  <code>
                    {[port.params.role, port.params.key, port.params.value]
                      .filter((each) => each !== undefined)
                      .join(" · ")}
                  </code>
                ) : undefined
              }
              value={value}
              error={wrong}
              onChange={(event) => {
                const next = event.currentTarget.value;
                setNames(names.map((each, at) => (at === index ? next : each)));
              }}
              data-testid={`fragment-port-${index}`}
            />
          );
        })}
        <p className="inspector-hint">
          {t({
            id: "inspector.fragment_keeps_state",
            message:
              "The nodes keep their ids, and so their state. Parameters of the topology that they use become parameters of the fragment.",
          })}
        </p>
        {error === null || error.fields.name ? null : <Note tone="failed">{error.message}</Note>}
        <DialogEnd
          onCancel={onClose}
          type="submit"
          loading={busy}
          disabled={ports === null || !sound || name.trim() === ""}
          data-testid="make-fragment"
        >
          {t("Make the fragment")}
        </DialogEnd>
      </form>
    </Modal>
  );
}
