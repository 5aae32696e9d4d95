/**
 * The page in Chinese: `zh.ts` of each folder has the translations of its texts, `common.ts` those that several folders
 * use. `catalog`, `forms`, `causes`, `diagnostics`, `differences` and `errors` are texts of the server; those of operators
 * and parameters are in `zh.json` beside them, in the compiler.
 * Loaded when the page is shown in Chinese.
 */

import { common } from "./common";
import { parts } from "./parts";
import { units } from "./units";

export { causes } from "./causes";
export { diagnostics, words } from "./diagnostics";
export { differences } from "./differences";
export { errors } from "./errors";

type Texts = Readonly<Record<string, string>>;

interface OfOperators {
  readonly texts: Texts;
  readonly sentences?: Texts;
}

const operators = Object.values(
  import.meta.glob<OfOperators>("../../../../compiler/millrace_compiler/**/zh.json", {
    eager: true,
    import: "default",
  }),
);

export const catalog: Texts = Object.assign({}, parts, ...operators.map((each) => each.texts));

export const forms = {
  sentences: Object.assign({}, ...operators.map((each) => each.sentences)) as Texts,
  units,
};

const found = import.meta.glob<Texts>("/src/*/zh.ts", { eager: true, import: "zh" });

/** The translations of each folder. */
export const rooms: Readonly<Record<string, Texts>> = {
  common,
  ...Object.fromEntries(Object.entries(found).map(([path, texts]) => [room(path), texts])),
};

export const texts: Texts = Object.assign({}, ...Object.values(rooms));

function room(path: string): string {
  return path.split("/").at(-2) ?? path;
}
