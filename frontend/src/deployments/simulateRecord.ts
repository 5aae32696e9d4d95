import { createTest } from "../api/compileCalls";
import { getRecord } from "../api/topicCalls";
import type { Failure, RawRecord } from "../api/types";
import { useDesigner } from "../designer/store";
import { useView } from "../designer/view";
import { notify, notifyError } from "../frame/notify";
import { queryClient } from "../frame/queries";
import { exact } from "../ui/format";
import { t } from "../ui/i18n";

const GUESSED = { key_format: "auto", value_format: "auto", reader: "" } as const;

interface Found {
  readonly topic: string;
  readonly raw: RawRecord;
}

/** Reads the record of a failure from its topic; null if its position is unknown. */
async function found(ws: string, record: Failure["record"]): Promise<Found | null> {
  const { offset, partition, topic } = record ?? {};
  if (typeof topic !== "string" || typeof partition !== "number" || typeof offset !== "number") {
    return null;
  }
  return { topic, raw: await getRecord(ws, topic, partition, offset, GUESSED) };
}

/** Appends the record of a failure to the inputs of the open topology's simulation, and shows them. */
export async function simulateRecord(
  ws: string,
  topology: number,
  record: Failure["record"],
): Promise<void> {
  try {
    const [input, { useSimulation }, { inputOf }, { exactly, newRow, sourcesFor }] =
      await Promise.all([
        found(ws, record),
        import("../simulate/store"),
        import("../simulate/kept"),
        import("../simulate/scenario"),
      ]);
    if (input === null) return;
    useSimulation.getState().open(topology);
    const { rows, setRows, setView } = useSimulation.getState();
    const sources = sourcesFor(useDesigner.getState().document, [input]);
    const cells = exactly(inputOf(input.topic, input.raw), input.raw, sources);
    setRows([...rows, newRow(cells)], { label: t("Record of the failure") });
    setView("inputs");
    useView.getState().openBottom("simulate");
  } catch (error) {
    notifyError(error);
  }
}

/**
 * Creates a test with the record of a failure as its input. It expects that no record is dropped, so it fails until the
 * topology can process the record. The expected outputs are added by hand.
 */
export async function testOfRecord(
  ws: string,
  topology: number,
  record: Failure["record"],
): Promise<void> {
  try {
    const [input, { useSimulation }, { inputOf }, { exactly, linesOf, newRow, sourcesFor }] =
      await Promise.all([
        found(ws, record),
        import("../simulate/store"),
        import("../simulate/kept"),
        import("../simulate/scenario"),
      ]);
    if (input === null) return;
    const { topic, raw } = input;
    const sources = sourcesFor(useDesigner.getState().document, [input]);
    const { lines } = linesOf([newRow(exactly(inputOf(topic, raw), raw, sources))], sources);
    const name = t("Record {topic}-{partition} at offset {offset}", {
      topic,
      partition: raw.partition,
      offset: exact(raw.offset),
    });
    await createTest(topology, { name, inputs: [...lines] as never, expected: { dropped: 0 } });
    await queryClient.invalidateQueries({ queryKey: ["tests", topology] });
    useSimulation.getState().open(topology);
    useSimulation.getState().setView("tests");
    useView.getState().openBottom("simulate");
    notify(
      t({
        id: "deployments.test_expects_that_record",
        message: "The test expects that the record is not dropped. Add the outputs that are right.",
      }),
    );
  } catch (error) {
    notifyError(error);
  }
}

/** Simulates the record of a failure together with the records that its deployment read before it. */
export async function followFailed(
  ws: string,
  topology: number,
  deployment: number,
  record: Failure["record"],
): Promise<void> {
  const { offset, partition, topic } = record ?? {};
  if (typeof topic !== "string" || typeof partition !== "number" || typeof offset !== "number") {
    return;
  }
  const { follow } = await import("../simulate/follow");
  await follow(ws, topology, deployment, { topic, partition, offset });
}
