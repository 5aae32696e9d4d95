/** Keeps the compile result up to date with the document. */

import { useEffect } from "react";
import type { DesignerServices } from "./services";
import { useDesigner } from "./store";

/** Long enough to finish a word, short enough to show errors within 200 ms. */
const PAUSE_MS = 110;
const RETRY_MS = 3000;

export function useCompile(services: DesignerServices) {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let running: AbortController | null = null;
    let asked = -1;

    async function ask() {
      const { document, revision, topologyId } = useDesigner.getState();
      running?.abort();
      const mine = new AbortController();
      running = mine;
      asked = revision;
      try {
        const result = await services.compile(document, revision, mine.signal);
        if (mine.signal.aborted || useDesigner.getState().topologyId !== topologyId) return;
        useDesigner.getState().setResult({ ...result, revision });
      } catch (error) {
        if (mine.signal.aborted) return;
        useDesigner
          .getState()
          .setCompileFailure(error instanceof Error ? error.message : String(error));
        timer = setTimeout(ask, RETRY_MS);
      }
    }

    function soon() {
      if (useDesigner.getState().revision === asked) return;
      clearTimeout(timer);
      timer = setTimeout(ask, PAUSE_MS);
    }

    const stop = useDesigner.subscribe(soon);
    ask();
    return () => {
      stop();
      clearTimeout(timer);
      running?.abort();
    };
  }, [services]);
}
