/** Files that come from and go to the reader's disk. */

/** Offers text or bytes as a download. */
export function save(name: string, content: string | Blob, type = "text/plain"): void {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name.replace(/[\\/:*?"<>|]+/g, "-");
  link.click();
  // The download has its own handle by the next turn of the event loop.
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}
