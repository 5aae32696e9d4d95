/** Shows forms in tests, for the open document of an editor. */

import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, type ReactNode } from "react";
import { createRoot, type Root } from "react-dom/client";
import { MemoryRouter } from "react-router";
import { afterEach, beforeEach, vi } from "vitest";
import { type Editor, editor } from "../commands/kit";
import type { DesignerServices } from "../designer/services";
import { ServicesContext } from "../designer/servicesContext";
import { emptyDocument } from "../graph/document";
import { theme } from "../theme/theme";

/** A cluster with one topic and a compiler without problems. */
class QuietServices implements DesignerServices {
  async compile(_document: unknown, revision: number) {
    return { revision, diagnostics: [], ports: {}, plan: null, summary: {}, code: null };
  }

  topicAddress(topic: string) {
    return `/topics/${topic}`;
  }

  topologyAddress(id: number) {
    return `/t/${id}`;
  }

  async fragments() {
    return [];
  }

  async fragment() {
    return emptyDocument("");
  }

  async saveFragment() {
    return 2;
  }

  async createFragment() {
    return 1;
  }

  async topics() {
    return [{ name: "orders", partitions: 3 }];
  }

  async schemas(topic: string) {
    return topic === "orders" ? [{ topology: "Shop", schema: "item STRING" }] : [];
  }

  async latest() {
    return [];
  }

  async tryExpression() {
    return [];
  }

  async topicFacts() {
    return { partitions: 3, records: 0, latest: null };
  }

  async samples(topic: string) {
    return [`{"topic": "${topic}", "n": 1}`, '{"n": 2.5}'];
  }
}

export const services = new QuietServices();

interface Shown {
  /** The element in which the form is. */
  place: HTMLElement;
  /** The editor of the open document; a test may open another one. */
  edit: Editor;
  /** What was written to the console. */
  complaints: unknown[];
}

let root: Root;

/** What is shown now: a new document and an empty page before each test. */
export const form = {} as Shown;

/** Call it once in a file of tests. */
export function showForms() {
  beforeEach(() => {
    vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
    vi.stubGlobal("matchMedia", () => ({
      matches: false,
      addEventListener: () => undefined,
      removeEventListener: () => undefined,
    }));
    // happy-dom has no fonts that could finish loading.
    Object.defineProperty(document, "fonts", { value: new EventTarget(), configurable: true });
    form.complaints = [];
    const complain = (...words: unknown[]) => void form.complaints.push(words);
    vi.spyOn(console, "error").mockImplementation(complain);
    vi.spyOn(console, "warn").mockImplementation(complain);
    sessionStorage.clear();
    form.place = document.createElement("div");
    document.body.append(form.place);
    root = createRoot(form.place);
    form.edit = editor();
  });

  afterEach(async () => {
    await act(async () => root.unmount());
    form.place.remove();
    vi.unstubAllGlobals();
  });
}

export function show(part: ReactNode) {
  return act(async () => {
    root.render(
      <MantineProvider theme={theme} env="test">
        <MemoryRouter>
          <QueryClientProvider client={new QueryClient()}>
            <ServicesContext.Provider value={services}>{part}</ServicesContext.Provider>
          </QueryClientProvider>
        </MemoryRouter>
      </MantineProvider>,
    );
    // The form of a node is a chunk of its own.
    await import("./NodeForm");
    await new Promise((resolve) => setTimeout(resolve));
  });
}

export function field(parameter: string): HTMLElement {
  const found = form.place.querySelector<HTMLElement>(`[data-parameter="${parameter}"]`);
  if (found === null) throw new Error(`There is no field ${parameter}`);
  return found;
}

/** Waits until a part that is loaded on demand is there. */
export async function loaded(selector: string): Promise<HTMLElement> {
  for (let times = 0; times < 200; times += 1) {
    const found = form.place.querySelector<HTMLElement>(selector);
    if (found !== null) return found;
    await act(async () => new Promise((resolve) => setTimeout(resolve, 20)));
  }
  throw new Error(`There is no ${selector}`);
}

export const press = (name: string, within: Element = form.place) =>
  act(async () => {
    const all = [...within.querySelectorAll<HTMLButtonElement>("button")];
    const found = all.find(
      (each) => each.textContent === name || each.getAttribute("aria-label") === name,
    );
    if (found === undefined) throw new Error(`There is no button ${name}`);
    found.click();
  });
