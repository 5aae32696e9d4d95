import { CompletionContext } from "@codemirror/autocomplete";
import { EditorState } from "@codemirror/state";
import { describe, expect, test } from "vitest";
import { memberCompletion, membersOf } from "./processorApi";

const CODE = `class Count(Processor):
    def init(self, context):
        self.context = context
        self.counts = context.store("counts")
        self.users: Any = self.context.store('users', ReadOnlyKeyValueStore[str, int])
        self.other = context.store("other")
`;
const STORES = { counts: "KeyValueStore", users: "ReadOnlyKeyValueStore" };

function offered(typed: string): string[] {
  const state = EditorState.create({ doc: `${CODE}        ${typed}` });
  const source = memberCompletion(() => STORES);
  const result = source(new CompletionContext(state, state.doc.length, false));
  return (result?.options ?? []).map((option) => option.label);
}

describe("completion in the code of a processor", () => {
  test("the context and the record have the members of the runtime", () => {
    expect(offered("self.context.")).toContain("forward");
    expect(offered("context.sto")).toContain("store");
    expect(offered("record.")).toEqual(expect.arrayContaining(["key", "value", "replace"]));
  });

  test("a store has the methods of its kind; that of a table cannot be written", () => {
    expect(offered("self.counts.")).toContain("put");
    expect(offered("self.users.")).toContain("get_with_timestamp");
    expect(offered("self.users.")).not.toContain("put");
  });

  test("a store that is not connected yet has the methods of all kinds", () => {
    expect(offered("self.other.")).toEqual(expect.arrayContaining(["find_sessions", "fetch"]));
  });

  test("a handler gets another record, an error, and answers with a response", () => {
    const handler = "def handle(record, error):\n    ";
    const names = (name: string) => membersOf(handler, name, {}).map((each) => each.name);
    expect(names("record")).toEqual(expect.arrayContaining(["dead_letter", "offset"]));
    expect(names("error")).toContain("exception");
    expect(names("Response")).toEqual(["fail", "resume"]);
  });

  test("other names have no members", () => {
    expect(offered("self.words.")).toEqual([]);
    expect(membersOf(CODE, "a(", STORES)).toEqual([]);
  });
});
