/** The dialect that the code panel shows, and the compile result for the plain dialect. */

import { useEffect } from "react";
import { create } from "zustand";
import type { CompileResult } from "../api/types";
import type { DesignerServices } from "../designer/services";
import { useDesigner } from "../designer/store";

export type Dialect = "exact" | "plain";

interface DialectState {
  readonly dialect: Dialect;
  /** The result for the plain dialect; null until it is compiled. */
  readonly plain: CompileResult | null;
  readonly failure: string | null;
  choose(dialect: Dialect): void;
}

export const useDialect = create<DialectState>()((set) => ({
  dialect: "exact",
  plain: null,
  failure: null,
  choose: (dialect) => set({ dialect }),
}));

/** The generated file in the chosen dialect. */
export function useJob(): string | null {
  const dialect = useDialect((state) => state.dialect);
  const plain = useDialect((state) => state.plain);
  const exact = useDesigner((state) => state.result);
  const code = (dialect === "plain" ? plain : exact)?.code;
  return code?.files.find((file) => file.path === "job.py")?.text ?? null;
}

const PAUSE_MS = 200;

/** Compiles each revision in the plain dialect while that is shown. */
export function usePlain(services: DesignerServices, shown: boolean) {
  const revision = useDesigner((state) => state.revision);
  const topology = useDesigner((state) => state.topologyId);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another topology invalidates the result
  useEffect(() => useDialect.setState({ plain: null, failure: null }), [topology]);
  useEffect(() => {
    if (!shown) return;
    const controller = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const { document } = useDesigner.getState();
        const plain = await services.compile(document, revision, controller.signal, "plain");
        if (!controller.signal.aborted) useDialect.setState({ plain, failure: null });
      } catch (error) {
        if (controller.signal.aborted) return;
        useDialect.setState({ failure: error instanceof Error ? error.message : String(error) });
      }
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [shown, revision, services]);
}
