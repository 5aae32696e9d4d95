import "./find.css";
import { ActionIcon } from "@mantine/core";
import IconDown from "@tabler/icons-react/dist/esm/icons/IconChevronDown.mjs";
import IconUp from "@tabler/icons-react/dist/esm/icons/IconChevronUp.mjs";
import IconSearch from "@tabler/icons-react/dist/esm/icons/IconSearch.mjs";
import IconX from "@tabler/icons-react/dist/esm/icons/IconX.mjs";
import { useEffect, useMemo, useState } from "react";
import { openDialog } from "../commands/dialogs";
import { canvas } from "../designer/canvasApi";
import { hueOf } from "../designer/derived";
import { foldedOf } from "../designer/drawn";
import { useDesigner } from "../designer/store";
import { type Catalog, kindOf } from "../graph/catalog";
import { findNode, labelOf, type TopologyDocument } from "../graph/document";
import { membersOf } from "../graph/drawing";
import { type Found, searchEverything } from "../graph/search";
import { Cut } from "../ui";
import { type Phrase, phrase, t } from "../ui/i18n";
import { KindIcon } from "../ui/KindIcon";
import { groupFlowId, noteFlowId } from "./flow";

/** Names of places that are no parameters. */
const PLACES: Readonly<Record<string, Phrase>> = {
  description: phrase("Description"),
  group: phrase("Group"),
  note: phrase("Note"),
};

function placeOf(catalog: Catalog, document: TopologyDocument, found: Found): string {
  const known = PLACES[found.where];
  if (known !== undefined) return t(known);
  const node = findNode(document, found.id);
  const kind = node === undefined ? undefined : kindOf(catalog, node.kind);
  if (found.where === "label") return kind?.title ?? "";
  const parameter = kind?.parameters.find((each) => each.name === found.where);
  return parameter?.title ?? found.where;
}

/** The id on the canvas of what stands for a place that was found: a collapsed group for a node in it. */
function shownAs(found: Found): string {
  if (found.on === "note") return noteFlowId(found.id);
  if (found.on === "group") return groupFlowId(found.id);
  const hiding = foldedOf(useDesigner.getState()).hidden.get(found.id);
  return hiding === undefined ? found.id : groupFlowId(hiding.group.id);
}

function show(found: Found) {
  const { document, goTo, select } = useDesigner.getState();
  if (found.on === "node") goTo(found.id);
  else if (found.on === "note") {
    select({ notes: [found.id] });
    canvas()?.reveal(noteFlowId(found.id));
  } else {
    select({ nodes: membersOf(document, found.id) });
    canvas()?.reveal(groupFlowId(found.id));
  }
}

/** Marks what was found on the canvas, and dims the rest. */
function useMarks(found: readonly Found[], asked: boolean, now: Found | undefined) {
  const folds = useDesigner(foldedOf);
  useEffect(() => {
    const element = canvas()?.element();
    if (element === undefined) return;
    element.toggleAttribute("data-finding", asked);
    const shown = new Set(found.map(shownAs));
    const chosen = now === undefined ? null : shownAs(now);
    const mark = () => {
      for (const node of element.querySelectorAll<HTMLElement>(".react-flow__node")) {
        const id = node.dataset.id ?? "";
        node.toggleAttribute("data-found", shown.has(id));
        node.toggleAttribute("data-found-now", id === chosen);
      }
    };
    mark();
    // Nodes that come into view later are marked as well.
    const observer = new MutationObserver(mark);
    const drawing = element.querySelector(".react-flow__nodes");
    if (drawing !== null && folds !== null) observer.observe(drawing, { childList: true });
    return () => {
      observer.disconnect();
      element.removeAttribute("data-finding");
      for (const node of element.querySelectorAll("[data-found], [data-found-now]")) {
        node.removeAttribute("data-found");
        node.removeAttribute("data-found-now");
      }
    };
  }, [found, asked, now, folds]);
}

/** Finds labels, ids, all parameters, notes and groups; what matches stays bright on the canvas. */
export function FindBar() {
  const document = useDesigner((state) => state.document);
  const catalog = useDesigner((state) => state.catalog);
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(-1);
  const found = useMemo(() => searchEverything(document, query), [document, query]);
  const asked = query.trim() !== "";
  const place = Math.min(at, found.length - 1);
  useMarks(found, asked, found[place]);
  const go = (index: number) => {
    const next = found[(index + found.length) % found.length];
    if (next === undefined) return;
    setAt(found.indexOf(next));
    show(next);
  };
  const close = () => {
    openDialog(null);
    canvas()?.element().querySelector<HTMLElement>(".react-flow")?.focus();
  };
  if (catalog === null) return null;
  return (
    <search
      className="find-bar"
      data-own-keys
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        close();
      }}
    >
      <div className="find-row">
        <IconSearch size={14} stroke={1.5} aria-hidden />
        <input
          // biome-ignore lint/a11y/noAutofocus: it opens on request, to be typed into
          autoFocus
          value={query}
          placeholder={t("Labels, parameters, notes")}
          aria-label={t("Find in the topology")}
          aria-controls={asked ? "find-list" : undefined}
          onChange={(event) => {
            setQuery(event.currentTarget.value);
            setAt(-1);
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter") go(event.shiftKey ? place - 1 : place + 1);
            else if (event.key === "ArrowDown") go(place + 1);
            else if (event.key === "ArrowUp") go(place < 0 ? -1 : place - 1);
            else return;
            event.preventDefault();
          }}
        />
        <span className="find-count m-figures" role="status">
          {asked
            ? place < 0
              ? String(found.length)
              : t("{at} of {n}", { at: place + 1, n: found.length })
            : ""}
        </span>
        <ActionIcon
          aria-label={t("Previous")}
          disabled={found.length === 0}
          onClick={() => go(place < 0 ? -1 : place - 1)}
        >
          <IconUp size={15} stroke={1.5} />
        </ActionIcon>
        <ActionIcon
          aria-label={t("Next")}
          disabled={found.length === 0}
          onClick={() => go(place + 1)}
        >
          <IconDown size={15} stroke={1.5} />
        </ActionIcon>
        <ActionIcon aria-label={t("Close")} onClick={close}>
          <IconX size={15} stroke={1.5} />
        </ActionIcon>
      </div>
      {asked ? (
        <div className="find-list m-scroll" id="find-list">
          {found.map((each, index) => {
            const node = each.on === "node" ? findNode(document, each.id) : undefined;
            return (
              <button
                type="button"
                key={`${each.on} ${each.id} ${each.where}`}
                className="find-item"
                data-now={index === place || undefined}
                data-hue={node === undefined ? undefined : hueOf(catalog, node.kind)}
                onClick={() => go(index)}
              >
                <KindIcon
                  name={node === undefined ? each.on : kindOf(catalog, node.kind)?.icon}
                  size={15}
                  className="kind-icon"
                />
                <Cut>{node === undefined ? each.text : labelOf(node)}</Cut>
                <small className="m-cut" title={each.text}>
                  {each.where === "label" || node === undefined
                    ? placeOf(catalog, document, each)
                    : `${placeOf(catalog, document, each)}: ${each.text}`}
                </small>
              </button>
            );
          })}
          {found.length === 0 ? <p className="m-muted">{t("No matches")}</p> : null}
        </div>
      ) : null}
    </search>
  );
}
