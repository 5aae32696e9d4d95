/** The cache of server responses. */

import { QueryClient } from "@tanstack/react-query";
import { getSession } from "../api/accountCalls";
import { ApiError, whenSignedOut } from "../api/client";
import type { Session } from "../api/types";
import { noteEnd, SESSION_KEY, SIGNED_OUT } from "./session";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      refetchOnWindowFocus: true,
      retry: (failures, error) =>
        failures < 3 && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
    },
  },
});

// An expired session shows the sign-in page instead of a page full of errors.
whenSignedOut(() => {
  noteEnd(queryClient.getQueryData<Session>(SESSION_KEY));
  queryClient.setQueryData(SESSION_KEY, SIGNED_OUT);
});

/** Fetches the session while the page is still loading. */
export function prefetchSession(): void {
  void queryClient.prefetchQuery({ queryKey: SESSION_KEY, queryFn: getSession });
}
