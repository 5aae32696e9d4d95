/** Loading chunks of the page from a server that may be temporarily unreachable. */

const RETRY_MS = 2_000;

/** Whether the server responds, tested with a file that always exists. */
async function reachable(): Promise<boolean> {
  try {
    return (await fetch("/mark.svg", { method: "HEAD", cache: "no-store" })).ok;
  } catch {
    return false;
  }
}

/** Resolves once the server responds. */
export async function whenReachable(): Promise<void> {
  while (!(await reachable())) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
}

/** Loads a chunk, waiting until the server is reachable. Rejects if the server no longer has the chunk. */
export async function patiently<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load();
  } catch (error) {
    if (await reachable()) throw error;
    await whenReachable();
    return load();
  }
}
