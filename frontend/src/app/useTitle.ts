import { useEffect } from "react";

/** Names the page in the title of its window. */
export function useTitle(name: string): void {
  useEffect(() => {
    document.title = `${name} · Millrace`;
  }, [name]);
}
