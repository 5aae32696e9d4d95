import { useEffect, useState } from "react";
import { asApiError } from "../api/client";
import type { TriedValue } from "../api/types";
import { useServices } from "../designer/servicesContext";
import { useSimulated } from "../designer/simulated";
import { useDesigner } from "../designer/store";
import type { DocumentNode } from "../graph/document";
import type { PinnedRecord } from "../graph/pins";
import { t } from "../ui/i18n";
import { type Samples, samplesAt, trialOf } from "./samples";

/** Milliseconds without typing after which an expression is evaluated, and between questions while a simulator starts. */
const PAUSE_MS = 400;
const AGAIN_MS = 1_500;

/** What is shown: values of records, or why there are none. */
type Shown =
  | { readonly samples: Samples; readonly values: readonly TriedValue[] }
  | "nothing"
  | "no_samples"
  | "starting"
  | { readonly failure: string };

/** `wrong`: whether the compiler refuses the expression, so that it has no values. `told`: nothing else shows why. */
function useTried(
  node: DocumentNode,
  text: string,
  port: string | undefined,
  wrong: boolean,
  told: boolean,
): Shown {
  const services = useServices();
  const [shown, setShown] = useState<Shown>("nothing");
  const passed = useSimulated((state) => state.passed);
  const pins = useDesigner((state) => state.document.drawing?.pins);
  // Until the compiler has seen the text, it may be wrong.
  const compiled = useDesigner((state) => state.result?.revision === state.revision);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new results and pins are new samples
  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const ask = async () => {
      try {
        const samples = await samplesAt(services, node, port);
        if (stop.signal.aborted) return;
        if (samples === null) {
          setShown("no_samples");
          return;
        }
        const values = await services.tryExpression(trialOf(text, samples), stop.signal);
        if (!stop.signal.aborted) setShown({ samples, values });
      } catch (error) {
        if (stop.signal.aborted) return;
        const found = asApiError(error);
        if (found.code === "simulator_starting") {
          setShown("starting");
          timer = setTimeout(() => void ask(), AGAIN_MS);
        } else if (found.code === "invalid_expression" && !told) {
          // The field itself shows what is wrong.
          setShown("nothing");
        } else setShown({ failure: found.text });
      }
    };
    if (text.trim() === "" || (compiled && wrong)) setShown("nothing");
    else if (compiled) timer = setTimeout(() => void ask(), PAUSE_MS);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [services, node.id, port, text, passed, pins, compiled, wrong, told]);
  return shown;
}

/** The values that sample records give an expression while it is written. */
export function TriedValues(props: {
  node: DocumentNode;
  text: string;
  port: string | undefined;
  wrong: boolean;
  told?: boolean;
}) {
  const shown = useTried(props.node, props.text, props.port, props.wrong, props.told === true);
  if (shown === "nothing") return null;
  if (shown === "no_samples")
    return (
      <p className="tried-note">
        {t({
          id: "inspector.no_samples_here",
          message: "Simulate once, or pin records on the edge, to see the values it gives.",
        })}
      </p>
    );
  if (shown === "starting") return <p className="tried-note">{t("The simulator is starting…")}</p>;
  if ("failure" in shown) return <p className="tried-note">{shown.failure}</p>;
  const { samples, values } = shown;
  return (
    <table className="tried" data-testid="tried-values" aria-label={t("Values of sample records")}>
      <caption>{fromText(samples)}</caption>
      <tbody>
        {values.map(({ error, value }, index) => {
          const record = recordText(samples.records[index]);
          return (
            <tr key={index}>
              <td className="m-mono m-cut" title={record}>
                {record}
              </td>
              <td
                className={error === null ? "m-mono" : "tried-error"}
                title={error ?? JSON.stringify(value)}
              >
                {error ?? JSON.stringify(value)}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function fromText({ from, records, topic }: Samples): string {
  const n = records.length;
  if (from === "simulation")
    return t(
      {
        id: "inspector.of_last_simulation",
        message: "{n} {n, plural, one {record} other {records}} of the last simulation",
      },
      { n },
    );
  if (from === "pins") return t("{n} pinned {n, plural, one {record} other {records}}", { n });
  return t(
    {
      id: "inspector.latest_of_topic",
      message: "{n} latest {n, plural, one {record} other {records}} of {topic}",
    },
    { n, topic: topic ?? "" },
  );
}

function recordText(record: PinnedRecord | undefined): string {
  return record === undefined
    ? ""
    : `${JSON.stringify(record.key)} → ${JSON.stringify(record.value)}`;
}
