import "./designer.css";
import { ActionIcon } from "@mantine/core";
import IconMaximize from "@tabler/icons-react/dist/esm/icons/IconArrowsDiagonal.mjs";
import IconMinimize from "@tabler/icons-react/dist/esm/icons/IconArrowsDiagonalMinimize2.mjs";
import IconChevronDown from "@tabler/icons-react/dist/esm/icons/IconChevronDown.mjs";
import IconChevronUp from "@tabler/icons-react/dist/esm/icons/IconChevronUp.mjs";
import IconCode from "@tabler/icons-react/dist/esm/icons/IconCode.mjs";
import IconLeft from "@tabler/icons-react/dist/esm/icons/IconLayoutSidebar.mjs";
import IconRight from "@tabler/icons-react/dist/esm/icons/IconLayoutSidebarRight.mjs";
import IconSearch from "@tabler/icons-react/dist/esm/icons/IconSearch.mjs";
import {
  type ComponentType,
  type KeyboardEvent,
  type ReactNode,
  Suspense,
  useEffect,
  useMemo,
} from "react";
import { Canvas } from "../canvas/Canvas";
import { listenToClipboard } from "../commands/clipboard";
import { openDialog } from "../commands/dialogs";
import { dispatch } from "../commands/shortcuts";
import { canvas } from "../designer/canvasApi";
import { useAfterPicture } from "../designer/firstPicture";
import type { DesignerServices } from "../designer/services";
import { ServicesContext } from "../designer/servicesContext";
import { useDesigner } from "../designer/store";
import { useCompile } from "../designer/useCompile";
import { type LeftTab, useView } from "../designer/view";
import { Loading } from "../frame/Loading";
import { Inspector } from "../inspector/Inspector";
import { Palette } from "../palette/Palette";
import { Keys, Tabs, Tip } from "../ui";
import { t } from "../ui/i18n";
import { later } from "../ui/later";
import { OWN_ESCAPE } from "../ui/useEscape";
import { Dialogs } from "./Dialogs";
import { Outline } from "./Outline";
import { Resizer } from "./Resizer";

const ProgramPanel = later(async () => (await import("../code/ProgramPanel")).ProgramPanel);

interface BottomTab {
  readonly id: string;
  readonly title: string;
  /** A number or a dot beside the title. */
  readonly badge?: ReactNode;
  readonly panel: ReactNode;
}

interface DesignerProps {
  readonly services: DesignerServices;
  readonly header: { readonly left: ReactNode; readonly right: ReactNode };
  readonly versions: ReactNode;
  readonly bottom: readonly BottomTab[];
  /** Messages about the whole topology, over the upper end of the canvas. */
  readonly banner?: ReactNode;
  /** Live details of a running node, shown at the end of its inspector. */
  readonly nodeRuntime?: ComponentType<{ node: string }>;
}

function LeftPanel({ versions, drawn }: { versions: ReactNode; drawn: boolean }) {
  const tab = useView((state) => state.leftTab);
  const set = useView((state) => state.set);
  const items = useMemo<{ id: LeftTab; title: string }[]>(
    () => [
      { id: "palette", title: t("Palette") },
      { id: "outline", title: t("Outline") },
      { id: "versions", title: t("Versions") },
    ],
    [],
  );
  return (
    <aside className="designer-left" aria-label={t("Palette, outline and versions")}>
      <Tabs
        label={t("Palette, outline and versions")}
        idPrefix="left"
        items={items}
        active={tab}
        onChange={(leftTab) => set({ leftTab })}
      />
      <div className="designer-panel" role="tabpanel" aria-labelledby={`left-${tab}`}>
        <Suspense>
          {!drawn ? null : tab === "palette" ? (
            <Palette />
          ) : tab === "outline" ? (
            <Outline />
          ) : (
            versions
          )}
        </Suspense>
      </div>
    </aside>
  );
}

function BottomPanel({ tabs }: { tabs: readonly BottomTab[] }) {
  const { bottomFull, bottomHeight, bottomOpen, bottomTab, set } = useView();
  const active = tabs.find((tab) => tab.id === bottomTab) ?? tabs[0];
  if (active === undefined) return null;
  return (
    <section
      className="designer-bottom"
      data-open={bottomOpen || undefined}
      data-full={(bottomOpen && bottomFull) || undefined}
      aria-label={t("Problems, code and runtime")}
      style={bottomOpen && !bottomFull ? { height: bottomHeight } : undefined}
    >
      {bottomOpen ? (
        <Resizer
          side="top"
          label={t("Height of the bottom panel")}
          size={bottomHeight}
          min={120}
          max={Math.max(160, window.innerHeight - 120)}
          onResize={(size) => set({ bottomHeight: size, bottomFull: false })}
          onDoubleClick={() => set({ bottomFull: !bottomFull })}
        />
      ) : null}
      <Tabs
        label={t("Problems, code and runtime")}
        idPrefix="bottom"
        items={tabs}
        active={bottomOpen ? active.id : null}
        onChange={(id) =>
          bottomOpen && id === active.id
            ? set({ bottomOpen: false })
            : set({ bottomTab: id, bottomOpen: true })
        }
        right={
          <>
            {bottomOpen ? (
              <Tip text={bottomFull ? t("Beside the canvas") : t("Full height")} position="top">
                <ActionIcon
                  aria-label={t("Full height")}
                  aria-pressed={bottomFull}
                  onClick={() => set({ bottomFull: !bottomFull })}
                >
                  {bottomFull ? (
                    <IconMinimize size={16} stroke={1.5} />
                  ) : (
                    <IconMaximize size={16} stroke={1.5} />
                  )}
                </ActionIcon>
              </Tip>
            ) : null}
            <Tip text={bottomOpen ? t("Fold") : t("Unfold")} keys="`" position="top">
              <ActionIcon
                aria-label={bottomOpen ? t("Fold") : t("Unfold")}
                aria-expanded={bottomOpen}
                onClick={() => set({ bottomOpen: !bottomOpen })}
              >
                {bottomOpen ? (
                  <IconChevronDown size={16} stroke={1.5} />
                ) : (
                  <IconChevronUp size={16} stroke={1.5} />
                )}
              </ActionIcon>
            </Tip>
          </>
        }
      />
      {bottomOpen ? (
        <div
          className="designer-panel m-scroll"
          role="tabpanel"
          aria-labelledby={`bottom-${active.id}`}
        >
          {/* For the order of headings: those in the panel are of the next level. */}
          <h2 className="m-hidden">{active.title}</h2>
          <Suspense fallback={<Loading />}>{active.panel}</Suspense>
        </div>
      ) : null}
    </section>
  );
}

