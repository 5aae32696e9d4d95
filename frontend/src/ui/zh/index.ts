/**
 * The page in Chinese: `zh.ts` of each folder has the translations of its texts, `common.ts` those that several folders
 * use. `catalog`, `help`, `sentences`, `causes`, `diagnostics`, `differences` and `errors` are texts of the server.
 * Loaded when the page is shown in Chinese.
 */

import { catalog as kinds } from "./catalog";
import { common } from "./common";
import { help } from "./help";
import { sentences, units } from "./sentences";

export { causes } from "./causes";
export { diagnostics, words } from "./diagnostics";
export { differences } from "./differences";
export { errors } from "./errors";

type Texts = Readonly<Record<string, string>>;

export const catalog: Texts = { ...kinds, ...help };

export const forms = { sentences, units };

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
