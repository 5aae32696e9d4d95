/** Fields for topics: the cluster's ones are offered with their partitions and their latest record. */

import { Autocomplete, TagsInput } from "@mantine/core";
import { type ReactNode, Suspense } from "react";
import { t } from "../../ui/i18n";
import { later } from "../../ui/later";
import { useTopics } from "../useTopics";
import { useField } from "./simple";
import { asList, asText, type WidgetProps } from "./widget";

const TopicOption = later(async () => (await import("../TopicOption")).TopicOption);

function option({ option: { value } }: { option: { value: string } }): ReactNode {
  return (
    <Suspense fallback={value}>
      <TopicOption topic={value} />
    </Suspense>
  );
}

/** Says that only the topics of the document are offered. */
function Unreachable() {
  return (
    <p className="field-problem" data-severity="warning">
      {t({
        id: "inspector.cluster_does_not_respond",
        message: "The Kafka cluster does not respond: topics that exist are not offered.",
      })}
    </p>
  );
}

export function TopicWidget(props: WidgetProps) {
  const { onChange, value } = props;
  const { topics, unreachable } = useTopics();
  return (
    <>
      <Autocomplete
        {...useField(props)}
        data={topics}
        limit={50}
        placeholder={t("Topic")}
        spellCheck={false}
        maxDropdownHeight={260}
        renderOption={option}
        onChange={(text) => {
          if (text !== asText(value)) onChange(text === "" ? undefined : text);
        }}
      />
      {unreachable ? <Unreachable /> : null}
    </>
  );
}

export function TopicsWidget(props: WidgetProps) {
  const { onChange, value } = props;
  const { topics, unreachable } = useTopics();
  const chosen = asList(value).map(asText);
  return (
    <>
      <TagsInput
        {...useField(props)}
        value={typeof value === "string" && value !== "" ? [value] : chosen}
        data={topics}
        limit={50}
        placeholder={chosen.length === 0 ? t("Topics") : ""}
        maxDropdownHeight={260}
        renderOption={option}
        acceptValueOnBlur
        splitChars={[",", " ", ";"]}
        onChange={(names) => onChange(names.length === 0 ? undefined : names)}
      />
      {unreachable ? <Unreachable /> : null}
    </>
  );
}
