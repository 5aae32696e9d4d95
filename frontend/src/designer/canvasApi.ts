/** Operations of the mounted canvas that commands use. The canvas sets them while it is mounted. */

import type { Position } from "../graph/document";

export interface CanvasApi {
  /** Brings nodes into view, by default all of them. */
  fit(nodes?: readonly string[]): void;
  zoomBy(factor: number): void;
  zoomTo(level: number): void;
  /** Brings the middle of a node into view if it is outside; keeps the zoom. */
  reveal(node: string): void;
  /** Brings all of a node, or of the frame of an opened fragment, into view if a part of it is outside. */
  contain(node: string): void;
  /** Moves the keyboard focus to a node, so that screen readers announce it. */
  focusNode(node: string): void;
  /** Converts a position on the screen to one in the document. */
  toDocument(screen: { x: number; y: number }): Position;
  /** The pointer's position in the document; null if it is not over the canvas. */
  pointer(): Position | null;
  /** The middle of the visible part of the document. */
  centre(): Position;
  /** Animates nodes to new positions; resolves when they have arrived. */
  glide(positions: ReadonlyMap<string, Position>): Promise<void>;
  /** Opens the list of kinds, by default in the middle of the screen. */
  openAddMenu(request?: AddRequest): void;
  element(): HTMLElement;
}

/** A request for a new node: its position, and the port or edge to connect it to. */
export interface AddRequest {
  readonly screen?: { readonly x: number; readonly y: number };
  readonly from?: { readonly node: string; readonly port: string };
  readonly to?: { readonly node: string; readonly port: string };
  readonly edge?: string;
}

let current: CanvasApi | null = null;

export function setCanvas(api: CanvasApi | null) {
  current = api;
}

export function canvas(): CanvasApi | null {
  return current;
}
