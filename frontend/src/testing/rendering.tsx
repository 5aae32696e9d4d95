/** Renders components in tests and acts on them like a person. */

import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render as renderPage } from "@testing-library/react";
import { act, type ReactNode, useState } from "react";
import { createRoot } from "react-dom/client";
import { createMemoryRouter, RouterProvider } from "react-router";
import { vi } from "vitest";
import { theme } from "../theme/theme";

function Around({ children }: { children: ReactNode }) {
  const [client] = useState(
    () => new QueryClient({ defaultOptions: { queries: { retry: false } } }),
  );
  return (
    <QueryClientProvider client={client}>
      <MantineProvider theme={theme} env="test">
        {children}
      </MantineProvider>
    </QueryClientProvider>
  );
}

/** A growing text area listens to fonts, which the test's document does not have. */
function addFonts() {
  const fonts = { addEventListener: () => undefined, removeEventListener: () => undefined };
  Object.defineProperty(document, "fonts", { value: fonts, configurable: true });
}

/** Renders a component with Testing Library, as the page at an address that fits the path. */
export function open(element: ReactNode, path = "/", address = path) {
  addFonts();
  const router = createMemoryRouter([{ path, element }], { initialEntries: [address] });
  return renderPage(<RouterProvider router={router} />, { wrapper: Around });
}

/** Renders a component and returns a function that removes it. */
export async function render(part: ReactNode): Promise<() => Promise<void>> {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  addFonts();
  const place = document.createElement("div");
  document.body.append(place);
  const root = createRoot(place);
  await act(async () => root.render(<Around>{part}</Around>));
  return async () => {
    await act(async () => root.unmount());
    place.remove();
  };
}

/** The input with this label. */
export function field(label: string): HTMLInputElement {
  const found = [...document.querySelectorAll("label")].find((each) => each.textContent === label);
  return document.getElementById(found?.htmlFor ?? "") as HTMLInputElement;
}

/** Replaces the text of a field. */
export function type(input: Element | null, text: string): Promise<void> {
  const kind = input instanceof HTMLTextAreaElement ? HTMLTextAreaElement : HTMLInputElement;
  return act(async () => {
    Object.getOwnPropertyDescriptor(kind.prototype, "value")?.set?.call(input, text);
    input?.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

/** Chooses an option of the select input with this name. */
export async function choose(name: string, option: string): Promise<void> {
  const labelled = field(name) as HTMLInputElement | null;
  const list = labelled ?? document.querySelector<HTMLInputElement>(`input[aria-label="${name}"]`);
  await act(async () => list?.click());
  const options = document.getElementById(list?.getAttribute("aria-controls") ?? "");
  const wanted = [...(options?.querySelectorAll<HTMLElement>("[role=option]") ?? [])].find(
    (each) => each.textContent === option,
  );
  if (wanted === undefined) throw new Error(`${name} has no option ${option}`);
  await act(async () => wanted.click());
}

/** How long checks are repeated, in milliseconds: the machine may be busy. */
const PATIENCE_MS = 15_000;

/** Waits until a check passes. */
export function until(check: () => void): Promise<void> {
  return vi.waitFor(async () => {
    await act(async () => new Promise((resolve) => setTimeout(resolve, 0)));
    check();
  }, PATIENCE_MS);
}
