import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { canRun, commandContext } from "../commands/command";
import { commandById } from "../commands/registry";
import { Keys } from "../ui";
import { phrase, t } from "../ui/i18n";
import { Section } from "./Section";

const GROUPS = [
  {
    title: phrase("Arrange"),
    ids: [
      "align-left",
      "align-centre",
      "align-right",
      "align-top",
      "align-middle",
      "align-bottom",
      "distribute-x",
      "distribute-y",
      "auto-layout",
      "group",
      "ungroup",
      "leave-group",
      "fold-group",
    ],
  },
  {
    title: phrase("Edit"),
    ids: ["connect", "duplicate", "copy", "zoom-selection", "delete-and-reconnect", "delete"],
  },
] as const;

/** The commands for several selected nodes, below the form of what they are together. */
export function ManyForm(props: { count: number; heading?: string; children?: ReactNode }) {
  const { children, count, heading } = props;
  const context = commandContext();
  return (
    <div className="inspector-body m-scroll">
      <h2 className="inspector-heading">
        {heading ?? t("{n} nodes selected", { n: count })}
        {heading === undefined ? null : (
          <small className="m-muted">
            {t("{n} {n, plural, one {node} other {nodes}}", { n: count })}
          </small>
        )}
      </h2>
      {children}
      {GROUPS.map((group) => (
        <Section key={group.ids[0]} title={t(group.title)}>
          <div className="command-list">
            {group.ids.map((id) => {
              const command = commandById(id);
              if (command === undefined || !canRun(command, context)) return null;
              const keys = command.shortcuts?.[0];
              return (
                <Button
                  key={id}
                  variant="subtle"
                  color="gray"
                  justify="space-between"
                  fullWidth
                  rightSection={keys === undefined ? null : <Keys keys={keys} />}
                  onClick={() => void command.run(commandContext())}
                >
                  {command.title()}
                </Button>
              );
            })}
          </div>
        </Section>
      ))}
    </div>
  );
}
