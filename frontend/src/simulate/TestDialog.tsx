import { Button, Switch, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { createTest, listTests, replaceTest } from "../api/compileCalls";
import type { NewTopologyTest, TopologyTest } from "../api/types";
import { useDesigner } from "../designer/store";
import { Note } from "../ui";
import { phrase, t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import { Conditions } from "./Conditions";
import {
  expectedOf,
  keyOf,
  type Part,
  partsOf,
  placesOf,
  typedOf,
  useChecked,
  withoutCondition,
} from "./conditions";
import classes from "./conditions.module.css";
import simulate from "./simulate.module.css";
import { failureOf, type Shown, useSimulation } from "./store";
import { testOf } from "./tests";

export function useTestList(topology: number) {
  return useQuery({ queryKey: ["tests", topology], queryFn: () => listTests(topology) });
}

const CANNOT_BE_KEPT = phrase({
  id: "simulate.last_run_stopped_with_error",
  message:
    "The last run stopped with an error, or has more outputs than are shown: it cannot be kept as a test.",
});

/** Saves the inputs and results as a new test or in place of an existing one. */
export function KeepDialog(props: {
  topology: number;
  ws: string;
  shown: Shown;
  onClose: () => void;
}) {
  const { onClose, shown, topology, ws } = props;
  const kept = useMemo(() => testOf("", shown), [shown]);
  if (kept === null)
    return (
      <Modal opened onClose={onClose} title={t("Keep as a test")} size={480}>
        <Note tone="failed">{t(CANNOT_BE_KEPT)}</Note>
      </Modal>
    );
  return <TestDialog topology={topology} ws={ws} kept={kept} onClose={onClose} />;
}

/** Changes the name of a test and what it expects. */
export function EditDialog(props: {
  topology: number;
  ws: string;
  test: TopologyTest;
  onClose: () => void;
}) {
  const { test, ...more } = props;
  return <TestDialog {...more} kept={test as NewTopologyTest} edited={test} />;
}

function TestDialog(props: {
  topology: number;
  ws: string;
  kept: NewTopologyTest;
  edited?: TopologyTest;
  onClose: () => void;
}) {
  const { edited, kept, onClose, topology, ws } = props;
  const { data } = useTestList(topology);
  const document = useDesigner((state) => state.document);
  const [name, setName] = useState(kept.name);
  const expected = kept.expected as TopologyTest["expected"];
  const parts = useMemo(() => partsOf(expected), [expected]);
  const [exact, setExact] = useState<ReadonlySet<string>>(() => new Set(parts.map(keyOf)));
  const [typed, setTyped] = useState(() => typedOf(expected));
  const places = useMemo(() => placesOf(document, parts), [document, parts]);
  const checked = useChecked(ws, typed);
  const queries = useQueryClient();
  const same = data?.results.find(
    (each) => each.name.toLowerCase() === name.trim().toLowerCase() && each.id !== edited?.id,
  );
  const silent = withoutCondition(parts, exact, typed);
  const faulty = typed.some(
    ({ id, predicate }) =>
      predicate.trim() === "" ||
      checked.get(id)?.diagnostics.some((each) => each.severity === "error"),
  );
  const nothing = exact.size === 0 && typed.length === 0;
  const keep = useMutation<unknown, Error>({
    mutationFn: () => {
      const test = {
        name: name.trim(),
        inputs: kept.inputs,
        expected: expectedOf(expected, exact, typed),
      } as NewTopologyTest;
      const replaced = edited ?? same;
      return replaced === undefined
        ? createTest(topology, test)
        : replaceTest(topology, replaced.id, test);
    },
    // The list is shown only once it contains the test, so that “Run all tests” includes it.
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["tests", topology] });
      useSimulation.getState().setView("tests");
      onClose();
    },
  });
  const ready = name.trim() !== "" && silent.length === 0 && !faulty && !nothing;
  return (
    <Modal
      opened
      onClose={onClose}
      title={edited === undefined ? t("Keep as a test") : t("Edit the test")}
      size={620}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (ready) keep.mutate();
        }}
      >
        <TextInput
          label={t("Name")}
          value={name}
          maxLength={150}
          onChange={(event) => setName(event.currentTarget.value)}
          data-autofocus
        />
        {parts.length === 0 ? null : (
          <>
            <h3 className={classes.section}>{t("Expected exactly")}</h3>
            <ul className={classes.exact}>
              {parts.map((part) => (
                <li key={keyOf(part)}>
                  <Switch
                    size="xs"
                    label={labelOfPart(part)}
                    checked={exact.has(keyOf(part))}
                    onChange={(event) => {
                      const next = new Set(exact);
                      if (event.currentTarget.checked) next.add(keyOf(part));
                      else next.delete(keyOf(part));
                      setExact(next);
                    }}
                  />
                </li>
              ))}
            </ul>
          </>
        )}
        <h3 className={classes.section}>{t("Expected by expression")}</h3>
        <Conditions places={places} typed={typed} checked={checked} onChange={setTyped} />
        {silent.length === 0 ? null : (
          <Note tone="degraded">
            {t(
              {
                id: "simulate.add_condition_for_or_expect",
                message: "Add a condition for {topics}, or expect these records exactly.",
              },
              {
                topics: silent.join(", "),
              },
            )}
          </Note>
        )}
        {nothing ? <Note tone="degraded">{t("The test expects nothing yet.")}</Note> : null}
        {keep.error === null ? null : <Note tone="failed">{failureOf(keep.error)}</Note>}
        <div className={simulate.dialogButtons}>
          <Button onClick={onClose}>{t("Cancel")}</Button>
          <Button type="submit" variant="filled" disabled={!ready} loading={keep.isPending}>
            {edited !== undefined
              ? t("Save")
              : same === undefined
                ? t("Keep")
                : t("Replace the test")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

function labelOfPart({ count, kind, name }: Part): string {
  if (kind === "topic")
    return t(
      {
        id: "simulate.records_of_topic",
        message: "{n} {n, plural, one {record} other {records}} of the topic {name}",
      },
      { n: count, name },
    );
  if (kind === "store")
    return t("{n} {n, plural, one {row} other {rows}} of the store {name}", { n: count, name });
  if (kind === "dropped")
    return t("{n} dropped {n, plural, one {record} other {records}}", { n: count });
  return t("no output");
}
