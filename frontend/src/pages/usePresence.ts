/** Tells the others which node is edited here, and the canvas which nodes the others edit. */

import { useEffect } from "react";
import { tellPresence } from "../api/calls";
import { usePresence } from "../designer/presence";
import { useDesigner } from "../designer/store";
import { useLive } from "../runtime/store";

/** Who walks through the nodes with the arrow keys edits none of them on the way. */
const PAUSE_MS = 250;

/** The one node that is selected is the one that is edited. */
function edited(): string | null {
  const { nodes } = useDesigner.getState().selection;
  return nodes.length === 1 ? (nodes[0] ?? null) : null;
}

/**
 * @param me the reader's own id, who is not shown to himself.
 * @param tells whether this reader may edit: what a viewer looks at is nobody's business.
 */
export function usePresenceFeed(topology: number, me: number, tells: boolean): void {
  useEffect(() => {
    const show = () =>
      usePresence.getState().setPeople(
        useLive
          .getState()
          .presence.filter((user) => user.id !== me)
          .map((user) => ({ id: user.id, name: user.display_name, node: user.node })),
      );
    show();
    const stop = useLive.subscribe((state, before) => {
      if (state.presence !== before.presence) show();
    });
    return () => {
      stop();
      usePresence.getState().setPeople([]);
    };
  }, [me]);

  useEffect(() => {
    if (!tells) return;
    let told: string | null | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const tell = (node: string | null) => {
      if (node === told) return;
      told = node;
      // A mark that did not arrive is no loss; the next one is told again.
      tellPresence(topology, node).catch(() => {
        told = undefined;
      });
    };
    const soon = () => {
      clearTimeout(timer);
      timer = setTimeout(() => tell(document.hidden ? null : edited()), PAUSE_MS);
    };
    soon();
    const stop = useDesigner.subscribe((state, before) => {
      if (state.selection !== before.selection) soon();
    });
    // A stream that was interrupted may have cost the mark: the first event after it brings it back.
    const stopLive = useLive.subscribe((state, before) => {
      if (state.connection === "open" && before.connection === "lost") {
        told = undefined;
        soon();
      }
    });
    document.addEventListener("visibilitychange", soon);
    return () => {
      stop();
      stopLive();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", soon);
      tell(null);
    };
  }, [topology, tells]);
}
