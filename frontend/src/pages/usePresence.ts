/** Reports the node that is edited here, and marks the nodes that other people edit on the canvas. */

import { useEffect } from "react";
import { sendPresence } from "../api/topologyCalls";
import { usePresence } from "../designer/presence";
import { useDesigner } from "../designer/store";
import { useLive } from "../live/store";

/** Nodes that are selected only briefly, on the way with the arrow keys, are not reported. */
const PAUSE_MS = 250;

/** The node that counts as being edited: the selected one, if there is only one. */
function edited(): string | null {
  const { nodes } = useDesigner.getState().selection;
  return nodes.length === 1 ? (nodes[0] ?? null) : null;
}

/**
 * @param me the id of the signed-in person, who is not shown.
 * @param sends whether this person may edit: a viewer's selection is private.
 */
export function usePresenceFeed(topology: number, me: number, sends: boolean): void {
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
    if (!sends) return;
    let sent: string | null | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const send = (node: string | null) => {
      if (node === sent) return;
      sent = node;
      // A lost report does no harm: the next one is sent even if the node is the same.
      sendPresence(topology, node).catch(() => {
        sent = undefined;
      });
    };
    const soon = () => {
      clearTimeout(timer);
      timer = setTimeout(() => send(document.hidden ? null : edited()), PAUSE_MS);
    };
    soon();
    const stop = useDesigner.subscribe((state, before) => {
      if (state.selection !== before.selection) soon();
    });
    // The mark may be lost with the connection: send it again after reconnecting.
    const stopLive = useLive.subscribe((state, before) => {
      if (state.connection === "open" && before.connection === "lost") {
        sent = undefined;
        soon();
      }
    });
    document.addEventListener("visibilitychange", soon);
    return () => {
      stop();
      stopLive();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", soon);
      send(null);
    };
  }, [topology, sends]);
}
