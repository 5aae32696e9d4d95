import { kindIcons } from "virtual:kind-icons";
import IconSquare from "@tabler/icons-react/dist/esm/icons/IconSquareDashed.mjs";

/** The icon of a kind, by the name the catalog gives it. */
export function KindIcon(props: { name: string | undefined; size?: number; className?: string }) {
  const Shape = (props.name === undefined ? undefined : kindIcons[props.name]) ?? IconSquare;
  return (
    <Shape size={props.size ?? 16} stroke={1.5} className={props.className} aria-hidden="true" />
  );
}
