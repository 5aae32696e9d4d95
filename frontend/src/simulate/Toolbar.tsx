import { ActionIcon, Button, Menu } from "@mantine/core";
import IconUndo from "@tabler/icons-react/dist/esm/icons/IconArrowBackUp.mjs";
import IconRedo from "@tabler/icons-react/dist/esm/icons/IconArrowForwardUp.mjs";
import IconChevronDown from "@tabler/icons-react/dist/esm/icons/IconChevronDown.mjs";
import IconOptions from "@tabler/icons-react/dist/esm/icons/IconDots.mjs";
import IconTrash from "@tabler/icons-react/dist/esm/icons/IconTrash.mjs";
import { useDesigner } from "../designer/store";
import { pinsOf } from "../graph/pins";
import { Keys, Segments } from "../ui";
import { type Phrase, phrase, t } from "../ui/i18n";
import type { Order } from "./ordering";
import { hasPart } from "./pins";
import { RunButton } from "./RunButton";
import { CLOCK, newRow, sourcesOf } from "./scenario";
import classes from "./simulate.module.css";
import { useSimulation, type View } from "./store";

export type DialogName = "paste" | "generate" | "sample" | "keep";

/** What is shown, what can be added or kept, options, and *Run*: one row, also beside both side panels at 1280 pixels. */
export function Toolbar(props: {
  ws: string;
  /** The number of cells that cannot be read. */
  bad: number;
  onDialog: (which: DialogName) => void;
}) {
  const { bad, onDialog, ws } = props;
  const { followed, rows, setView, shown, view } = useSimulation();
  // A test begins with empty stores, and runs all of the topology.
  const begun = (followed !== null && followed.begins !== null) || shown?.result.part !== undefined;
  const pinned = useDesigner((state) => pinsOf(state.document).length > 0);
  const readOnly = useDesigner((state) => state.readOnly);
  return (
    <div className={classes.bar}>
      <Segments<View>
        label={t("What is shown")}
        value={view}
        onChange={setView}
        items={[
          { id: "inputs", title: t("Inputs") },
          { id: "results", title: t("Outputs") },
          { id: "steps", title: t("Step by step") },
          { id: "log", title: t("Log"), hint: t("What nodes printed") },
          { id: "way", title: t("Path"), hint: t("Where is my record?") },
          { id: "edge", title: t("Edge"), hint: t("Records of an edge") },
          {
            id: "plain",
            title: t("Plain Spark"),
            hint: t("The results of plain Spark next to those of Kafka Streams"),
          },
          { id: "tests", title: t("Tests") },
        ]}
      />
      <span className={classes.space} />
      {view === "inputs" ? <AddMenu onDialog={onDialog} /> : null}
      {view === "results" && shown !== null && !readOnly && !begun ? (
        <Button variant="subtle" onClick={() => onDialog("keep")}>
          {t("Keep as a test…")}
        </Button>
      ) : null}
      <OptionsMenu />
      <RunButton ws={ws} disabled={(rows.length === 0 && !pinned) || bad > 0} />
    </div>
  );
}

/** Where input records come from. */
function AddMenu({ onDialog }: { onDialog: (which: DialogName) => void }) {
  const rows = useSimulation((state) => state.rows);
  const add = (topic: string, timestamp: string) =>
    useSimulation
      .getState()
      .setRows([...rows, newRow({ topic, timestamp })], { label: t("New row") });
  const last = rows.filter((row) => row.topic !== CLOCK).at(-1);
  const topic = last?.topic ?? sourcesOf(useDesigner.getState().document)[0]?.topic ?? "";
  return (
    <Menu position="top-end" shadow="sm">
      <Menu.Target>
        <Button
          variant="subtle"
          rightSection={<IconChevronDown size={14} stroke={1.5} />}
          data-testid="add-inputs"
        >
          {t("Add")}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => add(topic, last?.timestamp ?? "0")}>
          {t("Add a record")}
        </Menu.Item>
        <Menu.Item onClick={() => onDialog("generate")}>{t("Generate…")}</Menu.Item>
        <Menu.Item onClick={() => onDialog("sample")}>{t("Sample…")}</Menu.Item>
        <Menu.Item onClick={() => onDialog("paste")}>{t("Paste…")}</Menu.Item>
        <Menu.Divider />
        <Menu.Item onClick={() => add(CLOCK, "1000")}>
          {t("Advance the wall clock")}
          <small className={classes.hint}>
            {t("Advances the wall clock, for punctuations by wall-clock time")}
          </small>
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

const ORDERS: readonly { id: Order; title: Phrase; about: Phrase }[] = [
  {
    id: "time",
    title: phrase("By time"),
    about: phrase({
      id: "simulate.as_in_production_of_each",
      message:
        "As in production: of each partition in the listed order, and of the partitions the one whose next record has the smallest timestamp. The numbers show this order.",
    }),
  },
  {
    id: "listed",
    title: phrase("As listed"),
    about: phrase({
      id: "simulate.in_order_of_rows",
      message: "In the order of the rows, as if each record arrived after the one above it.",
    }),
  },
];

/** The order of the inputs, automatic runs, pins, and undo and redo of changes of the inputs. */
export function OptionsMenu() {
  const { auto, history, order, pins, rows, setAuto, setOrder, setRows, stepInputs } =
    useSimulation();
  const has = useDesigner((state) => hasPart(state.document));
  const [back, forward] = [history.past.at(-1)?.label, history.future.at(-1)?.label];
  return (
    <Menu position="top-end" shadow="sm" width={340}>
      <Menu.Target>
        <ActionIcon
          aria-label={t("Options of the simulation")}
          data-active={auto || undefined}
          data-testid="simulation-options"
        >
          <IconOptions size={16} stroke={1.5} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.CheckboxItem closeMenuOnClick checked={auto} onChange={setAuto}>
          {t("Run again on every change")}
        </Menu.CheckboxItem>
        {has ? (
          <Menu.CheckboxItem
            closeMenuOnClick
            checked={pins}
            onChange={(on) => useSimulation.setState({ pins: on })}
            data-testid="use-pins"
          >
            {t("Use pinned records, muted nodes and doubles")}
          </Menu.CheckboxItem>
        ) : null}
        <Menu.Divider />
        <Menu.Label>{t("Order of the inputs")}</Menu.Label>
        <Menu.RadioGroup value={order} onChange={(next) => setOrder(next as Order)}>
          {ORDERS.map(({ about, id, title }) => (
            <Menu.RadioItem key={id} value={id} closeMenuOnClick>
              {t(title)}
              <small className={classes.hint}>{t(about)}</small>
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconUndo size={14} stroke={1.5} />}
          rightSection={<Keys keys="Mod+Z" />}
          disabled={back === undefined}
          onClick={() => stepInputs("back")}
          data-testid="inputs-undo"
        >
          {back === undefined ? t("Undo") : `${t("Undo")}: ${back}`}
        </Menu.Item>
        <Menu.Item
          leftSection={<IconRedo size={14} stroke={1.5} />}
          rightSection={<Keys keys="Mod+Shift+Z" />}
          disabled={forward === undefined}
          onClick={() => stepInputs("forward")}
          data-testid="inputs-redo"
        >
          {forward === undefined ? t("Redo") : `${t("Redo")}: ${forward}`}
        </Menu.Item>
        <Menu.Item
          leftSection={<IconTrash size={14} stroke={1.5} />}
          disabled={rows.length === 0}
          onClick={() =>
            setRows([], {
              label: t("Clear {n} {n, plural, one {row} other {rows}}", { n: rows.length }),
            })
          }
        >
          {t("Clear")}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
