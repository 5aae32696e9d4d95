import { useEffect } from "react";
import { Navigate, Outlet, useLocation } from "react-router";
import { Failed } from "./Failed";
import { Loading } from "./Loading";
import { useSession } from "./session";

/** Requires a session: redirects to the sign-in page and back here afterwards. */
export function Guard() {
  const session = useSession();
  const location = useLocation();
  useEffect(() => {
    document.title = "Millrace";
  }, []);
  if (session.isPending) return <Loading />;
  if (session.isError) {
    return <Failed error={session.error} retry={() => void session.refetch()} />;
  }
  if (session.data.user === null) {
    const next = location.pathname + location.search;
    return (
      <Navigate
        to={next === "/w" ? "/sign-in" : `/sign-in?next=${encodeURIComponent(next)}`}
        replace
      />
    );
  }
  return <Outlet />;
}
