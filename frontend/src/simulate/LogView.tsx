import { findNode, labelOf } from "../graph/document";
import { Empty } from "../ui";
import { t } from "../ui/i18n";
import classes from "./simulate.module.css";
import { type Shown, useSimulation } from "./store";

/** Lines that nodes printed, in order; a click on the number of the input shows its step. */
export function LogView({ shown }: { shown: Shown | null }) {
  const lines = shown?.result.logs ?? [];
  if (shown === null || lines.length === 0)
    return (
      <Empty title={t("Log")}>
        {t({
          id: "simulate.what_processors_print_and_nodes",
          message:
            "What processors print, and the nodes peek and print, is listed here after a run.",
        })}
      </Empty>
    );
  const { document, result } = shown;
  const stepOf = (after: number, node: string | null) =>
    result.steps.findIndex((step) => step.after === after && step.node === node);
  const show = (after: number, node: string | null) => {
    useSimulation.getState().setView("steps");
    useSimulation.getState().goTo(Math.max(0, stepOf(after, node)));
  };
  return (
    <div className={`ui-scroll m-scroll`} data-testid="simulation-log">
      <table className={classes.table}>
        <thead>
          <tr>
            <th className={classes.right}>{t("Input")}</th>
            <th>{t("Node")}</th>
            <th>{t("Message")}</th>
          </tr>
        </thead>
        <tbody>
          {lines.map(({ after, level, message, node }, index) => {
            const found = node === null ? undefined : findNode(document, node);
            return (
              <tr key={index} data-level={level}>
                <td className={`${classes.right} m-figures`}>
                  {after === 0 ? null : (
                    <button
                      type="button"
                      className={classes.link}
                      onClick={() => show(after, node)}
                    >
                      {after}
                    </button>
                  )}
                </td>
                <td>{found === undefined ? node : labelOf(found)}</td>
                <td className={`${classes.message} m-mono`}>{message}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
