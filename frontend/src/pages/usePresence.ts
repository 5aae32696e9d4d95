/** Reports the node that is edited here, and marks the nodes that other people edit on the canvas. */

import { useEffect } from "react";
import { sendCursor, sendPresence } from "../api/topologyCalls";
import { canvas } from "../designer/canvasApi";
import { type Place, usePresence } from "../designer/presence";
import { useDesigner } from "../designer/store";
import { useLive } from "../live/store";

/** Nodes that are selected only briefly, on the way with the arrow keys, are not reported. */
const PAUSE_MS = 250;

/** Milliseconds between two reports of where the pointer is. */
const CURSOR_MS = 200;

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
      if (state.cursor !== before.cursor && state.cursor !== null) {
        usePresence.getState().moveCursor(state.cursor.user, state.cursor.at);
      }
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

/** Reports where the pointer is on the canvas while others have the topology open. */
export function useCursorFeed(topology: number, sends: boolean): void {
  const watched = usePresence((state) => state.people.length > 0);
  useEffect(() => {
    if (!sends || !watched) return;
    let place: Place | null = null;
    let sent: string | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const send = () => {
      timer = undefined;
      const next = JSON.stringify(place);
      if (next === sent) return;
      sent = next;
      // A lost report does no harm: the next one says more.
      sendCursor(topology, place).catch(() => undefined);
      timer = setTimeout(send, CURSOR_MS);
    };
    const note = (next: Place | null) => {
      place = next;
      timer ??= setTimeout(send, 0);
    };
    const onMove = (event: PointerEvent) => {
      const shown = canvas();
      const inside = event.target instanceof Node && shown?.element().contains(event.target);
      if (shown === null || inside !== true) {
        if (place !== null) note(null);
        return;
      }
      const { x, y } = shown.toDocument({ x: event.clientX, y: event.clientY });
      note([Math.round(x), Math.round(y)]);
    };
    const onLeave = () => {
      if (place !== null) note(null);
    };
    window.addEventListener("pointermove", onMove);
    document.documentElement.addEventListener("pointerleave", onLeave);
    return () => {
      window.removeEventListener("pointermove", onMove);
      document.documentElement.removeEventListener("pointerleave", onLeave);
      clearTimeout(timer);
      if (sent !== undefined && sent !== "null") {
        sendCursor(topology, null).catch(() => undefined);
      }
    };
  }, [topology, sends, watched]);
}
