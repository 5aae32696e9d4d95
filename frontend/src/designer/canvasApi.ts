/** What commands may ask of the canvas on the screen. The canvas sets it while it is mounted. */

import type { Position } from "../graph/document";

export interface CanvasApi {
  /** Brings nodes into view, all of them if none are named. */
  fit(nodes?: readonly string[]): void;
  zoomBy(factor: number): void;
  zoomTo(level: number): void;
  /** Brings the middle of a node into view if it is outside; keeps the zoom. */
  reveal(node: string): void;
  /** Gives a node the keyboard focus, so that it is read out. */
  focusNode(node: string): void;
  /** A place on the screen as a place in the document. */
  toDocument(screen: { x: number; y: number }): Position;
  /** Where the pointer is on the drawing; null if it is elsewhere. */
  pointer(): Position | null;
  /** The middle of what is in view. */
  centre(): Position;
  /** Moves nodes on the screen to new places; resolves when they are there. */
  glide(positions: ReadonlyMap<string, Position>): Promise<void>;
  /** Opens the list of kinds at a place on the screen, the middle if left out. */
  openAddMenu(request?: AddRequest): void;
  element(): HTMLElement;
}

/** A request for a new node: where, and the edge to connect it to. */
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
