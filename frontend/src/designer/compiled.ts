import type { CompileResult } from "../api/types";
import { type DesignerState, useDesigner } from "./store";

/**
 * The compiler's result for the document as it is now: after a change, it is awaited. Null if the compiler does not
 * respond, or not within `ms`.
 */
export function compiled(ms: number): Promise<CompileResult | null> {
  const known = ({ compileFailure, result, revision }: DesignerState) =>
    result?.revision === revision ? result : compileFailure === null ? undefined : null;
  return new Promise((resolve) => {
    const first = known(useDesigner.getState());
    if (first !== undefined) {
      resolve(first);
      return;
    }
    const done = (result: CompileResult | null) => {
      clearTimeout(timer);
      stop();
      resolve(result);
    };
    const timer = setTimeout(() => done(null), ms);
    const stop = useDesigner.subscribe((state) => {
      const found = known(state);
      if (found !== undefined) done(found);
    });
  });
}
