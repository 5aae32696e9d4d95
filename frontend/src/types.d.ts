declare module "virtual:kind-icons" {
  import type { Icon } from "@tabler/icons-react";

  /** The icons that the catalog uses, by their Tabler names. */
  export const kindIcons: Readonly<Record<string, Icon>>;
}

declare module "@tabler/icons-react/dist/esm/icons/*.mjs" {
  import type { Icon } from "@tabler/icons-react";

  const icon: Icon;
  export default icon;
}
