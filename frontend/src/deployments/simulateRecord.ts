import { getRecord } from "../api/topicCalls";
import type { Failure } from "../api/types";
import { notifyError } from "../app/notify";
import { useView } from "../designer/view";
import { inputOf } from "../simulate/kept";

const GUESSED = { key_format: "auto", value_format: "auto", reader: "" } as const;

/** Puts the record of a failure behind the inputs of the topology that is open, and shows them. */
export async function simulateRecord(
  ws: string,
  topology: number,
  record: Failure["record"],
): Promise<void> {
  const { offset, partition, topic } = record ?? {};
  if (typeof topic !== "string" || typeof partition !== "number" || typeof offset !== "number") {
    return;
  }
  try {
    const [raw, { useSimulation }, { newRow }] = await Promise.all([
      getRecord(ws, topic, partition, offset, GUESSED),
      import("../simulate/store"),
      import("../simulate/scenario"),
    ]);
    useSimulation.getState().open(topology);
    const { rows, setRows, setView } = useSimulation.getState();
    setRows([...rows, newRow(inputOf(topic, raw))]);
    setView("inputs");
    useView.getState().openBottom("simulate");
  } catch (error) {
    notifyError(error);
  }
}
