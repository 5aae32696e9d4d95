import { readFileSync } from "node:fs";
import type { Plugin } from "vite";
import { CATALOGUE_FILE } from "./kindIcons.ts";

/** Serves the compiler's catalogue at its API address when the page is developed without a backend. */
export function devCatalogue(on: boolean): Plugin {
  return {
    name: "millrace-dev-catalogue",
    apply: "serve",
    configureServer(server) {
      if (!on) return;
      server.middlewares.use("/api/catalog", (_request, response) => {
        response.setHeader("Content-Type", "application/json");
        response.end(readFileSync(CATALOGUE_FILE));
      });
    },
  };
}
