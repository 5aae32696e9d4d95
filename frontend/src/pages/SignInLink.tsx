import { Button, CopyButton } from "@mantine/core";
import { t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import classes from "../ui/pages.module.css";

/** A one-time sign-in link, which is not shown again. */
export function SignInLink(props: { title: string; link: string; onClose: () => void }) {
  return (
    <Modal
      opened
      onClose={props.onClose}
      title={props.title}
      size={460}
      closeOnClickOutside={false}
    >
      <div className={classes.form}>
        <p>{t("Share this link: it can be used once and is not shown again.")}</p>
        <div className={classes.secret}>
          <span data-testid="sign-in-link">{props.link}</span>
          <span className="ui-space" />
          <CopyButton value={props.link}>
            {({ copied, copy }) => (
              <Button onClick={copy}>{copied ? t("Copied") : t("Copy")}</Button>
            )}
          </CopyButton>
        </div>
        <div className="ui-end">
          <Button variant="filled" onClick={props.onClose}>
            {t("Done")}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
