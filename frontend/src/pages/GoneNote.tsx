import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { createFragment } from "../api/fragmentCalls";
import { createTopology } from "../api/topologyCalls";
import { commandContext } from "../commands/command";
import { exportDocument } from "../commands/exportDocument";
import { useDesigner } from "../designer/store";
import { notifyError } from "../frame/notify";
import { t } from "../ui/i18n";
import { forgetDraft, useEditing } from "../versions/editing";
import classes from "./header.module.css";

/** Creates the open topology again, which was deleted, with what is drawn. Returns the new one's id. */
async function createAgain(): Promise<number> {
  const { name, ws } = useEditing.getState();
  const { document, isFragment } = useDesigner.getState();
  const id = isFragment
    ? await createFragment(ws, name, document)
    : (await createTopology(ws, { name, document })).id;
  forgetDraft();
  return id;
}

/** The open topology is gone: how to keep what is drawn. */
export function GoneNote({ editor }: { editor: boolean }) {
  const ws = useEditing((state) => state.ws);
  const navigate = useNavigate();
  const create = useMutation({
    mutationFn: createAgain,
    onSuccess: (id) => navigate(`/w/${ws}/t/${id}`),
    onError: (error) => notifyError(error),
  });
  return (
    <span className={classes.bannerLine} data-testid="gone">
      {t({
        id: "pages.topology_is_gone",
        message:
          "This topology was deleted, or you have lost access to it. What is drawn here is not saved.",
      })}
      {editor ? (
        <Button variant="subtle" loading={create.isPending} onClick={() => create.mutate()}>
          {t("Create it again")}
        </Button>
      ) : null}
      <Button variant="subtle" onClick={() => void exportDocument.run(commandContext())}>
        {exportDocument.title()}
      </Button>
    </span>
  );
}
