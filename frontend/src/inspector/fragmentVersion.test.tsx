import { cleanup, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { CATALOG } from "../commands/kit";
import type { DesignerServices } from "../designer/services";
import { ServicesContext } from "../designer/servicesContext";
import { useDesigner } from "../designer/store";
import { emptyDocument } from "../graph/document";
import { open } from "../testing/rendering";
import { FragmentForm } from "./FragmentForm";

const NODE = { id: "clean", kind: "fragment", params: { fragment: "Clean@2" } };
const INNER = { nodes: [{ id: "keep", kind: "filter", params: {} }], edges: [] };

afterEach(cleanup);

/** Shows the form of a node in version 2 of a fragment, whose newest version is another one. */
async function shown(newest: number): Promise<void> {
  const fragment = vi.fn(async () => ({ ...emptyDocument("Clean"), ...INNER }));
  const services = {
    fragments: async () => [{ id: 7, name: "Clean", latest_version: newest }],
    fragment,
    topologyAddress: () => "/",
  } as unknown as DesignerServices;
  const document = { ...emptyDocument("Uses it"), nodes: [NODE], fragments: { "Clean@2": INNER } };
  useDesigner.getState().open({ topologyId: 1, document: document as never, catalog: CATALOG });
  open(
    <ServicesContext value={services}>
      <FragmentForm node={NODE} nodeRuntime={() => null} />
    </ServicesContext>,
  );
  await screen.findByText("Open the fragment");
  await waitFor(() => expect(fragment).toHaveBeenCalledWith(7, 2));
  await new Promise((resolve) => setTimeout(resolve, 50));
}

test("a fragment in its newest version is not offered an update to itself", async () => {
  await shown(2);
  expect(screen.queryByTestId("update-fragment")).toBeNull();
});

test("a fragment in an earlier version is offered the newest one", async () => {
  await shown(3);
  expect((await screen.findByTestId("update-fragment")).textContent).toBe("Update to version 3");
});
