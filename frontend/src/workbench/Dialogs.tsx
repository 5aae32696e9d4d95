import { Suspense, useEffect, useMemo, useRef, useState } from "react";
import { useParams } from "react-router";
import { addKind } from "../commands/addNode";
import { type Command, type CommandGroup, canRun, commandContext } from "../commands/command";
import { openDialog, useDialogs } from "../commands/dialogs";
import { useGuides } from "../commands/guides";
import { openHelp, useHelp } from "../commands/help";
import { allCommands } from "../commands/registry";
import { hueOf, knownRoles } from "../designer/derived";
import { useDesigner } from "../designer/store";
import { refusalText } from "../designer/words";
import { kindOf, portsOf } from "../graph/catalog";
import { connect } from "../graph/changes";
import { refusal } from "../graph/connect";
import { labelOf } from "../graph/document";
import { searchKinds, searchNodes } from "../graph/search";
import { Cut, Keys } from "../ui";
import { type Phrase, phrase, t } from "../ui/i18n";
import { KindIcon } from "../ui/KindIcon";
import { later } from "../ui/later";
import { Modal } from "../ui/Modal";
import { type Choice, useTopologyChoices } from "./topologyChoices";

const Tour = later(async () => (await import("../learn/Tour")).Tour);
const LearnDialog = later(async () => (await import("../learn/LearnDialog")).LearnDialog);
const HelpDialog = later(async () => (await import("../reference/HelpDialog")).HelpDialog);
const MakeFragmentDialog = later(
  async () => (await import("../inspector/MakeFragmentDialog")).MakeFragmentDialog,
);
const DoubleDialog = later(async () => (await import("../simulate/DoubleDialog")).DoubleDialog);
const PinDialog = later(async () => (await import("../simulate/PinDialog")).PinDialog);

