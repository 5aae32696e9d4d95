import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { Head } from "../frame/ListFrame";
import { ago } from "../ui/format";
import { t } from "../ui/i18n";
import pages from "../ui/pages.module.css";
import { listMentions } from "./calls";
import classes from "./comments.module.css";

const SHOWN = 5;

/** Open comments of the workspace that mention the signed-in person; nothing if there are none. */
export function Mentions({ ws }: { ws: string }) {
  const { data } = useQuery({
    queryKey: ["mentions", ws],
    queryFn: () => listMentions(ws, { page_size: SHOWN }),
  });
  if (data === undefined || data.count === 0) return null;
  return (
    <section className={classes.mentions} data-testid="mentions">
      <Head title={t("Comments that mention you")} count={data.count} />
      <ul className={classes.list}>
        {data.results.map((each) => (
          <li key={each.id} className={classes.mentioned}>
            <Link
              to={`/w/${ws}/t/${each.topology}?comments=${encodeURIComponent(each.node)}`}
              className={pages.link}
            >
              {each.topology_name} · {each.node_label || each.node}
            </Link>
            <span className="m-cut">{each.text}</span>
            <span className={classes.faint}>
              {each.author} · {ago(each.created_at)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
