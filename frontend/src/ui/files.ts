/** Downloads to the person's disk. */

/** Offers text or bytes as a download. */
export function save(name: string, content: string | Blob, type = "text/plain"): void {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name.replace(/[\\/:*?"<>|]+/g, "-");
  link.click();
  // By then, the download has its own handle on the data.
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}
