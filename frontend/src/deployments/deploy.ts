import type { DeploymentSettings, StartRequest } from "../api/types";
import { compiled } from "../designer/compiled";
import { useDesigner } from "../designer/store";
import { useView } from "../designer/view";
import { notify, notifyError } from "../frame/notify";
import { t } from "../ui/i18n";
import { useEditing } from "../versions/editing";
import { deployDrawing, knownDeployment } from "./acting";
import { openTestsIfMissing } from "./openTests";
import { noneMissing } from "./topics";

/** How long a deploy waits for the compiler's result after a change, in ms; the server checks the version as well. */
const COMPILE_MS = 10_000;

/** The number of errors that prevent the document, as it is now, from being deployed. */
async function blockers(): Promise<number> {
  useEditing.setState({ deploying: true });
  try {
    const diagnostics = (await compiled(COMPILE_MS))?.diagnostics ?? [];
    return diagnostics.filter((each) => each.severity === "error").length;
  } finally {
    useEditing.setState({ deploying: false });
  }
}

/** Saves if there are changes, then deploys. Used by the button and by the command. */
export async function deployNow(
  settings: DeploymentSettings | null,
  start: StartRequest | null = null,
): Promise<void> {
  const { topologyId } = useDesigner.getState();
  const errors = await blockers();
  // Another topology that was opened meanwhile is not meant.
  if (useDesigner.getState().topologyId !== topologyId) return;
  if (errors > 0) {
    useView.getState().openBottom("problems");
    notify(
      t(
        {
          id: "deployments.problems_prevent_deployment",
          message: "{n} {n, plural, one {problem prevents} other {problems prevent}} deployment.",
        },
        { n: errors },
      ),
    );
    return;
  }
  try {
    const ask = async (topology: number, version: number) =>
      noneMissing(topology, version, settings ?? (await knownDeployment())?.settings ?? null);
    if ((await deployDrawing(settings, ask, start)) !== null)
      useDesigner.getState().setLayer("runtime");
  } catch (error) {
    openTestsIfMissing(error);
    notifyError(error, t("Could not deploy"));
  }
}
