import { Button } from "@mantine/core";
import { useDesigner } from "../designer/store";
import { parametersOf } from "../graph/parameters";
import { t } from "../ui/i18n";
import { openParameters } from "../versions/editing";
import { Section } from "./Section";
import { asText } from "./widgets/widget";

/** The parameters of the topology with their defaults, and the way to edit them. */
export function TopologyParameters() {
  const document = useDesigner((state) => state.document);
  const readOnly = useDesigner((state) => state.readOnly);
  const parameters = parametersOf(document);
  if (readOnly && parameters.length === 0) return null;
  return (
    <Section title={t("Parameters")}>
      <p className="inspector-hint">
        {t({
          id: "inspector.values_that_differ_between",
          message:
            "Values that differ between environments, such as names of topics and thresholds.",
        })}
      </p>
      {parameters.map(([name, each]) => (
        <div className="topic-row" key={name} data-testid={`parameter-${name}`}>
          <span className="m-cut m-mono" title={each.description ?? name}>
            {name}
          </span>
          <span className="m-cut m-muted" title={asText(each.default)}>
            {asText(each.default)}
          </span>
        </div>
      ))}
      <Button variant="default" onClick={() => openParameters(true)} data-testid="edit-parameters">
        {readOnly ? t("Show values…") : t("Edit parameters…")}
      </Button>
    </Section>
  );
}
