import { Button, Select } from "@mantine/core";
import type { DeploymentSettings } from "../api/types";
import { useDialect, usePlain } from "../code/dialect";
import { useServices } from "../designer/servicesContext";
import { useView } from "../designer/view";
import { DIALECTS, isPlain, withDialect } from "../live/dialect";
import { Note } from "../ui";
import { t } from "../ui/i18n";
import classes from "./deployments.module.css";

/** The dialect to run and, for plain PySpark, the compiler's diagnostics. */
export function DialectField(props: {
  values: DeploymentSettings;
  onChange: (values: DeploymentSettings) => void;
}) {
  const plain = isPlain(props.values);
  return (
    <div>
      <Select
        label={t("Code")}
        description={
          plain
            ? t({
                id: "deployments.ordinary_structured_streaming_in_micro",
                message:
                  "Ordinary Structured Streaming, in micro-batches. Another start position needs empty stores.",
              })
            : t("Gives the results of Kafka Streams.")
        }
        value={plain ? "plain" : "exact"}
        onChange={(value) => props.onChange(withDialect(props.values, value))}
        data={DIALECTS.map((each) => ({ ...each, label: t(each.label) }))}
        comboboxProps={{ withinPortal: false }}
        allowDeselect={false}
        data-testid="dialect"
      />
      {plain ? <Differences /> : null}
    </div>
  );
}

function Differences() {
  usePlain(useServices(), true);
  const result = useDialect((state) => state.plain);
  if (result === null) return <p className={classes.cardLine}>{t("Compiling…")}</p>;
  const refused = result.code === null;
  const differences = result.diagnostics.filter((each) => each.severity === "difference");
  return (
    <>
      {refused ? <Note tone="degraded">{t("Not possible in plain Spark")}</Note> : null}
      <Button
        variant="subtle"
        size="compact-sm"
        px={0}
        onClick={() => {
          useDialect.getState().choose("plain");
          useView.getState().openBottom("code");
        }}
        data-testid="dialect-differences"
      >
        {refused
          ? t("Show the reasons")
          : t(
              {
                id: "common.differences_from_kafka_streams",
                message: "{n} {n, plural, one {difference} other {differences}} from Kafka Streams",
              },
              { n: differences.length },
            )}
      </Button>
    </>
  );
}
