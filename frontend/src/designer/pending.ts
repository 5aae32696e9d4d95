/** What has been typed in the program and is not on the canvas yet: the newest entry of the undo history. */

interface Pending {
  /** Undoes the last of it; false if there is nothing. */
  undo(): boolean;
  redo(): boolean;
  canUndo(): boolean;
  canRedo(): boolean;
  /** Shows the program of the canvas instead; undo brings the text back. */
  discard(): void;
}

let pending: Pending | null = null;

export function setPending(now: Pending | null): void {
  pending = now;
}

export function pendingText(): Pending | null {
  return pending;
}
