import { MantineProvider } from "@mantine/core";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ApiError } from "../api/client";
import type { CompileResult, ExpressionTrial, TriedValue } from "../api/types";
import { CATALOG, editor } from "../commands/kit";
import type { DesignerServices } from "../designer/services";
import { ServicesContext } from "../designer/servicesContext";
import { useSimulated } from "../designer/simulated";
import { useDesigner } from "../designer/store";
import { setParam } from "../graph/changes";
import { findNode, makeEdge } from "../graph/document";
import { setPin } from "../graph/pins";
import { theme } from "../theme/theme";
import { t } from "../ui/i18n";
import { TopicOption } from "./TopicOption";
import { TriedValues } from "./TriedValues";

/** A server that gives each record the length of the expression, and fails for the key `bad`. */
class Server {
  asked: ExpressionTrial[] = [];
  starting = 0;

  async latest(topic: string) {
    return [
      { key: topic, value: { n: 3 }, timestamp: 1 },
      { key: "bytes", timestamp: 2 },
    ];
  }

  async tryExpression(asked: ExpressionTrial): Promise<readonly TriedValue[]> {
    this.starting -= 1;
    if (this.starting >= 0) throw new ApiError(503, { error: { code: "simulator_starting" } });
    this.asked.push(asked);
    return asked.records.map(({ key }) =>
      key === "bad"
        ? { value: null, error: "Division by zero" }
        : { value: asked.expression.length, error: null },
    );
  }

  topicFacts = vi.fn(async () => ({ partitions: 3, records: 1_204, latest: null }));
}

let server: Server;
let place: HTMLElement;
let root: ReturnType<typeof createRoot>;

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal("matchMedia", () => ({
    matches: false,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
  }));
  vi.useFakeTimers();
  server = new Server();
  place = document.createElement("div");
  root = createRoot(place);
});

afterEach(async () => {
  await act(async () => root.unmount());
  useSimulated.getState().show({ passed: null });
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const show = (part: React.ReactNode) =>
  act(async () =>
    root.render(
      <MantineProvider theme={theme} env="test">
        <ServicesContext.Provider value={server as unknown as DesignerServices}>
          {part}
        </ServicesContext.Provider>
      </MantineProvider>,
    ),
  );

const wait = (ms: number) => act(async () => void (await vi.advanceTimersByTimeAsync(ms)));

/** A source of orders, and a filter after it; their types are known. */
function drawn() {
  const edit = editor();
  const source = edit.drop("source.stream");
  const filter = edit.drop("filter");
  useDesigner.getState().change(t("Edit"), (now) => ({
    ...setParam(now, CATALOG, source, "topics", ["orders"]),
    edges: [makeEdge(source, "out", filter, "in")],
  }));
  const port = { role: "stream", key: "STRING", value: "n INT" };
  useDesigner.setState({
    result: {
      revision: useDesigner.getState().revision,
      ports: { [source]: { out: port } },
    } as unknown as CompileResult,
  });
  const document = useDesigner.getState().document;
  const node = findNode(document, filter);
  const [edge] = document.edges;
  if (node === undefined || edge === undefined) throw new Error("nothing drawn");
  return { node, edge };
}

test("an expression is evaluated on the best samples there are", async () => {
  const { edge, node } = drawn();
  await show(<TriedValues node={node} text="value.n > 1" port={undefined} wrong={false} />);
  await wait(500);
  expect(server.asked).toEqual([
    {
      expression: "value.n > 1",
      types: { key: "STRING", value: "n INT" },
      records: [{ key: "orders", value: { n: 3 }, timestamp: 1, topic: "orders" }],
    },
  ]);
  expect(place.querySelector("caption")?.textContent).toBe("1 latest record of orders");
  expect(place.textContent).toContain("11");

  const pinned = [{ key: "bad", value: null, timestamp: 0 }];
  await act(async () =>
    useDesigner.getState().change(t("Edit"), (now) => setPin(now, edge, pinned)),
  );
  // The compiler has not seen the change yet, so the expression may be wrong.
  await wait(500);
  expect(place.querySelector("caption")?.textContent).not.toBe("1 pinned record");
  await act(async () =>
    useDesigner.setState(({ result, revision }) => ({
      result: { ...(result as CompileResult), revision },
    })),
  );
  await wait(500);
  expect(place.querySelector("caption")?.textContent).toBe("1 pinned record");
  expect(place.querySelector(".tried-error")?.textContent).toBe("Division by zero");

  const passed = Array.from({ length: 9 }, (_, n) => ({ key: `${n}`, value: null, timestamp: n }));
  await act(async () =>
    useSimulated.getState().show({ passed: (id) => (id === edge.source ? passed : []) }),
  );
  await wait(500);
  expect(place.querySelector("caption")?.textContent).toBe("5 records of the last simulation");
  expect(place.querySelectorAll("tr")).toHaveLength(5);
});

test("only the last text of quick typing is evaluated, once the simulator runs", async () => {
  const { node } = drawn();
  server.starting = 1;
  for (const text of ["v", "va", "value"]) {
    await show(<TriedValues node={node} text={text} port={undefined} wrong={false} />);
    await wait(100);
  }
  await wait(400);
  expect(place.querySelector(".tried-note")?.textContent).toBe("The simulator is starting…");
  await wait(1_600);
  expect(server.asked.map((each) => each.expression)).toEqual(["value"]);
  await show(<TriedValues node={node} text="wrong" port={undefined} wrong />);
  await wait(600);
  expect(server.asked.map((each) => each.expression)).toEqual(["value"]);
});

test("topics in a list are asked about when they are seen, two at a time", async () => {
  const seen: (() => void)[] = [];
  class Seen {
    observe = () => undefined;
    disconnect = () => undefined;

    constructor(call: (entries: { isIntersecting: boolean }[]) => void) {
      seen.push(() => call([{ isIntersecting: true }]));
    }
  }
  vi.stubGlobal("IntersectionObserver", Seen);
  let release: () => void = () => undefined;
  const gate = new Promise<void>((open) => {
    release = open;
  });
  server.topicFacts.mockImplementation(async () => {
    await gate;
    return { partitions: 3, records: 1_204, latest: null };
  });
  await show(["a", "b", "c", "d"].map((topic) => <TopicOption key={topic} topic={topic} />));
  expect(server.topicFacts).not.toHaveBeenCalled();
  await act(async () => {
    for (const see of seen.slice(0, 3)) see();
  });
  expect(server.topicFacts).toHaveBeenCalledTimes(2);
  await act(async () => release());
  await wait(1);
  expect(server.topicFacts).toHaveBeenCalledTimes(3);
  expect(place.querySelector("small")?.textContent).toContain("3 partitions");
});
