import { readFileSync } from "node:fs";
import type { Plugin } from "vite";
import { CATALOG_FILE } from "./kindIcons.ts";

/** Serves the compiler's catalog at its API address when the page is developed without a backend. */
export function devCatalog(on: boolean): Plugin {
  return {
    name: "millrace-dev-catalog",
    apply: "serve",
    configureServer(server) {
      if (!on) return;
      server.middlewares.use("/api/catalog", (_request, response) => {
        response.setHeader("Content-Type", "application/json");
        response.end(readFileSync(CATALOG_FILE));
      });
    },
  };
}
