import { useEffect } from "react";
import { Navigate, Outlet, useLocation } from "react-router";
import { useSession } from "../frame/session";
import { Waiting } from "../frame/Waiting";
import { WholePage } from "../frame/WholePage";

/** Requires a session: redirects to the sign-in page and back here afterwards. */
export function Guard() {
  const session = useSession();
  const location = useLocation();
  useEffect(() => {
    document.title = "Millrace";
  }, []);
  if (session.isPending || session.isError) {
    return (
      <WholePage>
        <Waiting query={session} />
      </WholePage>
    );
  }
  if (session.data.user === null) {
    const next = location.pathname + location.search;
    return (
      <Navigate
        to={`/sign-in${next === "/w" ? "" : `?next=${encodeURIComponent(next)}`}${location.hash}`}
        replace
      />
    );
  }
  return <Outlet />;
}
