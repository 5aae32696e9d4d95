/**
 * The page in Chinese: the translations of each folder's English texts, with those used by several folders in `common`.
 * `catalog`, `help`, `sentences`, `causes`, `diagnostics`, `differences` and `errors` are texts of the server. Loaded
 * when the page is shown in Chinese.
 */

import { alerts } from "./alerts";
import { api } from "./api";
import { app } from "./app";
import { canvas } from "./canvas";
import { catalog as kinds } from "./catalog";
import { code } from "./code";
import { commands } from "./commands";
import { comments } from "./comments";
import { common } from "./common";
import { deployments } from "./deployments";
import { designer } from "./designer";
import { differing } from "./differing";
import { frame } from "./frame";
import { generate } from "./generate";
import { git } from "./git";
import { help } from "./help";
import { inspector } from "./inspector";
import { live } from "./live";
import { pages } from "./pages";
import { palette } from "./palette";
import { plan } from "./plan";
import { problems } from "./problems";
import { reference } from "./reference";
import { runtime } from "./runtime";
import { sentences, units } from "./sentences";
import { simulate } from "./simulate";
import { stores } from "./stores";
import { topics } from "./topics";
import { ui } from "./ui";
import { versions } from "./versions";
import { workbench } from "./workbench";

export { causes } from "./causes";
export { diagnostics, words } from "./diagnostics";
export { differences } from "./differences";
export { errors } from "./errors";

export const catalog: Readonly<Record<string, string>> = { ...kinds, ...help };

export const forms = { sentences, units };

export const rooms = {
  alerts,
  api,
  app,
  canvas,
  code,
  commands,
  comments,
  common,
  deployments,
  designer,
  differing,
  frame,
  generate,
  git,
  inspector,
  live,
  pages,
  palette,
  plan,
  problems,
  reference,
  runtime,
  simulate,
  stores,
  topics,
  ui,
  versions,
  workbench,
};

export const texts: Readonly<Record<string, string>> = Object.assign({}, ...Object.values(rooms));
