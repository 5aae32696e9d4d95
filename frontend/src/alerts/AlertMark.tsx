import IconBell from "@tabler/icons-react/dist/esm/icons/IconBell.mjs";
import { Link } from "react-router";
import { t } from "../ui/i18n";
import classes from "./alerts.module.css";
import { useFiring } from "./useFiring";

/** In the bar of the designer: how many alerts fire; nothing where none does. */
export function AlertMark({ ws }: { ws: string }) {
  const firing = useFiring(ws) ?? 0;
  if (firing === 0) return null;
  const title = t("{n} {n|alert fires|alerts fire}", { n: firing });
  return (
    <Link to={`/w/${ws}/alerts`} className={classes.mark} title={title} data-testid="alert-mark">
      <IconBell size={16} stroke={1.5} aria-hidden />
      <span aria-hidden>{firing}</span>
      <span className="m-hidden">{title}</span>
    </Link>
  );
}

/** Beside the word *Alerts* of the shell. */
export function AlertCount({ ws }: { ws: string }) {
  const firing = useFiring(ws) ?? 0;
  if (firing === 0) return null;
  return (
    <span
      className={classes.count}
      title={t("{n} {n|alert fires|alerts fire}", { n: firing })}
      data-testid="alert-count"
    >
      {firing}
    </span>
  );
}
