/** Parts of the page that are fetched when they are needed, and a server that may be away then. */

const RETRY_MS = 2_000;

/** Whether the server answers, with a file that it always has. */
async function reachable(): Promise<boolean> {
  try {
    return (await fetch("/mark.svg", { method: "HEAD", cache: "no-store" })).ok;
  } catch {
    return false;
  }
}

/** Resolves once the server answers. */
export async function whenReachable(): Promise<void> {
  while (!(await reachable())) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
}

/** Fetches a part of the page, as soon as the server can be reached. Rejects if the server no longer has it. */
export async function patiently<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load();
  } catch (error) {
    if (await reachable()) throw error;
    await whenReachable();
    return load();
  }
}
