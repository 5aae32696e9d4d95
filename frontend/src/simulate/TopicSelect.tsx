import { Select } from "@mantine/core";
import type { Source } from "./scenario";

/** Selects one of the topics that the sources read. */
export function TopicSelect(props: {
  label: string;
  sources: readonly Source[];
  value: string;
  onChange: (topic: string) => void;
}) {
  const { onChange, sources, ...others } = props;
  return (
    <Select
      data={[...new Set(sources.map((each) => each.topic))]}
      allowDeselect={false}
      onChange={(value) => onChange(value ?? props.value)}
      {...others}
    />
  );
}
