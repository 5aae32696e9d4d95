import { type ComponentType, lazy, Suspense } from "react";
import { Navigate, Route, Routes } from "react-router";
import { Loading } from "../frame/Loading";
import { usePageLoading } from "../frame/pageLoading";
import { WholePage } from "../frame/WholePage";
import { NotFoundPage } from "../pages/NotFoundPage";
import { patiently } from "../ui/reach";
import { Guard } from "./Guard";
import { Localized } from "./Localized";

/** A page in a separate chunk: the list loads without the canvas, and the canvas without the settings. */
const page = (load: () => Promise<ComponentType>) =>
  lazy(async () => {
    usePageLoading.setState({ loading: true });
    try {
      return { default: await patiently(load) };
    } finally {
      usePageLoading.setState({ loading: false });
    }
  });

const SignInPage = page(async () => (await import("../pages/SignInPage")).SignInPage);
const LinkPage = page(async () => (await import("../pages/LinkPage")).LinkPage);
const HomePage = page(async () => (await import("../pages/HomePage")).HomePage);
const TopologiesPage = page(async () => (await import("../pages/TopologiesPage")).TopologiesPage);
const TopicsPage = page(async () => (await import("../topics/TopicsPage")).TopicsPage);
const TopicPage = page(async () => (await import("../topics/TopicPage")).TopicPage);
const AlertsPage = page(async () => (await import("../alerts/AlertsPage")).AlertsPage);
const SettingsPage = page(async () => (await import("../pages/SettingsPage")).SettingsPage);
const InstallationPage = page(
  async () => (await import("../pages/InstallationPage")).InstallationPage,
);
const TopologyPage = page(async () => (await import("../pages/TopologyPage")).TopologyPage);

/** The page at each address. */
export function Pages() {
  return (
    <Suspense
      fallback={
        <WholePage>
          <Loading />
        </WholePage>
      }
    >
      <Routes>
        <Route element={<Localized />}>
          <Route path="/sign-in" element={<SignInPage />} />
          <Route path="/sign-in/:token" element={<LinkPage />} />
          <Route path="*" element={<NotFoundPage />} />
        </Route>
        <Route element={<Guard />}>
          <Route path="/" element={<Navigate to="/w" replace />} />
          <Route element={<Localized />}>
            <Route path="/w" element={<HomePage />} />
            <Route path="/w/:ws" element={<TopologiesPage />} />
            <Route path="/w/:ws/topics" element={<TopicsPage />} />
            <Route path="/w/:ws/topics/:topic" element={<TopicPage />} />
            <Route path="/w/:ws/alerts" element={<AlertsPage />} />
            <Route path="/w/:ws/settings" element={<SettingsPage />} />
            <Route path="/installation" element={<InstallationPage />} />
          </Route>
          {/* Not wrapped in Localized, which would remount it: the open document survives a change of language. */}
          <Route path="/w/:ws/t/:id" element={<TopologyPage />} />
        </Route>
      </Routes>
    </Suspense>
  );
}
