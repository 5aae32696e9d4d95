import { ActionIcon, Button, Menu, Textarea } from "@mantine/core";
import IconAt from "@tabler/icons-react/dist/esm/icons/IconAt.mjs";
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { listMembers } from "../api/accountCalls";
import { asApiError } from "../api/client";
import { Note } from "../ui";
import { t } from "../ui/i18n";
import classes from "./comments.module.css";

const KEY = "millrace.comment.";

/** Keeps a text that is not sent yet in this tab, also over another selection and a reload. */
function keepText(keep: string | undefined, text: string): void {
  if (keep === undefined) return;
  if (text === "") sessionStorage.removeItem(KEY + keep);
  else sessionStorage.setItem(KEY + keep, text);
}

const keptText = (keep: string | undefined) =>
  keep === undefined ? null : sessionStorage.getItem(KEY + keep);

/** Writes a comment. The menu adds a mention of a member. */
export function Composer(props: {
  ws: string;
  label: string;
  action: string;
  initial?: string;
  /** The name under which a text that is not sent yet is kept. */
  keep?: string;
  autoFocus?: boolean;
  onSend: (text: string) => Promise<unknown>;
  onCancel?: () => void;
}) {
  const { keep } = props;
  const [text, show] = useState(props.initial ?? keptText(keep) ?? "");
  const setText = (next: string) => {
    show(next);
    keepText(keep, next);
  };
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const send = async () => {
    if (text.trim() === "" || busy) return;
    setBusy(true);
    setError(null);
    try {
      await props.onSend(text.trim());
      setText("");
    } catch (failure) {
      setError(asApiError(failure).text);
    } finally {
      setBusy(false);
    }
  };
  const mention = (name: string) => {
    setText(`${text}${text === "" || text.endsWith(" ") ? "" : " "}@${name} `);
    field.current?.focus();
  };
  return (
    <div className={classes.composer}>
      <Textarea
        ref={field}
        aria-label={props.label}
        placeholder={props.label}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void send();
        }}
        autosize
        minRows={1}
        maxRows={8}
        maxLength={4_000}
        data-autofocus={props.autoFocus}
        data-testid="comment-text"
      />
      <div className={classes.buttons}>
        <Mention ws={props.ws} onChoose={mention} />
        {props.onCancel === undefined ? null : (
          <Button
            onClick={() => {
              keepText(keep, "");
              props.onCancel?.();
            }}
          >
            {t("Cancel")}
          </Button>
        )}
        <Button
          onClick={() => void send()}
          loading={busy}
          disabled={text.trim() === ""}
          data-testid="comment-send"
        >
          {props.action}
        </Button>
      </div>
      {error === null ? null : <Note tone="failed">{error}</Note>}
    </div>
  );
}

function Mention({ onChoose, ws }: { ws: string; onChoose: (name: string) => void }) {
  const members = useQuery({
    queryKey: ["members-to-mention", ws],
    queryFn: () => listMembers(ws, { page_size: 200 }),
  });
  return (
    <Menu position="top-start">
      <Menu.Target>
        <ActionIcon
          aria-label={t("Mention a member")}
          title={t("Mention a member")}
          data-testid="mention"
        >
          <IconAt size={16} stroke={1.5} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown className="m-scroll">
        {(members.data?.results ?? []).map(({ user }) => (
          <Menu.Item key={user.id} onClick={() => onChoose(user.username)}>
            {user.display_name || user.username}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
