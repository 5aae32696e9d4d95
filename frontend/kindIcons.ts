import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const MODULE = "virtual:kind-icons";
export const CATALOGUE_FILE = fileURLToPath(
  new URL("../compiler/millrace_compiler/catalog.json", import.meta.url),
);

/** `arrow-merge` -> `IconArrowMerge`, the name of the component in @tabler/icons-react. */
export function iconComponent(name: string): string {
  const words = name.split("-").filter((word) => word !== "");
  return `Icon${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("")}`;
}

/** The names of the icons that the kinds of a catalogue ask for, each once, sorted. */
export function iconNames(catalogue: { kinds: { icon: string }[] }): string[] {
  return [...new Set(catalogue.kinds.map((kind) => kind.icon))].sort();
}

/**
 * Makes the module `virtual:kind-icons`: a table from the icon names of the catalogue to their
 * components. The catalogue decides which icons are in the bundle; no list is kept by hand, and an
 * icon that does not exist fails the build.
 */
export function kindIcons(): Plugin {
  return {
    name: "millrace-kind-icons",
    resolveId: (id) => (id === MODULE ? `\0${MODULE}` : null),
    load(id) {
      if (id !== `\0${MODULE}`) return null;
      this.addWatchFile(CATALOGUE_FILE);
      const names = iconNames(JSON.parse(readFileSync(CATALOGUE_FILE, "utf8")));
      const imports = names.map((name) => {
        const component = iconComponent(name);
        return `import ${component} from "@tabler/icons-react/dist/esm/icons/${component}.mjs";`;
      });
      const rows = names.map((name) => `  ${JSON.stringify(name)}: ${iconComponent(name)},`);
      return `${imports.join("\n")}\nexport const kindIcons = {\n${rows.join("\n")}\n};\n`;
    },
  };
}
