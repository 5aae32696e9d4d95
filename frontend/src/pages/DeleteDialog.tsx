import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { listGenerators } from "../api/topicCalls";
import { deleteTopology } from "../api/topologyCalls";
import type { TopologySummary } from "../api/types";
import { inOrder, named, nameOf } from "../deployments/environments";
import { DeleteByName } from "../frame/DeleteByName";
import { notify } from "../frame/notify";
import { isAtRest } from "../live/states";
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
  const { deployments } = topology;
  const active = inOrder(
    deployments.filter(({ observed }) => !isAtRest(observed)),
    (each) => each.environment,
  );
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
      refused={active.length > 0}
      onDelete={remove.mutate}
      onClose={onClose}
    >
      <p>
        {t({
          id: "pages.this_also_deletes_all",
          message:
            "This also deletes all its versions, drafts, tests and comments, and cannot be undone. Topics in Kafka are kept.",
        })}
      </p>
      {deployments.length === 0 ? null : (
        <p>
          {t(
            {
              id: "pages.deployments_of_it_are_deleted",
              message:
                "Its {n} {n, plural, one {deployment is} other {deployments are}} deleted too, with state, logs and history of runs.",
            },
            { n: deployments.length },
          )}
        </p>
      )}
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
      {active.length === 0 ? null : (
        <Note tone="degraded">
          {named(deployments)
            ? t("It is deployed: {environments}. Stop it there first.", {
                environments: active.map((each) => nameOf(each.environment)).join(t(", ")),
              })
            : t("It is deployed. Stop it first.")}
        </Note>
      )}
    </DeleteByName>
  );
}
