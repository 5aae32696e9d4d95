import "./palette.css";
import { HoverCard, TextInput } from "@mantine/core";
import IconSearch from "@tabler/icons-react/dist/esm/icons/IconSearch.mjs";
import {
  type KeyboardEvent,
  memo,
  Suspense,
  useDeferredValue,
  useMemo,
  useRef,
  useState,
} from "react";
import { KIND_MIME } from "../canvas/drag";
import { addKind } from "../commands/addNode";
import { hueOf } from "../designer/derived";
import { useDesigner } from "../designer/store";
import type { Catalog, Kind } from "../graph/catalog";
import { FRAGMENT } from "../graph/fragments";
import { searchKinds } from "../graph/search";
import { Empty, Keys } from "../ui";
import { t } from "../ui/i18n";
import { KindIcon } from "../ui/KindIcon";
import { later } from "../ui/later";
import { KindCard } from "./KindCard";

const Fragments = later(async () => (await import("./Fragments")).Fragments);

const Entry = memo(function Entry(props: { kind: Kind; hue: string; readOnly: boolean }) {
  const { hue, kind, readOnly } = props;
  // The card describes the kind. It is hidden during a drag, because it would cover the canvas.
  const [dragged, setDragged] = useState(false);
  return (
    <HoverCard
      disabled={dragged}
      position="right-start"
      openDelay={450}
      closeDelay={60}
      offset={10}
      width={320}
      shadow="float"
      keepMounted={false}
      transitionProps={{ duration: 120, transition: "fade" }}
    >
      <HoverCard.Target>
        <button
          type="button"
          className="palette-entry"
          data-hue={hue}
          data-kind={kind.kind}
          draggable={!readOnly}
          disabled={readOnly}
          aria-label={`${kind.title}. ${kind.description}`}
          onClick={() => addKind(kind.kind)}
          onDragEnd={() => setDragged(false)}
          onDragStart={(event) => {
            setDragged(true);
            event.dataTransfer.setData(KIND_MIME, kind.kind);
            event.dataTransfer.setData("text/plain", kind.title);
            event.dataTransfer.effectAllowed = "copy";
          }}
        >
          <i className="palette-stripe" />
          <KindIcon name={kind.icon} size={16} className="kind-icon" />
          <span className="m-cut">{kind.title}</span>
        </button>
      </HoverCard.Target>
      <HoverCard.Dropdown className="palette-card">
        <KindCard kind={kind} hue={hue} />
      </HoverCard.Dropdown>
    </HoverCard>
  );
});

function groups(
  catalog: Catalog,
  query: string,
  isFragment: boolean,
): { title: string; kinds: Kind[] }[] {
  if (query.trim() !== "") {
    const found = searchKinds(catalog, query);
    return found.length === 0 ? [] : [{ title: t("Best matches"), kinds: found }];
  }
  const ports = {
    title: t("Ports of the fragment"),
    kinds: (catalog.parts ?? []).filter((kind) => isFragment && kind.kind !== FRAGMENT),
  };
  return [
    ports,
    ...catalog.families.map((family) => ({
      title: family.title,
      kinds: catalog.kinds.filter((kind) => kind.family === family.id),
    })),
  ].filter((group) => group.kinds.length > 0);
}

/** All kinds by family, searchable by name, synonym or intent. They can be dragged, clicked or added with Enter. */
export function Palette() {
  const catalog = useDesigner((state) => state.catalog);
  const readOnly = useDesigner((state) => state.readOnly);
  const isFragment = useDesigner((state) => state.isFragment);
  const [query, setQuery] = useState("");
  const late = useDeferredValue(query);
  const list = useRef<HTMLDivElement>(null);
  const shown = useMemo(
    () => (catalog === null ? [] : groups(catalog, late, isFragment)),
    [catalog, late, isFragment],
  );

  const move = (event: KeyboardEvent) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const entries = [...(list.current?.querySelectorAll<HTMLElement>(".palette-entry") ?? [])];
    const at = entries.indexOf(document.activeElement as HTMLElement);
    const next = entries[event.key === "ArrowDown" ? at + 1 : at - 1];
    event.preventDefault();
    if (next !== undefined) next.focus();
    else if (at === 0) document.querySelector<HTMLElement>("[data-palette-search]")?.focus();
  };
  if (catalog === null) return null;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: arrow keys move between the buttons inside
    <div className="side" onKeyDown={move} data-own-keys="">
      <div className="side-search">
        <TextInput
          value={query}
          data-palette-search=""
          onChange={(event) => setQuery(event.currentTarget.value)}
          onKeyDown={(event) => {
            const best = shown[0]?.kinds[0];
            if (event.key === "Escape") {
              setQuery("");
              event.currentTarget.blur();
            }
            if (event.key !== "Enter" || query.trim() === "" || best === undefined) return;
            event.preventDefault();
            addKind(best.kind);
          }}
          placeholder={t("Search or describe")}
          aria-label={t("Search or describe")}
          leftSection={<IconSearch size={14} stroke={1.5} />}
          rightSection={query === "" ? <Keys keys="/" /> : null}
        />
      </div>
      <div className="side-list m-scroll" ref={list}>
        {shown.map((group) => (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset is for form fields
          <div key={group.title} role="group" aria-label={group.title}>
            <h2 className="side-title">{group.title}</h2>
            {group.kinds.map((kind) => (
              <Entry
                key={kind.kind}
                kind={kind}
                hue={hueOf(catalog, kind.kind)}
                readOnly={readOnly}
              />
            ))}
          </div>
        ))}
        <Suspense>
          <Fragments query={late.trim()} />
        </Suspense>
        {shown.length === 0 ? (
          <Empty title={t("No matches")}>
            {t({
              id: "palette.describe_what_it_should",
              message:
                "Describe what it should do with records: “filter”, “enrich”, “count per hour”.",
            })}
          </Empty>
        ) : null}
      </div>
      <footer className="side-foot">
        {readOnly ? t("You can view this topology, but not change it.") : t("Drag, or press Enter")}
      </footer>
    </div>
  );
}
