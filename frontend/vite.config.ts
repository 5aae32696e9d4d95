import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { compressed } from "./compressed.ts";
import { devCatalog } from "./devCatalog.ts";
import { kindIcons } from "./kindIcons.ts";

/** Where the API is while the page is developed; `MILLRACE_API=none` runs the page without one. */
const api = process.env.MILLRACE_API ?? "http://127.0.0.1:8000";

/** The document and the state of the designer, which all its panels share. */
const STATE = /frontend\/src\/(api|designer|graph)\/(?!zh\.ts)/;
/** What several panels share that opens later than the page. */
const TOOLS = /frontend\/src\/(simulate|topics|generate|stores)\/(?!zh\.ts)/;
/** What at least three parts share, except what brings the editor of code (CodeMirror) with it. */
const SHARED = /frontend\/src\/(?!ui\/zh|\w+\/zh\.ts|code|simulate|topics|generate|stores)/;

export default defineConfig({
  plugins: [react(), kindIcons(), devCatalog(api === "none"), compressed()],
  server: {
    host: "127.0.0.1",
    ...(api === "none" ? {} : { proxy: { "/api": { target: api } } }),
  },
  build: {
    target: "es2022",
    sourcemap: false,
    chunkSizeWarningLimit: 1600,
    rolldownOptions: {
      output: {
        // Fewer files compress better and cost fewer headers: one with what every page needs, and one for each kind of
        // what at least three parts of the page share.
        codeSplitting: {
          groups: [
            { name: "start", tags: ["$initial"], priority: 3 },
            { name: "shared", test: SHARED, minShareCount: 3, priority: 2 },
            { name: "state", test: STATE, priority: 2 },
            { name: "tools", test: TOOLS, minShareCount: 3, priority: 1 },
          ],
        },
      },
    },
  },
  test: {
    restoreMocks: true,
    testTimeout: 20_000,
    // A document costs half a second for each file, so functions are tested without one; a file that needs one says so.
    projects: [
      {
        extends: true,
        test: { name: "functions", include: ["src/**/*.test.ts"], environment: "node" },
      },
      {
        extends: true,
        test: {
          name: "parts",
          include: ["src/**/*.test.tsx"],
          environment: "happy-dom",
          pool: "vmThreads",
          setupFiles: "src/testing/patience.ts",
        },
      },
    ],
  },
});
