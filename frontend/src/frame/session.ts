/** The signed-in user, and what their role permits. */

import { useQuery } from "@tanstack/react-query";
import { getSession } from "../api/accountCalls";
import type { Role, Session, Workspace } from "../api/types";

export const SESSION_KEY = ["session"] as const;

export const SIGNED_OUT: Session = {
  user: null,
  workspaces: [],
  has_password: false,
  installation_admin: false,
};

const RANK: Record<Role, number> = { viewer: 0, editor: 1, operator: 2, admin: 3 };

/** True if `role` permits what requires `needed`. Each role includes the ones below it. */
export function may(role: Role | undefined, needed: Role): boolean {
  return role !== undefined && RANK[role] >= RANK[needed];
}

let ended = false;

/** Remembers that a session expired while the page was in use, so that the sign-in page can say so. */
export function noteEnd(before: Session | undefined): void {
  if (before?.user) ended = true;
}

/** Whether a session has expired since the page was opened or since the last sign-in. */
export function hasEnded(): boolean {
  return ended;
}

/** Called on a new sign-in or an intended sign-out. */
export function forgetEnd(): void {
  ended = false;
}

export function useSession() {
  return useQuery<Session>({
    queryKey: SESSION_KEY,
    queryFn: getSession,
    staleTime: 60_000,
  });
}

export function useWorkspace(slug: string | undefined): Workspace | undefined {
  const { data } = useSession();
  return data?.workspaces.find((workspace) => workspace.slug === slug);
}