/** A button that shows or hides a panel. */
function Toggle(props: {
  text: string;
  keys: string;
  panel: "leftOpen" | "programOpen" | "rightOpen";
  icon: typeof IconLeft;
}) {
  const { icon: Icon, keys, panel, text } = props;
  const open = useView((state) => state[panel]);
  const set = useView((state) => state.set);
  return (
    <Tip text={text} keys={keys}>
      <ActionIcon aria-label={text} aria-pressed={open} onClick={() => set({ [panel]: !open })}>
        <Icon size={17} stroke={1.5} />
      </ActionIcon>
    </Tip>
  );
}

function TopBar({ header }: Pick<DesignerProps, "header">) {
  return (
    <header className="designer-top">
      <div className="designer-top-left">{header.left}</div>
      <div className="designer-top-right">
        <Tip text={t("Commands")} keys="Mod+K">
          <button
            type="button"
            className="designer-commands"
            onClick={() => openDialog("commands")}
          >
            <IconSearch size={15} stroke={1.5} aria-hidden />
            <span className="m-hidden">{t("Commands")}</span>
            <Keys keys="Mod+K" />
          </button>
        </Tip>
        <Toggle text={t("Left panel")} keys="[" panel="leftOpen" icon={IconLeft} />
        <Toggle text={t("Program")} keys="E" panel="programOpen" icon={IconCode} />
        <Toggle text={t("Inspector")} keys="]" panel="rightOpen" icon={IconRight} />
        {header.right}
      </div>
    </header>
  );
}

/** Escape in the form of a node goes back to the node, unless it closes a list or suggestions. */
function leaveForm(event: KeyboardEvent<HTMLElement>) {
  if (event.key !== "Escape" || event.defaultPrevented || event.nativeEvent.isComposing) return;
  const { currentTarget, target } = event;
  // A dialog that the form opened is elsewhere in the page.
  if (!(target instanceof HTMLElement) || !currentTarget.contains(target)) return;
  if (target.getAttribute("aria-expanded") === "true" || target.hasAttribute(OWN_ESCAPE)) return;
  const { nodes } = useDesigner.getState().selection;
  const [node] = nodes;
  if (node === undefined || nodes.length > 1) return;
  event.preventDefault();
  target.blur();
  canvas()?.focusNode(node);
}

/** The designer of the topology that is open in the store. The page provides the parts around it. */
export default function Designer(props: DesignerProps) {
  const { banner, bottom, header, nodeRuntime, services, versions } = props;
  const {
    bottomFull,
    bottomOpen,
    leftOpen,
    programOpen,
    programWidth,
    rightOpen,
    rightWidth,
    set,
  } = useView();
  // Over the canvas, the bottom panel has the width of the palette as well.
  const covered = bottomOpen && bottomFull;
  useCompile(services);
  // The panels take a third of the time, and the drawing is what a person looks for.
  const drawn = useAfterPicture();
  const request = useDesigner((state) => state.focusRequest);
  useEffect(() => {
    // The requested field is in the inspector.
    if (request !== null && request.parameter !== null) set({ rightOpen: true });
  }, [request, set]);
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => void dispatch(event);
    window.addEventListener("keydown", onKey);
    const stopClipboard = listenToClipboard();
    return () => {
      window.removeEventListener("keydown", onKey);
      stopClipboard();
    };
  }, []);
  return (
    <ServicesContext.Provider value={services}>
      <div className="designer">
        <TopBar header={header} />
        <div className="designer-middle">
          {leftOpen && !covered ? <LeftPanel versions={versions} drawn={drawn} /> : null}
          <main className="designer-main">
            <div className="designer-canvas">
              <Canvas messages={banner} />
            </div>
            <BottomPanel tabs={bottom} />
          </main>
          {programOpen ? (
            <aside
              className="designer-right designer-program"
              aria-label={t("Program")}
              style={{ width: programWidth }}
            >
              <Resizer
                side="left"
                label={t("Width of the program")}
                size={programWidth}
                min={280}
                max={Math.max(320, window.innerWidth / 2)}
                onResize={(size) => set({ programWidth: size })}
              />
              <Suspense>
                <ProgramPanel />
              </Suspense>
            </aside>
          ) : null}
          {rightOpen ? (
            <aside
              className="designer-right"
              aria-label={t("Inspector")}
              onKeyDown={leaveForm}
              style={{ width: rightWidth }}
            >
              <Resizer
                side="left"
                label={t("Width of the inspector")}
                size={rightWidth}
                min={280}
                max={620}
                onResize={(size) => set({ rightWidth: size })}
              />
              {drawn ? <Inspector nodeRuntime={nodeRuntime} /> : null}
            </aside>
          ) : null}
        </div>
        <Dialogs />
      </div>
    </ServicesContext.Provider>
  );
}
