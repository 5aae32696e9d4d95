import { ActionIcon, Button, Combobox, Menu, Textarea, useCombobox } from "@mantine/core";
import IconAt from "@tabler/icons-react/dist/esm/icons/IconAt.mjs";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
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

/** What is typed of a mention before the caret. */
const BEGUN = /(?<=^|\s)@([^\s@]*)$/;
/** As many members as are proposed for it. */
const MOST = 6;

function useMembers(ws: string) {
  const members = useQuery({
    queryKey: ["members-to-mention", ws],
    queryFn: () => listMembers(ws, { page_size: 200 }),
  });
  return (members.data?.results ?? []).map(({ user }) => ({
    id: user.id,
    name: user.username,
    shown: user.display_name || user.username,
  }));
}

/** Writes a comment. `@` and the menu add a mention of a member. */
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
  const members = useMembers(props.ws);
  // The text before the caret while a mention is being typed; null once it is dismissed.
  const [before, setBefore] = useState<string | null>(null);
  const typed = (before === null ? null : BEGUN.exec(before)?.[1]?.toLowerCase()) ?? null;
  const found =
    typed === null
      ? []
      : members
          .filter(({ name, shown }) =>
            [name, ...shown.split(/\s+/)].some((each) => each.toLowerCase().startsWith(typed)),
          )
          .slice(0, MOST);
  const proposing = found.length > 0;
  const proposals = useCombobox({
    opened: proposing,
    onOpenedChange: (opened) => {
      if (!opened) setBefore(null);
    },
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the first proposal of each list is chosen
  useEffect(() => {
    if (proposing) proposals.selectFirstOption();
  }, [typed, proposing]);
  const complete = (name: string) => {
    const start = (before ?? "").replace(BEGUN, `@${name} `);
    setText(`${start}${text.slice((before ?? "").length).trimStart()}`);
    setBefore(null);
    requestAnimationFrame(() => field.current?.setSelectionRange(start.length, start.length));
  };
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
      <Combobox store={proposals} onOptionSubmit={complete} position="top-start" width={220}>
        <Combobox.Target withKeyboardNavigation={proposing} withAriaAttributes={proposing}>
          <Textarea
            ref={field}
            aria-label={props.label}
            placeholder={props.label}
            value={text}
            onChange={(event) => {
              const { selectionStart, value } = event.currentTarget;
              setText(value);
              setBefore(value.slice(0, selectionStart));
            }}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void send();
              // Only the proposals are closed, and not what the comment is in.
              if (event.key === "Escape" && proposing) event.stopPropagation();
            }}
            onBlur={() => setBefore(null)}
            autosize
            minRows={1}
            maxRows={8}
            maxLength={4_000}
            data-autofocus={props.autoFocus}
            data-testid="comment-text"
          />
        </Combobox.Target>
        <Combobox.Dropdown>
          <Combobox.Options>
            {found.map(({ id, name, shown }) => (
              <Combobox.Option key={id} value={name}>
                {shown}
              </Combobox.Option>
            ))}
          </Combobox.Options>
        </Combobox.Dropdown>
      </Combobox>
      <div className={classes.buttons}>
        <Mention members={members} onChoose={mention} />
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

function Mention(props: {
  members: ReturnType<typeof useMembers>;
  onChoose: (name: string) => void;
}) {
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
        {props.members.map(({ id, name, shown }) => (
          <Menu.Item key={id} onClick={() => props.onChoose(name)}>
            {shown}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
