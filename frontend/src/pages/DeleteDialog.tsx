import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { listGenerators } from "../api/topicCalls";
import { deleteTopology } from "../api/topologyCalls";
import type { TopologySummary } from "../api/types";
import { DeleteByName } from "../frame/DeleteByName";
import { notify } from "../frame/notify";
import { Note } from "../ui";
import { t } from "../ui/i18n";

/** Deletes a topology. */
export function DeleteDialog(props: {
  ws: string;
  topology: TopologySummary;
  onClose: () => void;
}) {
  const { ws, topology, onClose } = props;
  const queries = useQueryClient();
  const running = topology.deployment !== null && topology.deployment.desired === "running";
  const generated = useQuery({
    queryKey: ["generators", ws, ""],
    queryFn: () => listGenerators(ws, { page_size: 100 }),
  }).data;
  const generators = (generated?.results ?? []).filter(
    (each) => each.topology === topology.id && each.state === "running",
  ).length;
  const remove = useMutation({
    mutationFn: () => deleteTopology(topology.id),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["topologies", ws] });
      notify(t("“{name}” was deleted.", { name: topology.name }));
      onClose();
    },
  });
  return (
    <DeleteByName
      name={topology.name}
      busy={remove.isPending}
      error={remove.error}
      onDelete={remove.mutate}
      onClose={onClose}
    >
      <p>
        {t({
          id: "pages.this_also_deletes_all",
          message:
            "This also deletes all its versions and drafts, and cannot be undone. Topics in Kafka are kept.",
        })}
      </p>
      {generators === 0 ? null : (
        <p>
          {t(
            {
              id: "pages.generators_of_it_stop",
              message:
                "{n} {n, plural, one {generator} other {generators}} of it {n, plural, one {stops} other {stop}} too.",
            },
            { n: generators },
          )}
        </p>
      )}
      {running ? <Note tone="degraded">{t("It is deployed. Stop it first.")}</Note> : null}
    </DeleteByName>
  );
}
