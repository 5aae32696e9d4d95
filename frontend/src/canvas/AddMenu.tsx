import { useEffect, useId, useMemo, useRef, useState } from "react";
import { addKind } from "../commands/addNode";
import type { AddRequest } from "../designer/canvasApi";
import { hueOf, knownRoles } from "../designer/derived";
import { useDesigner } from "../designer/store";
import type { Kind } from "../graph/catalog";
import { accepts, fitsOnEdge } from "../graph/connect";
import { edgeId, findNode, isStoreKind, type Position } from "../graph/document";
import { roleOfOutput } from "../graph/roles";
import { searchKinds } from "../graph/search";
import { t } from "../ui/i18n";
import { KindIcon } from "../ui/KindIcon";

/** Whether a node of this kind accepts the edge that is being drawn. */
function fits(kind: Kind, request: AddRequest): boolean {
  const state = useDesigner.getState();
  const { catalog, document } = state;
  if (catalog === null) return false;
  if (request.edge !== undefined) {
    const edge = document.edges.find((candidate) => edgeId(candidate) === request.edge);
    return edge !== undefined && fitsOnEdge(document, catalog, knownRoles(state), kind.kind, edge);
  }
  if (request.from !== undefined) {
    const source = findNode(document, request.from.node);
    if (source === undefined) return false;
    if (isStoreKind(source.kind)) return kind.takes_store?.includes(source.kind) ?? false;
    const role = roleOfOutput(document, catalog, source, request.from.port, knownRoles(state));
    return kind.inputs.some((input) => role === null || accepts(input.roles, role));
  }
  if (request.to !== undefined) {
    const target = findNode(document, request.to.node);
    const takes = catalog.kinds.find((entry) => entry.kind === target?.kind);
    if (request.to.port === "store") return takes?.takes_store?.includes(kind.kind) ?? false;
    const port = takes?.inputs.find(
      (input) => input.name === request.to?.port || input.dynamic !== null,
    );
    return kind.outputs.some(
      (output) =>
        output.role === "same" || (port !== undefined && accepts(port.roles, output.role)),
    );
  }
  return true;
}

/** The list of kinds at the pointer: only those that fit, best match first. Enter adds the first. */
export function AddMenu(props: {
  request: AddRequest;
  /** Upper left corner within the canvas. */
  left: number;
  top: number;
  /** The middle of the new node; null places it beside the selected node. */
  at: Position | null;
  onClose: () => void;
}) {
  const { at, left, onClose, request, top } = props;
  const catalog = useDesigner((state) => state.catalog);
  const id = useId();
  const [query, setQuery] = useState("");
  const [chosen, setChosen] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const kinds = useMemo(
    () =>
      catalog === null ? [] : searchKinds(catalog, query).filter((kind) => fits(kind, request)),
    [catalog, query, request],
  );
  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  useEffect(() => {
    function outside(event: PointerEvent) {
      if (!box.current?.contains(event.target as Element)) onClose();
    }
    document.addEventListener("pointerdown", outside, true);
    return () => document.removeEventListener("pointerdown", outside, true);
  }, [onClose]);

  if (catalog === null) return null;
  const add = (kind: Kind) => {
    onClose();
    addKind(kind.kind, {
      ...(at === null ? {} : { at }),
      ...(request.from === undefined ? {} : { from: request.from }),
      ...(request.to === undefined ? {} : { to: request.to }),
      ...(request.edge === undefined ? {} : { edge: request.edge }),
    });
  };
  return (
    <div
      className="add-menu"
      ref={box}
      style={{ left, top }}
      role="dialog"
      aria-label={t("Add a node")}
      data-own-keys=""
    >
      <input
        // biome-ignore lint/a11y/noAutofocus: the menu opens on request, to be typed into
        autoFocus
        value={query}
        placeholder={t("Search or describe")}
        aria-label={t("Search or describe")}
        role="combobox"
        aria-expanded
        aria-controls={`${id}-list`}
        aria-activedescendant={kinds[chosen] === undefined ? undefined : `${id}-${chosen}`}
        onChange={(event) => {
          setQuery(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={(event) => {
          const kind = kinds[chosen];
          if (event.key === "Escape") onClose();
          else if (event.key === "ArrowDown") setChosen(Math.min(chosen + 1, kinds.length - 1));
          else if (event.key === "ArrowUp") setChosen(Math.max(chosen - 1, 0));
          else if (event.key === "Enter" && kind !== undefined) add(kind);
          else return;
          event.preventDefault();
        }}
      />
      <div
        className="add-menu-list m-scroll"
        ref={list}
        id={`${id}-list`}
        role="listbox"
        aria-label={t("Add a node")}
      >
        {kinds.map((kind, index) => (
          <div
            key={kind.kind}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            className="add-menu-item"
            data-hue={hueOf(catalog, kind.kind)}
            onPointerMove={() => setChosen(index)}
            onClick={() => add(kind)}
            onKeyDown={() => undefined}
          >
            <KindIcon name={kind.icon} size={16} className="kind-icon" />
            <span>{kind.title}</span>
            <small className="m-cut" title={kind.description}>
              {kind.description}
            </small>
          </div>
        ))}
        {kinds.length === 0 ? (
          <p className="m-muted add-menu-none">{t("No matching node fits here")}</p>
        ) : null}
      </div>
    </div>
  );
}
