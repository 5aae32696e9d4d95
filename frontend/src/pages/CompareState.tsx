import { useQuery } from "@tanstack/react-query";
import { compareState } from "../api/compileCalls";
import { reasonText, VERDICTS } from "../deployments/verdicts";
import { Waiting } from "../frame/Waiting";
import type { TopologyDocument } from "../graph/document";
import { Empty, Note } from "../ui";
import { t } from "../ui/i18n";

/** What happens to each store when the right version replaces the left one. */
export function CompareState(props: {
  ws: string;
  left: TopologyDocument;
  right: TopologyDocument;
}) {
  const { left, right, ws } = props;
  const change = useQuery({
    queryKey: ["compare-state", ws, left, right],
    queryFn: () => compareState(ws, left, right),
    staleTime: 0,
  });
  if (change.data === undefined) return <Waiting query={change} />;
  if (change.data === null)
    return <Empty title={t("State")}>{t("This version does not compile.")}</Empty>;
  const { accepted, sources, stores } = change.data;
  const topics = sources.filter(({ verdict }) => verdict !== "continues");
  return (
    <div className="ui-scroll m-scroll" data-testid="compare-state">
      <Note tone={accepted ? "neutral" : "degraded"}>
        {accepted ? t("No state is lost.") : t("A deploy asks what to do with rows that are lost.")}
      </Note>
      <table className="ui-table">
        <thead>
          <tr>
            <th>{t("Store")}</th>
            <th>{t("What happens to it")}</th>
            <th>{t("Why")}</th>
          </tr>
        </thead>
        <tbody>
          {stores.map(({ id, reasons, verdict }) => (
            <tr key={id} data-verdict={verdict}>
              <td className="m-mono">{id}</td>
              <td>{t(VERDICTS[verdict])}</td>
              <td>{reasons.map(reasonText).join(" ")}</td>
            </tr>
          ))}
          {topics.map(({ topic, verdict }) => (
            <tr key={topic} data-verdict={verdict}>
              <td className="m-mono">{topic}</td>
              <td colSpan={2}>
                {verdict === "new"
                  ? t("This topic is now read.")
                  : t("This topic is no longer read.")}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
