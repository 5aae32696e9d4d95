import { Checkbox } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import { asApiError } from "../api/client";
import { deleteTopic } from "../api/topicCalls";
import type { TopicDetail } from "../api/types";
import { DeleteByName } from "../frame/DeleteByName";
import { notify } from "../frame/notify";
import { exact } from "../ui/format";
import { t } from "../ui/i18n";

/** The error code if it is not known whether a deployment uses the topic. */
const UNKNOWN = "topic_use_unknown";

/** Deletes a topic of the cluster. */
export function DeleteTopicDialog(props: { ws: string; topic: TopicDetail; onClose: () => void }) {
  const { ws, topic, onClose } = props;
  const { name } = topic;
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [despite, setDespite] = useState(false);
  const remove = useMutation({
    mutationFn: () => deleteTopic(ws, name, despite),
    onSuccess: () => {
      notify(t("“{name}” was deleted.", { name }));
      void queries.invalidateQueries({ queryKey: ["topic-figures", ws] });
      void navigate(`/w/${ws}/topics`);
    },
  });
  return (
    <DeleteByName
      name={name}
      busy={remove.isPending}
      error={remove.error}
      onDelete={remove.mutate}
      onClose={onClose}
    >
      <p>
        {t(
          {
            id: "topics.this_deletes_topic_with_its_records",
            message:
              "This deletes the topic with its {n} {n, plural, one {record} other {records}} for all users of the cluster.",
          },
          {
            n: exact(topic.records),
          },
        )}
      </p>
      {despite || (remove.error !== null && asApiError(remove.error).code === UNKNOWN) ? (
        <Checkbox
          label={t("No deployment uses this topic")}
          checked={despite}
          onChange={(event) => setDespite(event.currentTarget.checked)}
        />
      ) : null}
    </DeleteByName>
  );
}