/** A searchable list: arrows move, Enter runs, Escape closes. */
function Chooser(props: {
  label: string;
  placeholder: string;
  find: (query: string) => Choice[];
  /** What is found elsewhere for the text that was typed, and a function that is told what that is. */
  more?: readonly Choice[];
  onQuery?: (query: string) => void;
  /** What is always possible, at the end. */
  last?: (query: string) => Choice[];
  onClose: () => void;
  empty: string;
}) {
  const { empty, find, label, last, more = NO_CHOICES, onClose, onQuery, placeholder } = props;
  const [query, setQuery] = useState("");
  const [chosen, setChosen] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const choices = useMemo(
    () => [...find(query), ...more, ...(last?.(query) ?? [])],
    [find, last, more, query],
  );
  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const run = (choice: Choice | undefined) => {
    if (choice === undefined || choice.disabled === true) return;
    onClose();
    requestAnimationFrame(() => choice.run());
  };
  return (
    <>
      <input
        // biome-ignore lint/a11y/noAutofocus: the dialog opens on request, to be typed into
        autoFocus
        data-autofocus=""
        className="chooser-input"
        value={query}
        placeholder={placeholder}
        aria-label={label}
        role="combobox"
        aria-expanded
        aria-controls="chooser-list"
        aria-activedescendant={choices[chosen] === undefined ? undefined : `chooser-${chosen}`}
        onChange={(event) => {
          setQuery(event.currentTarget.value);
          onQuery?.(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
          if (step !== undefined) {
            setChosen(Math.max(0, Math.min(choices.length - 1, chosen + step)));
          } else if (event.key === "Enter") run(choices[chosen]);
          else return;
          event.preventDefault();
        }}
      />
      <div
        className="chooser-list m-scroll"
        id="chooser-list"
        role="listbox"
        ref={list}
        aria-label={label}
      >
        {choices.map((choice, index) => (
          <div
            key={choice.id}
            id={`chooser-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            aria-disabled={choice.disabled}
            className="chooser-item"
            data-hue={choice.hue}
            onPointerMove={() => setChosen(index)}
            onClick={() => run(choice)}
            onKeyDown={() => undefined}
          >
            {choice.icon === undefined ? (
              <span className="chooser-none" />
            ) : (
              <KindIcon name={choice.icon} size={16} className="kind-icon" />
            )}
            <Cut>{choice.title}</Cut>
            <small className="m-cut" title={choice.note}>
              {choice.note}
            </small>
            {choice.keys === undefined ? null : <Keys keys={choice.keys} />}
          </div>
        ))}
        {choices.length === 0 ? <p className="chooser-empty m-muted">{empty}</p> : null}
      </div>
    </>
  );
}

function matches(text: string, query: string): boolean {
  const words = query.toLowerCase().split(/\s+/);
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word));
}

function findCommands(query: string): Choice[] {
  const context = commandContext();
  const commands = allCommands()
    .filter((command) => matches(command.title(), query))
    .map((command) => ({
      id: command.id,
      title: command.title(),
      keys: command.shortcuts?.[0],
      disabled: !canRun(command, context),
      run: () => void command.run(commandContext()),
    }))
    .sort((a, b) => Number(a.disabled) - Number(b.disabled));
  const { catalog } = context.designer;
  if (query.trim() === "" || catalog === null) return commands;
  const kinds = context.designer.readOnly
    ? []
    : searchKinds(catalog, query)
        .slice(0, 8)
        .map((kind) => ({
          id: `add ${kind.kind}`,
          title: t("Add {title}", { title: kind.title }),
          note: kind.description,
          icon: kind.icon,
          hue: hueOf(catalog, kind.kind),
          run: () => void addKind(kind.kind),
        }));
  return [...findNodes(query).slice(0, 8), ...commands, ...kinds];
}

function findHelp(query: string): Choice[] {
  const text = query.trim();
  if (text === "") return [];
  return [{ id: "help on", title: t("Help on “{text}”", { text }), run: () => openHelp(text) }];
}

function findNodes(query: string): Choice[] {
  const { catalog, document, goTo } = useDesigner.getState();
  if (catalog === null) return [];
  const hits = searchNodes(document, query);
  const titleOf = (kind: string, where: string) =>
    kindOf(catalog, kind)?.parameters.find((each) => each.name === where)?.title ?? where;
  return hits.map(({ node, text, where }) => ({
    id: `node ${node.id}`,
    title: labelOf(node),
    note:
      where === "label"
        ? (kindOf(catalog, node.kind)?.title ?? node.kind)
        : where === "id"
          ? node.id
          : `${titleOf(node.kind, where)}: ${text}`,
    icon: kindOf(catalog, node.kind)?.icon,
    hue: hueOf(catalog, node.kind),
    run: () => goTo(node.id),
  }));
}

/** Every input that an output of the selected node could feed, then those of another role, with the reason. */
function findTargets(query: string): Choice[] {
  const state = useDesigner.getState();
  const { catalog, document, selection } = state;
  const source = document.nodes.find((node) => node.id === selection.nodes[0]);
  if (catalog === null || source === undefined) return [];
  const outputs = portsOf(catalog, source).filter((port) => port.side === "output");
  const choices = document.nodes.flatMap((node) =>
    portsOf(catalog, node)
      .filter((port) => port.side !== "output")
      .flatMap((port) =>
        outputs.flatMap((output): Choice[] => {
          const from = { node: source.id, port: output.name };
          const to = { node: node.id, port: port.name };
          const refused = refusal(document, catalog, knownRoles(state), from, to);
          if (refused !== null && refused.code !== "role") return [];
          const title = outputs.length === 1 ? labelOf(node) : `${output.name} → ${labelOf(node)}`;
          if (!matches(`${title} ${port.name}`, query)) return [];
          return [
            {
              id: `${output.name} ${node.id} ${port.name}`,
              title,
              note: refused === null ? port.name : `${port.name}: ${refusalText(refused)}`,
              disabled: refused !== null,
              icon: kindOf(catalog, node.kind)?.icon,
              hue: hueOf(catalog, node.kind),
              run: () => state.change(t("Connect"), (now) => connect(now, from, to)),
            },
          ];
        }),
      ),
  );
  return choices.sort((a, b) => Number(a.disabled) - Number(b.disabled));
}

const NO_CHOICES: readonly Choice[] = [];

const FINDERS = {
  commands: {
    find: findCommands,
    label: phrase("Commands"),
    placeholder: phrase("Type a command, a node, a topology or something to add"),
  },
  connect: {
    find: findTargets,
    label: phrase("Connect to"),
    placeholder: phrase("Which input should it feed?"),
  },
} as const;

/** The groups in the order in which they are listed. */
const GROUPS: Readonly<Record<CommandGroup, Phrase>> = {
  topology: phrase("Topology"),
  add: phrase("Add"),
  edit: phrase("Edit"),
  select: phrase("Select"),
  go: phrase("Go"),
  arrange: phrase("Arrange"),
  view: phrase("View"),
};

const MOUSE = [
  [phrase("Select with a box"), phrase("Shift drag")],
  [phrase("Add where you point"), phrase("double-click")],
  [phrase("Insert into an edge"), phrase("drop on it")],
  [phrase("Add what comes next"), phrase("pull an edge onto the canvas")],
  [phrase("Move the end of an edge"), phrase("drag its end")],
] as const;

function Shortcuts() {
  const commands = allCommands().filter((command) => (command.shortcuts?.length ?? 0) > 0);
  return (
    <div className="shortcuts">
      {(Object.keys(GROUPS) as CommandGroup[]).map((group) => {
        const mine = commands.filter((command: Command) => command.group === group);
        if (mine.length === 0) return null;
        return (
          <section key={group}>
            <h3>{t(GROUPS[group])}</h3>
            {mine.map((command) => (
              <div key={command.id} className="shortcuts-row">
                <span>{command.title()}</span>
                <span className="shortcuts-keys">
                  {command.shortcuts?.map((keys) => (
                    <Keys key={keys} keys={keys} />
                  ))}
                </span>
              </div>
            ))}
          </section>
        );
      })}
      <section>
        <h3>{t("Mouse")}</h3>
        {MOUSE.map(([action, how]) => (
          <div key={t(action)} className="shortcuts-row">
            <span>{t(action)}</span>
            <span className="ui-kbd">{t(how)}</span>
          </div>
        ))}
      </section>
    </div>
  );
}

/** The tour and *Learn*, and one of the other dialogs. */
export function Dialogs() {
  const { learning, step } = useGuides();
  const editor = !useDesigner((state) => state.readOnly);
  const { ws = "" } = useParams();
  return (
    <>
      <Suspense>
        {step === null ? null : <Tour />}
        {learning ? <LearnDialog ws={ws} editor={editor} /> : null}
      </Suspense>
      <Dialog />
    </>
  );
}

function Dialog() {
  const open = useDialogs((state) => state.open);
  const asked = useHelp((state) => state.asked);
  const close = () => openDialog(null);
  if (asked !== null) {
    return (
      <Suspense>
        <HelpDialog />
      </Suspense>
    );
  }
  if (open === "shortcuts") {
    return (
      <Modal opened onClose={close} title={t("Keyboard shortcuts")} size={760}>
        <Shortcuts />
      </Modal>
    );
  }
  if (open === "double") {
    return (
      <Suspense>
        <DoubleDialog onClose={close} />
      </Suspense>
    );
  }
  if (open === "pin") {
    return (
      <Suspense>
        <PinDialog onClose={close} />
      </Suspense>
    );
  }
  if (open === "fragment") {
    return (
      <Suspense>
        <MakeFragmentDialog onClose={close} />
      </Suspense>
    );
  }
  // The canvas shows its own search.
  if (open === null || open === "search") return null;
  const finder = FINDERS[open];
  return (
    <Modal
      opened
      onClose={close}
      withCloseButton={false}
      centered={false}
      yOffset="14vh"
      padding={0}
      size={560}
      classNames={{ body: "chooser", header: "m-hidden" }}
      title={t(finder.label)}
    >
      {open === "commands" ? (
        <CommandChooser onClose={close} />
      ) : (
        <Chooser
          label={t(finder.label)}
          placeholder={t(finder.placeholder)}
          find={finder.find}
          empty={t("No free input accepts the output of this node")}
          onClose={close}
        />
      )}
    </Modal>
  );
}

/** Commands, nodes, what can be added, and the other topologies. */
function CommandChooser({ onClose }: { onClose: () => void }) {
  const [query, setQuery] = useState("");
  const { find, label, placeholder } = FINDERS.commands;
  return (
    <Chooser
      label={t(label)}
      placeholder={t(placeholder)}
      find={find}
      more={useTopologyChoices(query)}
      onQuery={setQuery}
      last={findHelp}
      empty={t("No matches")}
      onClose={onClose}
    />
  );
}
