import { act } from "react";
import { afterEach, expect, test } from "vitest";
import { CONTINUES } from "../deployments/beginning";
import { DeployOptions } from "../deployments/DeployOptions";
import { useDesigner } from "../designer/store";
import { emptyDocument, type TopologyDocument } from "../graph/document";
import { choose, render, type } from "../testing/rendering";
import { completions } from "./editor/complete";
import { ParametersDialog } from "./ParametersDialog";

const before = useDesigner.getState();
afterEach(() => useDesigner.setState(before, true));

const LOW = { type: "number", default: 10 } as const;

function given(change: Partial<TopologyDocument>) {
  useDesigner.setState({ document: { ...emptyDocument("x"), ...change }, readOnly: false });
}

const parameters = () => useDesigner.getState().document.parameters;
const input = (label: string) =>
  document.querySelector<HTMLInputElement>(`input[aria-label="${label}"]`);

test("a parameter is declared, typed and given values in one table", async () => {
  given({});
  const close = await render(<ParametersDialog onClose={() => {}} />);
  await act(async () =>
    document.querySelector<HTMLElement>("[data-testid=add-parameter]")?.click(),
  );
  expect(parameters()).toEqual({ parameter: { type: "text", default: "" } });
  await type(input("Name"), "low");
  await act(async () => input("Name")?.focus());
  await act(async () => input("Name")?.blur());
  await choose("Type of low", "Number");
  await type(input("Default of low"), "10");
  await type(input("low in prod"), "25");
  await type(input("Description of low"), "Smallest order");
  expect(parameters()).toEqual({
    low: { type: "number", default: 10, values: { prod: 25 }, description: "Smallest order" },
  });
  await act(async () => document.querySelector<HTMLElement>('[aria-label="Remove low"]')?.click());
  expect(parameters()).toBeUndefined();
  await close();
});

test("what the compiler says about a parameter is shown at its row", async () => {
  given({ parameters: { low: { ...LOW, default: "x" } } });
  useDesigner.setState({
    result: {
      diagnostics: [
        {
          code: "parameter_value",
          severity: "error",
          node: null,
          parameter: "parameters.low.default",
          path: null,
          message: "low is x.",
          hint: "It has to be a number.",
          blocks: "compile",
          position: null,
        },
      ],
    } as never,
  });
  const close = await render(<ParametersDialog onClose={() => {}} />);
  expect(document.body.textContent).toContain("low is x. It has to be a number.");
  expect(input("Default of low")?.getAttribute("aria-invalid")).toBe("true");
  await close();
});

test("an expression offers the parameters after a dollar sign", () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the document
  const place = { text: "${low}", type: "number", value: "10" };
  const offer = completions([], [], [place]);
  const found = offer({
    pos: 11,
    explicit: false,
    matchBefore: (pattern: RegExp) => {
      const text = "value.n > $";
      const match = new RegExp(`${pattern.source}$`).exec(text);
      return match === null ? null : { from: match.index, to: text.length, text: match[0] };
    },
  } as never);
  expect(found?.options.map((each) => [each.label, each.detail, each.info])).toEqual([
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the document
    ["${low}", "number", "10"],
  ]);
  expect(found?.from).toBe(10);
});

test("a deployment of a topology with parameters names its environment", async () => {
  given({ parameters: { low: LOW } });
  const chosen: unknown[] = [];
  const close = await render(
    <DeployOptions
      values={{}}
      fresh
      runsPlain={false}
      onChange={(values) => chosen.push(values)}
      beginning={CONTINUES}
      onBeginning={() => {}}
    />,
  );
  await choose("Environment", "prod");
  expect(chosen).toEqual([{ environment: "prod" }]);
  await close();
  given({});
  const other = await render(
    <DeployOptions
      values={{}}
      fresh
      runsPlain={false}
      onChange={() => {}}
      beginning={CONTINUES}
      onBeginning={() => {}}
    />,
  );
  expect(document.querySelector("[data-testid=environment]")).toBeNull();
  await other();
});
