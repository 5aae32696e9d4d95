import { useEffect } from "react";

/** Sets the title of the browser window. */
export function useTitle(name: string): void {
  useEffect(() => {
    document.title = `${name} · Millrace`;
  }, [name]);
}
