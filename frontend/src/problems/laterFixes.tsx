/** Buttons that fix problems, loaded after what the drawing needs. */

import { Suspense } from "react";
import type { Diagnostic } from "../api/types";
import { later } from "../ui/later";

const LaterButton = later(async () => (await import("./FixButton")).FixButton);
const LaterAll = later(async () => (await import("./FixButton")).FixAll);

export function FixButton(props: { diagnostic: Diagnostic }) {
  return (
    <Suspense>
      <LaterButton {...props} />
    </Suspense>
  );
}

export function FixAll(props: { diagnostics: readonly Diagnostic[] }) {
  return (
    <Suspense>
      <LaterAll {...props} />
    </Suspense>
  );
}
