import { Button } from "@mantine/core";
import { useMemo } from "react";
import { useDesigner } from "../designer/store";
import { isStoreKind } from "../graph/document";
import { t } from "../ui/i18n";
import { lookInto } from "./chosen";
import classes from "./stores.module.css";
import { useStores } from "./useStores";

/** Buttons that open the stores of a node: its own, and those of store nodes that hang below it. */
export function StoreLinks({ node }: { node: string }) {
  const document = useDesigner((state) => state.document);
  const { data } = useStores();
  const shown = useMemo(() => {
    const stores = new Set(document.nodes.filter((n) => isStoreKind(n.kind)).map((n) => n.id));
    const below = document.edges.filter((edge) => edge.target === node).map((edge) => edge.source);
    const wanted = new Set([node, ...below.filter((id) => stores.has(id))]);
    return (data?.stores ?? []).filter((store) => wanted.has(store.id));
  }, [data, document, node]);
  if (shown.length === 0) return null;
  return (
    <div className={classes.links}>
      {shown.map((store) => (
        <Button
          key={store.id}
          variant="default"
          onClick={() => lookInto(store.id)}
          data-testid="look-into"
        >
          {t("Show the rows of {store}", { store: store.name })}
        </Button>
      ))}
    </div>
  );
}
