import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import type { Fragment } from "../api/types";
import { canvas } from "../designer/canvasApi";
import { useServices } from "../designer/servicesContext";
import { useDesigner } from "../designer/store";
import { addFragment } from "../graph/fragmentChanges";
import { freePlace, NODE_HEIGHT, NODE_WIDTH } from "../graph/geometry";
import { t } from "../ui/i18n";
import { KindIcon } from "../ui/KindIcon";

/** The fragments of the workspace: a click adds a node, the arrow opens the fragment. */
export function Fragments({ query }: { query: string }) {
  const services = useServices();
  const readOnly = useDesigner((state) => state.readOnly);
  const own = useDesigner((state) => state.topologyId);
  const found = useQuery({
    queryKey: ["fragments", "palette", query],
    queryFn: () => services.fragments(query),
    staleTime: 5_000,
  }).data;
  const shown = (found ?? []).filter((each) => each.id !== own && each.latest_version !== null);
  if (shown.length === 0) return null;

  const add = async (each: Fragment) => {
    const version = each.latest_version ?? 1;
    const fragment = await services.fragment(each.id, version);
    const { catalog, change } = useDesigner.getState();
    if (catalog === null) return;
    const centre = canvas()?.centre() ?? { x: 0, y: 0 };
    const size = { width: NODE_WIDTH, height: NODE_HEIGHT };
    const wanted = { x: centre.x - size.width / 2, y: centre.y - size.height / 2 };
    let made = "";
    change(t("Add {title}", { title: each.name }), (now) => {
      const place = freePlace(now, catalog, wanted, size);
      const added = addFragment(now, `${each.name}@${version}`, fragment, each.name, place);
      made = added.id;
      return added.document;
    });
    useDesigner.getState().select({ nodes: [made] });
    requestAnimationFrame(() => canvas()?.reveal(made));
  };

  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for form fields
    <div role="group" aria-label={t("Fragments")}>
      <h2 className="side-title">{t("Fragments")}</h2>
      {shown.map((each) => (
        <div key={each.id} className="palette-fragment">
          <button
            type="button"
            className="palette-entry"
            data-hue="fragment"
            disabled={readOnly}
            title={each.description}
            aria-label={t("Add {title}", { title: each.name })}
            data-testid={`fragment-${each.name}`}
            onClick={() => void add(each)}
          >
            <i className="palette-stripe" />
            <KindIcon name="puzzle" size={16} className="kind-icon" />
            <span className="m-cut">{each.name}</span>
          </button>
          <Link
            to={services.topologyAddress(each.id)}
            className="palette-open"
            aria-label={t("Open the fragment {name}", { name: each.name })}
            title={t("Used by {n} {n, plural, one {topology} other {topologies}}", {
              n: each.users,
            })}
          >
            v{each.latest_version}
          </Link>
        </div>
      ))}
    </div>
  );
}
