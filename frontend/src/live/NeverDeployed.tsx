import type { ReactNode } from "react";
import { Loading } from "../frame/Loading";
import { Empty } from "../ui";
import { t } from "../ui/i18n";
import { useLive } from "./store";

/** Whether the server has reported if there is a deployment. */
export const useIsKnown = () => useLive((state) => state.topology !== null);

/** In place of what a deployment has, while there is none or it is not known yet. */
export function NeverDeployed({ title, children }: { title?: string; children: ReactNode }) {
  const known = useIsKnown();
  return known ? <Empty title={title ?? t("Never deployed")}>{children}</Empty> : <Loading />;
}
