import { useSearchParams } from "react-router";
import { dotOf, wordOf } from "../live/states";
import { useLive } from "../live/store";
import { StateDot } from "../ui";
import { t } from "../ui/i18n";
import { environmentOf, inOrder, nameOf } from "./environments";
import classes from "./environments.module.css";

/** The deployments of the topology by environment; a click shows another one. */
export function Environments() {
  const deployments = useLive((state) => state.deployments);
  const shown = useLive((state) => state.deployment?.id);
  const show = useLive((state) => state.show);
  const [, setSearch] = useSearchParams();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields of a form
    <div
      role="group"
      aria-label={t("Environments")}
      className={classes.switch}
      data-testid="environments"
    >
      {inOrder(deployments, environmentOf).map((row) => (
        <button
          key={row.id}
          type="button"
          className={classes.one}
          aria-pressed={row.id === shown}
          title={`${wordOf(row.observed)} · ${t("v{n}", { n: row.version })}`}
          onClick={() => {
            show(row.id);
            setSearch(
              (search) => {
                search.set("deployment", String(row.id));
                return search;
              },
              { replace: true },
            );
          }}
        >
          <StateDot state={dotOf(row.observed)} />
          {nameOf(environmentOf(row))}
          <span className="m-hidden">{wordOf(row.observed)}</span>
        </button>
      ))}
    </div>
  );
}
