import { createBrowserRouter, Navigate } from "react-router";
import { LinkPage } from "../pages/LinkPage";
import { NotFoundPage } from "../pages/NotFoundPage";
import { SignInPage } from "../pages/SignInPage";
import { Crash } from "./Crash";
import { Guard } from "./Guard";
import { Loading } from "./Loading";

/** Pages are chunks of their own: the list opens without the canvas, the canvas without the settings. */
export const router = createBrowserRouter([
  {
    errorElement: <Crash />,
    hydrateFallbackElement: <Loading />,
    children: [
      { path: "/sign-in", element: <SignInPage /> },
      { path: "/sign-in/:token", element: <LinkPage /> },
      {
        element: <Guard />,
        children: [
          { path: "/", element: <Navigate to="/w" replace /> },
          {
            path: "/w",
            lazy: async () => ({ Component: (await import("../pages/HomePage")).HomePage }),
          },
          {
            path: "/w/:ws",
            lazy: async () => ({
              Component: (await import("../pages/TopologiesPage")).TopologiesPage,
            }),
          },
          {
            path: "/w/:ws/settings",
            lazy: async () => ({ Component: (await import("../pages/SettingsPage")).SettingsPage }),
          },
          {
            path: "/w/:ws/t/:id",
            lazy: async () => ({ Component: (await import("../pages/TopologyPage")).TopologyPage }),
          },
        ],
      },
      { path: "*", element: <NotFoundPage /> },
    ],
  },
]);
