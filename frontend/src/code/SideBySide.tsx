import { MergeView } from "@codemirror/merge";
import { useEffect, useRef } from "react";
import { t } from "../ui/i18n";
import { comparing, reading } from "./editor";
import classes from "./merge.module.css";

/** Two texts side by side, with what differs marked and what does not folded. */
export function SideBySide(props: { left: string; right: string; path: string }) {
  const host = useRef<HTMLDivElement>(null);
  const { left, right, path } = props;
  useEffect(() => {
    if (host.current === null) return;
    const view = new MergeView({
      a: { doc: left, extensions: [reading(path), comparing(t("Left side"))] },
      b: { doc: right, extensions: [reading(path), comparing(t("Right side"))] },
      parent: host.current,
      gutter: true,
      collapseUnchanged: { margin: 4, minSize: 8 },
    });
    return () => view.destroy();
  }, [left, right, path]);
  return <div className={`${classes.merge} m-scroll`} ref={host} />;
}
