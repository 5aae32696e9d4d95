/** Shows components in tests, and acts on what they show as people do. */

import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { vi } from "vitest";
import { theme } from "../theme/theme";

/** Renders a component; returns what removes it. */
export async function render(part: ReactNode): Promise<() => Promise<void>> {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  const place = document.createElement("div");
  document.body.append(place);
  const root = createRoot(place);
  await act(async () =>
    root.render(
      <QueryClientProvider client={new QueryClient()}>
        <MantineProvider theme={theme} env="test">
          {part}
        </MantineProvider>
      </QueryClientProvider>,
    ),
  );
  return async () => {
    await act(async () => root.unmount());
    place.remove();
  };
}

/** The field with a label. */
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

/** Waits until a check passes. */
export function until(check: () => void): Promise<void> {
  return vi.waitFor(async () => {
    await act(async () => new Promise((resolve) => setTimeout(resolve, 0)));
    check();
  });
}
