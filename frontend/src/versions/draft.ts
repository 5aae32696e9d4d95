/** Saves the private draft on the server automatically. */

import type { TopologyDocument } from "../graph/document";

export type DraftState = "saved" | "pending" | "saving" | "failed" | "conflict";

/** Thrown by `put` if another window has written a newer draft: the person has to choose one. */
export class DraftCollision extends Error {}

interface DraftKeeperOptions {
  put(document: TopologyDocument): Promise<unknown>;
  onState(state: DraftState): void;
  /** Called with the document that the server does not have yet, for local storage; null once it has everything. */
  onUnsent?(document: TopologyDocument | null): void;
  /** Quiet time after the last change before the draft is sent, milliseconds. */
  delay?: number;
}

/**
 * Sends the latest document after a pause in the changes, one request at a time. A failed request is retried after
 * 1, 2, 4 … 30 s until it succeeds or a newer document replaces it, and on `retry`. After a collision, nothing is sent until `resume`.
 */
export class DraftKeeper {
  private readonly delay: number;
  private waiting: TopologyDocument | null = null;
  private sending: Promise<void> | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private failures = 0;
  private collided = false;
  private closed = false;

  constructor(private readonly options: DraftKeeperOptions) {
    this.delay = options.delay ?? 700;
  }

  /** Schedules a changed document to be sent. */
  changed(document: TopologyDocument): void {
    if (this.closed) return;
    this.waiting = document;
    this.options.onUnsent?.(document);
    if (this.collided) return;
    this.options.onState("pending");
    this.schedule(this.delay);
  }

  /** Continues sending after a collision, once the person has chosen a draft. */
  resume(): void {
    this.collided = false;
    if (this.waiting !== null) this.schedule(0);
  }

  /** Discards unsent changes, because a version was saved or the draft was discarded. */
  forget(): void {
    this.waiting = null;
    this.collided = false;
    clearTimeout(this.timer);
    this.options.onState("saved");
    this.options.onUnsent?.(null);
  }

  /** Sends at once what failed before, because the server responds again. */
  retry(): void {
    if (this.failures > 0 && this.waiting !== null && !this.collided) this.schedule(0);
  }

  /** Sends unsent changes at once; resolves when they have been sent or have failed. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    if (this.sending !== null) await this.sending;
    if (this.waiting !== null && !this.collided) await this.send();
  }

  get dirty(): boolean {
    return this.waiting !== null || this.sending !== null;
  }

  /** Closes the keeper; resolves when unsent changes have been sent or have failed. */
  close(): Promise<void> {
    return this.flush().finally(() => {
      this.closed = true;
      clearTimeout(this.timer);
    });
  }

  private schedule(wait: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.sending === null) void this.send();
    }, wait);
  }

  private send(): Promise<void> {
    const document = this.waiting;
    if (document === null) return Promise.resolve();
    this.waiting = null;
    this.options.onState("saving");
    this.sending = this.options
      .put(document)
      .then(
        () => {
          this.failures = 0;
          if (this.waiting !== null) return;
          this.options.onState("saved");
          this.options.onUnsent?.(null);
        },
        (error: unknown) => {
          this.waiting ??= document;
          this.collided = error instanceof DraftCollision;
          this.failures += this.collided ? 0 : 1;
          this.options.onState(this.collided ? "conflict" : "failed");
        },
      )
      .finally(() => {
        this.sending = null;
        if (this.waiting === null || this.closed || this.collided) return;
        const wait = this.failures === 0 ? this.delay : 1_000 * 2 ** Math.min(this.failures - 1, 5);
        this.schedule(Math.min(wait, 30_000));
      });
    return this.sending;
  }
}
