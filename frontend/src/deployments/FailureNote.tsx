import IconAlertCircle from "@tabler/icons-react/dist/esm/icons/IconAlertCircle.mjs";
import { Suspense, useState } from "react";
import { Link } from "react-router";
import { describeCause } from "../api/prose";
import type { Failure } from "../api/types";
import { useDesigner } from "../designer/store";
import { type Catalog, kindOf } from "../graph/catalog";
import { type DocumentNode, findNode, labelOf } from "../graph/document";
import { recordLink, recordText } from "../runtime/record";
import { Note } from "../ui";
import { t } from "../ui/i18n";
import { later } from "../ui/later";
import { useEditing } from "../versions/editing";
import classes from "./deployments.module.css";
import { FailureButton } from "./FailureButton";

const FailureActions = later(async () => (await import("./FailureActions")).FailureActions);

/** The error, its node and its record, with a link to the node. */
export function FailureNote({ failure }: { failure: Failure }) {
  const document = useDesigner((state) => state.document);
  const catalog = useDesigner((state) => state.catalog);
  const goTo = useDesigner((state) => state.goTo);
  const [all, setAll] = useState(false);
  const node = failure.node === null ? undefined : findNode(document, failure.node);
  const record = recordText(failure.record);
  const ws = useEditing((state) => state.ws);
  const link = recordLink(ws, failure.record);
  const text = describeCause(failure);
  const long = text.length > 240;
  return (
    <Note tone="failed" icon={<IconAlertCircle size={16} stroke={1.5} style={{ flex: "none" }} />}>
      <div className={classes.failure} data-testid="failure">
        <div className={classes.failureText}>
          {node === undefined ? null : (
            <strong>
              {failure.parameter === null
                ? t("At {node}", { node: labelOf(node) })
                : t("At {node}, {parameter}", {
                    node: labelOf(node),
                    parameter: titleOf(catalog, node, failure.parameter),
                  })}
            </strong>
          )}
          <span>{long && !all ? `${text.slice(0, 240)}…` : text}</span>
          {record === null ? null : <span className={classes.record}>{record}</span>}
        </div>
        <span className={classes.failureActions}>
          {node === undefined ? null : (
            <FailureButton
              onClick={() => goTo(node.id, failure.parameter)}
              data-testid="failure-node"
            >
              {t("Go to the node")}
            </FailureButton>
          )}
          {link === null ? null : (
            <FailureButton component={Link} to={link} data-testid="failure-record">
              {t("See the record")}
            </FailureButton>
          )}
          {link === null ? null : (
            <Suspense>
              <FailureActions failure={failure} />
            </Suspense>
          )}
          {long ? (
            <FailureButton onClick={() => setAll(!all)}>
              {all ? t("Less") : t("More")}
            </FailureButton>
          ) : null}
        </span>
      </div>
    </Note>
  );
}

/** The title of a parameter in its form. */
function titleOf(catalog: Catalog | null, node: DocumentNode, parameter: string): string {
  const kind = catalog === null ? undefined : kindOf(catalog, node.kind);
  return kind?.parameters.find((each) => each.name === parameter)?.title ?? parameter;
}
