import IconBell from "@tabler/icons-react/dist/esm/icons/IconBell.mjs";
import { Link } from "react-router";
import { t } from "../ui/i18n";
import classes from "./frame.module.css";
import { useFiring } from "./useFiring";

/** The number of firing alerts in the designer's top bar; nothing if none fires. */
export function AlertMark({ ws }: { ws: string }) {
  const firing = useFiring(ws) ?? 0;
  if (firing === 0) return null;
  const title = t("{n} {n, plural, one {alert fires} other {alerts fire}}", { n: firing });
  return (
    <Link
      to={`/w/${ws}/alerts`}
      className={classes.alertMark}
      title={title}
      data-testid="alert-mark"
    >
      <IconBell size={16} stroke={1.5} aria-hidden />
      <span aria-hidden>{firing}</span>
      <span className="m-hidden">{title}</span>
    </Link>
  );
}

/** The number of firing alerts, beside the word *Alerts* in the shell. */
export function AlertCount({ ws }: { ws: string }) {
  const firing = useFiring(ws) ?? 0;
  if (firing === 0) return null;
  return (
    <span
      className={classes.alertCount}
      title={t("{n} {n, plural, one {alert fires} other {alerts fire}}", { n: firing })}
      data-testid="alert-count"
    >
      {firing}
    </span>
  );
}
