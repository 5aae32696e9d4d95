import type { ComponentType } from "react";
import { createBrowserRouter, Navigate } from "react-router";
import { Loading } from "../frame/Loading";
import { LinkPage } from "../pages/LinkPage";
import { NotFoundPage } from "../pages/NotFoundPage";
import { SignInPage } from "../pages/SignInPage";
import { patiently } from "../ui/reach";
import { Crash } from "./Crash";
import { Guard } from "./Guard";
import { Localized } from "./Localized";

const page = (load: () => Promise<ComponentType>) => async () => ({
  Component: await patiently(load),
});

/** Pages are separate chunks: the list loads without the canvas, and the canvas without the settings. */
export const router = createBrowserRouter([
  {
    errorElement: <Crash />,
    hydrateFallbackElement: <Loading />,
    children: [
      {
        element: <Localized />,
        children: [
          { path: "/sign-in", element: <SignInPage /> },
          { path: "/sign-in/:token", element: <LinkPage /> },
          { path: "*", element: <NotFoundPage /> },
        ],
      },
      {
        element: <Guard />,
        children: [
          { path: "/", element: <Navigate to="/w" replace /> },
          {
            element: <Localized />,
            children: [
              {
                path: "/w",
                lazy: page(async () => (await import("../pages/HomePage")).HomePage),
              },
              {
                path: "/w/:ws",
                lazy: page(async () => (await import("../pages/TopologiesPage")).TopologiesPage),
              },
              {
                path: "/w/:ws/topics",
                lazy: page(async () => (await import("../topics/TopicsPage")).TopicsPage),
              },
              {
                path: "/w/:ws/topics/:topic",
                lazy: page(async () => (await import("../topics/TopicPage")).TopicPage),
              },
              {
                path: "/w/:ws/alerts",
                lazy: page(async () => (await import("../alerts/AlertsPage")).AlertsPage),
              },
              {
                path: "/w/:ws/settings",
                lazy: page(async () => (await import("../pages/SettingsPage")).SettingsPage),
              },
              {
                path: "/installation",
                lazy: page(
                  async () => (await import("../pages/InstallationPage")).InstallationPage,
                ),
              },
            ],
          },
          {
            // Not wrapped in Localized, which would remount it: the open document survives a change of language.
            path: "/w/:ws/t/:id",
            lazy: page(async () => (await import("../pages/TopologyPage")).TopologyPage),
          },
        ],
      },
    ],
  },
]);
