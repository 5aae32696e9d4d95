import { Button, Modal, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import { ApiError } from "../api/client";
import { deleteTopic } from "../api/topicCalls";
import type { TopicDetail } from "../api/types";
import { notify } from "../app/notify";
import { Note } from "../ui";
import { exact } from "../ui/format";
import { t } from "../ui/i18n";
import pages from "../ui/pages.module.css";

/** Deletes only after its name was typed. */
export function DeleteTopicDialog(props: { ws: string; topic: TopicDetail; onClose: () => void }) {
  const { ws, topic, onClose } = props;
  const { name } = topic;
  const [typed, setTyped] = useState("");
  const queries = useQueryClient();
  const navigate = useNavigate();
  const remove = useMutation<unknown, ApiError>({
    mutationFn: () => deleteTopic(ws, name),
    onSuccess: () => {
      notify(t("“{name}” was deleted.", { name }));
      void queries.invalidateQueries({ queryKey: ["topic-figures", ws] });
      void navigate(`/w/${ws}/topics`);
    },
  });
  const error = remove.error === null || remove.error instanceof ApiError ? remove.error : null;
  return (
    <Modal opened onClose={onClose} title={t("Delete “{name}”", { name })} size={440}>
      <form
        className={pages.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (typed === name) remove.mutate();
        }}
      >
        <p>
          {t("This deletes the topic with its {n} records for all users of the cluster.", {
            n: exact(topic.records),
          })}
        </p>
        <TextInput
          label={t("Type its name to confirm")}
          placeholder={name}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          data-autofocus
        />
        {error === null ? null : (
          <Note tone="failed">
            {error.message} {error.hint}
          </Note>
        )}
        <div className={pages.formEnd}>
          <Button onClick={onClose}>{t("Cancel")}</Button>
          <Button
            type="submit"
            color="red"
            variant="filled"
            loading={remove.isPending}
            disabled={typed !== name}
          >
            {t("Delete")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
