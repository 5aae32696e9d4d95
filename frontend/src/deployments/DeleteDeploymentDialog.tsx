import { useMutation } from "@tanstack/react-query";
import { deleteDeployment } from "../api/deploymentCalls";
import type { Deployment } from "../api/types";
import { DeleteByName } from "../frame/DeleteByName";
import { notify } from "../frame/notify";
import { useLive } from "../live/store";
import { t } from "../ui/i18n";
import { environmentOf } from "./environments";
import { openDelete } from "./steps";

/** Deletes the shown deployment, after saying what is lost with it. */
export function DeleteDeploymentDialog() {
  const deployment = useLive((state) => state.deployment);
  return deployment === null ? null : <Delete deployment={deployment} />;
}

function Delete({ deployment }: { deployment: Deployment }) {
  const { id, settings, topology_name: name } = deployment;
  const environment = environmentOf(deployment);
  const close = () => openDelete(false);
  const remove = useMutation({
    mutationFn: () => deleteDeployment(id),
    onSuccess: () => {
      useLive.getState().receive({ type: "deployment.deleted", data: { id } });
      notify(t("The deployment was deleted."));
      close();
    },
  });
  return (
    <DeleteByName
      title={
        environment === null
          ? t("Delete the deployment")
          : t("Delete the deployment in {environment}", { environment })
      }
      name={name}
      busy={remove.isPending}
      error={remove.error}
      onDelete={remove.mutate}
      onClose={close}
    >
      <p>
        {t({
          id: "deployments.what_is_deleted_with_it",
          message:
            "This deletes its state and offsets, its logs, its history of runs and its schedule. It cannot be undone: the next deployment starts with empty stores.",
        })}
      </p>
      <p>
        {settings.checkpoint === undefined
          ? t("The topology, its versions, and topics in Kafka are kept.")
          : t(
              {
                id: "deployments.what_is_kept_with_checkpoint",
                message:
                  "The topology, its versions, topics in Kafka, and the checkpoint in {place} are kept.",
              },
              { place: settings.checkpoint },
            )}
      </p>
    </DeleteByName>
  );
}
