import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Plugin } from "vite";

const MODULE = "virtual:kind-icons";
export const CATALOG_FILE = join(
  import.meta.dirname,
  "../compiler/millrace_compiler/catalog/catalog.json",
);

/** `arrow-merge` -> `IconArrowMerge`, the name of the component in @tabler/icons-react. */
function iconComponent(name: string): string {
  const words = name.split("-").filter((word) => word !== "");
  return `Icon${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("")}`;
}

/** Icons of fragments and their ports, which the catalog does not have. */
const FRAGMENTS = ["login-2", "logout-2", "puzzle"];

/** The names of the icons that the kinds of a catalog ask for, each once, sorted. */
export function iconNames(catalog: {
  readonly kinds: readonly { readonly icon: string }[];
}): string[] {
  return [...new Set([...catalog.kinds.map((kind) => kind.icon), ...FRAGMENTS])].sort();
}

const ICONS = join(
  dirname(createRequire(import.meta.url).resolve("@tabler/icons-react/package.json")),
  "dist/esm/icons",
);

/** Whether the icon set has an icon of this name. */
export function iconExists(name: string): boolean {
  return existsSync(join(ICONS, `${iconComponent(name)}.mjs`));
}

/**
 * Makes the module `virtual:kind-icons`: a table from the icon names of the catalog to their
 * components. The catalog decides which icons are in the bundle; no list is kept by hand. A name
 * that the icon set does not have is reported and drawn as a plain square.
 */
export function kindIcons(): Plugin {
  return {
    name: "millrace-kind-icons",
    resolveId: (id) => (id === MODULE ? `\0${MODULE}` : null),
    load(id) {
      if (id !== `\0${MODULE}`) return null;
      this.addWatchFile(CATALOG_FILE);
      const all = iconNames(JSON.parse(readFileSync(CATALOG_FILE, "utf8")));
      const names = all.filter(iconExists);
      for (const name of all) if (!iconExists(name)) this.warn(`There is no icon “${name}”.`);
      const imports = names.map((name) => {
        const component = iconComponent(name);
        return `import ${component} from "@tabler/icons-react/dist/esm/icons/${component}.mjs";`;
      });
      const rows = names.map((name) => `  ${JSON.stringify(name)}: ${iconComponent(name)},`);
      return `${imports.join("\n")}\nexport const kindIcons = {\n${rows.join("\n")}\n};\n`;
    },
  };
}
