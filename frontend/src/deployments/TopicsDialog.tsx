import { Button, NumberInput, Select } from "@mantine/core";
import { useMemo, useState } from "react";
import { type ApiError, asApiError } from "../api/client";
import { createTopics } from "../api/topicCalls";
import type { MissingTopic } from "../api/types";
import { useDesigner } from "../designer/store";
import { findNode, labelOf } from "../graph/document";
import { newTopic, RETENTIONS } from "../topics/newTopic";
import { Note } from "../ui";
import { DialogEnd } from "../ui/DialogEnd";
import { t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import { useEditing } from "../versions/editing";
import { deployNow } from "./deploy";
import classes from "./deployments.module.css";
import { originOf, type Question, useQuestion, withTopic } from "./topics";

interface Choice {
  readonly partitions: number;
  readonly retention: string;
}

/** Handles missing topics: creates them, or uses ones with similar names. */
export function TopicsDialog({ question }: { question: Question }) {
  const { topics, settings } = question;
  const [choices, setChoices] = useState<Readonly<Record<string, Choice>>>({});
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const close = () => useQuestion.setState({ question: null });
  const choiceOf = (topic: MissingTopic): Choice =>
    choices[topic.name] ?? { partitions: topic.partitions, retention: "" };
  const create = async () => {
    setBusy(true);
    setError(null);
    try {
      const made = topics.map((topic) => {
        const { partitions, retention } = choiceOf(topic);
        return newTopic(topic.name, partitions, retention);
      });
      await createTopics(useEditing.getState().ws, made);
      close();
      await (question.then === undefined ? deployNow(settings) : question.then());
    } catch (failure) {
      setError(asApiError(failure));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={close} title={t("Topics that do not exist")} size={520}>
      <div className={classes.topics} data-testid="missing-topics">
        {topics.map((topic) => (
          <TopicRow
            key={topic.name}
            topic={topic}
            choice={choiceOf(topic)}
            choose={(choice) => setChoices({ ...choices, [topic.name]: choice })}
            environment={settings?.environment ?? null}
            promoted={question.then !== undefined}
            close={close}
          />
        ))}
        {error === null ? null : <Note tone="failed">{error.text}</Note>}
        <DialogEnd
          onCancel={close}
          loading={busy}
          onClick={() => void create()}
          data-testid="create-topics"
        >
          {topics.length === 1
            ? t("Create the topic and deploy")
            : t("Create {n} topics and deploy", { n: topics.length })}
        </DialogEnd>
      </div>
    </Modal>
  );
}

function TopicRow(props: {
  topic: MissingTopic;
  choice: Choice;
  choose: (choice: Choice) => void;
  /** The environment whose values the parameters of the topology have. */
  environment: string | null;
  /** A saved version is deployed, so that its topics cannot be replaced by others. */
  promoted: boolean;
  close: () => void;
}) {
  const { choice, choose, environment, topic } = props;
  const node = useDesigner((state) =>
    topic.node === null ? undefined : findNode(state.document, topic.node),
  );
  const document = useDesigner((state) => state.document);
  const origin = useMemo(
    () => originOf(document, topic, environment),
    [document, topic, environment],
  );
  const take = (instead: string) => {
    useDesigner
      .getState()
      .change(t("Use topic {name}", { name: instead }), (document) =>
        withTopic(document, topic, instead, environment),
      );
    props.close();
  };
  return (
    <section className={classes.topic}>
      <div>
        <strong className="m-mono">{topic.name}</strong>{" "}
        <span className={classes.topicNode}>
          {node === undefined ? t("dead letters") : labelOf(node)}
        </span>
      </div>
      {topic.nearest.length === 0 || props.promoted || origin === null ? null : (
        <div className={classes.nearest}>
          <span>{t("Similar names:")}</span>
          {topic.nearest.map((name) => (
            <Button key={name} variant="subtle" size="compact-sm" px={0} onClick={() => take(name)}>
              {"parameter" in origin
                ? t("Set {parameter} to {name}", { name, parameter: origin.parameter })
                : t("Use {name}", { name })}
            </Button>
          ))}
        </div>
      )}
      <div className={classes.pair}>
        <NumberInput
          label={t("Partitions")}
          min={1}
          max={1000}
          value={choice.partitions}
          onChange={(value) => choose({ ...choice, partitions: Number(value) || 1 })}
        />
        <Select
          label={t("Keep records for")}
          value={choice.retention}
          onChange={(value) => choose({ ...choice, retention: value ?? "" })}
          data={RETENTIONS.map((each) => ({ ...each, label: t(each.label) }))}
          comboboxProps={{ withinPortal: false }}
        />
      </div>
    </section>
  );
}
