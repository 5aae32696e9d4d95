import { Button } from "@mantine/core";
import { Component, type ReactNode, useEffect } from "react";
import { useLocation } from "react-router";
import classes from "../frame/frame.module.css";
import { t } from "../ui/i18n";
import { isMissingPart, whenReachable } from "../ui/reach";

const RELOADED = "millrace.reloaded";

interface BoundaryProps {
  /** The address of the page, which is tried again at another one. */
  readonly at: string;
  readonly children: ReactNode;
}

interface BoundaryState {
  readonly crash: { readonly error: unknown; readonly at: string } | null;
}

class Boundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { crash: null };

  static getDerivedStateFromError(error: unknown): Partial<BoundaryState> {
    return { crash: { error, at: location.pathname } };
  }

  static getDerivedStateFromProps(
    { at }: BoundaryProps,
    { crash }: BoundaryState,
  ): Partial<BoundaryState> | null {
    return crash === null || crash.at === at ? null : { crash: null };
  }

  override render() {
    const { crash } = this.state;
    return crash === null ? this.props.children : <Crashed error={crash.error} />;
  }
}

/** Error boundary of the page. */
export function Crash({ children }: { children: ReactNode }) {
  return <Boundary at={useLocation().pathname}>{children}</Boundary>;
}

/** Shows a crash, and that the drawing is not lost. After an update, the chunk of a page is missing: the new page has it. */
function Crashed({ error }: { error: unknown }) {
  const missing = isMissingPart(error);
  useEffect(() => {
    if (!missing || sessionStorage.getItem(RELOADED) === location.href) return;
    // A reload while the server is unreachable would end on the browser's own error page.
    void whenReachable().then(() => {
      sessionStorage.setItem(RELOADED, location.href);
      location.reload();
    });
  }, [missing]);
  return (
    <div className={classes.failed} role="alert">
      <p className={classes.failedTitle}>
        {missing
          ? t("A new version of the page is available.")
          : t("Something went wrong on this page.")}
      </p>
      <p className={classes.failedHint}>
        {t({
          id: "app.your_draft_is_saved",
          message: "Your draft is saved on the server. Reload the page to continue.",
        })}
      </p>
      <code className={classes.crashText}>
        {error instanceof Error ? error.message : String(error)}
      </code>
      <Button size="xs" onClick={() => location.reload()}>
        {t("Reload")}
      </Button>
    </div>
  );
}
