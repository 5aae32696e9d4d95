/** Completion and hover in the code of processors and handlers: members of the context, of records and of stores. */

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { hoverTooltip } from "@codemirror/view";
import type { StoreClasses } from "../../graph/stores";
import api from "./processorApi.json";

interface Member {
  readonly name: string;
  readonly call: string;
  readonly help: string;
  readonly example: string;
}

const CLASSES: Readonly<Record<string, readonly Member[]>> = api;

/** Which class a name has: by convention, or because the code assigns a store to it. */
function classOf(code: string, name: string, stores: StoreClasses): readonly string[] {
  if (name === "context" || name === "self.context") return ["ProcessorContext"];
  if (name === "record")
    return [/\brecord\b[^)]*,\s*error\b/.test(code) ? "FailedRecord" : "Record"];
  if (name === "error") return ["RecordError"];
  if (name === "Response") return ["Response"];
  const assigned = /^(?:self\.)?\w+$/.test(name)
    ? new RegExp(
        `${name.replace(".", "\\.")}\\s*(?::[^=\\n]+)?=\\s*[\\w.]*context\\.store\\(\\s*["']([^"']+)["']`,
      )
    : null;
  const store = assigned?.exec(code)?.[1];
  if (store === undefined) return [];
  const known = stores[store];
  return known === undefined
    ? Object.keys(CLASSES).filter((each) => each.endsWith("Store"))
    : [known];
}

/** The members of a name, once each. */
export function membersOf(code: string, name: string, stores: StoreClasses): readonly Member[] {
  const found = new Map<string, Member>();
  for (const each of classOf(code, name, stores)) {
    for (const member of CLASSES[each] ?? [])
      if (!found.has(member.name)) found.set(member.name, member);
  }
  return [...found.values()];
}

function explained(member: Member): HTMLElement {
  const dom = document.createElement("div");
  dom.className = "cm-hover";
  const call = document.createElement("code");
  call.textContent = member.call;
  const help = document.createElement("div");
  help.textContent = member.help;
  dom.append(call, help);
  if (member.example !== "") {
    const example = document.createElement("pre");
    example.textContent = member.example;
    dom.append(example);
  }
  return dom;
}

/** Completes `context.`, `self.context.`, `record.`, `error.`, `Response.` and the names of opened stores. */
export function memberCompletion(stores: () => StoreClasses) {
  return (context: CompletionContext): CompletionResult | null => {
    const path = context.matchBefore(/(?:self\.)?\w+\.\w*/);
    if (path === null) return null;
    const dot = path.text.lastIndexOf(".");
    const name = path.text.slice(0, dot);
    const members = membersOf(context.state.doc.toString(), name, stores());
    if (members.length === 0) return null;
    const options: Completion[] = members.map((member) => ({
      label: member.name,
      detail: member.call.slice(member.name.length),
      type: member.call.endsWith(")") ? "method" : "property",
      info: () => explained(member),
    }));
    return { from: path.from + dot + 1, options, validFor: /^\w*$/ };
  };
}

/** Explains the member under the pointer, with an example. */
export function memberOnHover(stores: () => StoreClasses) {
  return hoverTooltip((view, position) => {
    const line = view.state.doc.lineAt(position);
    const offset = position - line.from;
    for (const match of line.text.matchAll(/((?:self\.)?\w+)\.(\w+)/g)) {
      const start = match.index + (match[1]?.length ?? 0) + 1;
      const end = match.index + match[0].length;
      if (offset < start || offset > end) continue;
      const members = membersOf(view.state.doc.toString(), match[1] ?? "", stores());
      const member = members.find((each) => each.name === match[2]);
      if (member === undefined) continue;
      return {
        pos: line.from + start,
        end: line.from + end,
        above: true,
        create: () => ({ dom: explained(member) }),
      };
    }
    return null;
  });
}
