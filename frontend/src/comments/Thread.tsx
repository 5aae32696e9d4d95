import { Button } from "@mantine/core";
import { useState } from "react";
import type { Comment, CommentReply } from "../api/types";
import { notifyError } from "../frame/notify";
import { Confirm } from "../ui/Confirm";
import { ago, moment } from "../ui/format";
import { t } from "../ui/i18n";
import { Composer } from "./Composer";
import { addComment, changeComment, deleteComment } from "./calls";
import classes from "./comments.module.css";

export interface Reader {
  readonly id: number;
  readonly editor: boolean;
  readonly operator: boolean;
}

/** A comment with its answers. `label`: of its node; null if the node was deleted. */
export function Thread(props: {
  ws: string;
  topology: number;
  thread: Comment;
  label: string | null;
  reader: Reader;
  onShow: () => void;
  onChanged: () => void;
}) {
  const { label, onChanged, reader, thread, topology, ws } = props;
  const [answering, setAnswering] = useState(false);
  const resolved = thread.resolved_at !== null;
  const change = async (what: Promise<unknown>) => {
    try {
      await what;
    } catch (error) {
      notifyError(error);
    }
    onChanged();
  };
  return (
    <li className={classes.thread} data-resolved={resolved || undefined} data-testid="thread">
      <div className={classes.head}>
        {label === null ? (
          <span className={classes.gone}>
            {t("{node} (deleted)", { node: thread.node_label || thread.node })}
          </span>
        ) : (
          <button type="button" className={classes.node} onClick={props.onShow}>
            {label}
          </button>
        )}
        {resolved ? (
          <span className={classes.faint}>
            {thread.resolved_by === null
              ? t("resolved")
              : t("resolved by {name}", { name: thread.resolved_by })}
          </span>
        ) : null}
        <span className="ui-space" />
        {reader.editor ? (
          <Button
            variant="subtle"
            onClick={() => void change(changeComment(topology, thread.id, { resolved: !resolved }))}
            data-testid="resolve"
          >
            {resolved ? t("Reopen") : t("Resolve")}
          </Button>
        ) : null}
      </div>
      {[thread, ...thread.replies].map((each) => (
        <Text
          key={each.id}
          ws={ws}
          topology={topology}
          comment={each}
          reader={reader}
          deletable={each.id !== thread.id || thread.replies.length === 0}
          onChange={change}
        />
      ))}
      {!reader.editor || resolved ? null : answering ? (
        <Composer
          ws={ws}
          keep={`${topology}.answer.${thread.id}`}
          label={t("Your answer")}
          action={t("Answer")}
          onCancel={() => setAnswering(false)}
          onSend={async (text) => {
            const { id, node, node_label } = thread;
            await addComment(topology, { node, node_label, text, reply_to: id });
            setAnswering(false);
            onChanged();
          }}
        />
      ) : (
        <Button variant="subtle" onClick={() => setAnswering(true)} data-testid="answer">
          {t("Answer…")}
        </Button>
      )}
    </li>
  );
}

function Text(props: {
  ws: string;
  topology: number;
  comment: CommentReply;
  reader: Reader;
  deletable: boolean;
  onChange: (what: Promise<unknown>) => Promise<void>;
}) {
  const { comment, onChange, reader, topology } = props;
  const [editing, setEditing] = useState(false);
  const own = comment.author_id === reader.id && reader.editor;
  if (editing) {
    return (
      <Composer
        ws={props.ws}
        label={t("Your comment")}
        action={t("Save")}
        initial={comment.text}
        onCancel={() => setEditing(false)}
        onSend={async (text) => {
          await changeComment(topology, comment.id, { text });
          setEditing(false);
          await onChange(Promise.resolve());
        }}
      />
    );
  }
  return (
    <div className={classes.text}>
      <div className={classes.head}>
        <strong>{comment.author ?? t("Someone")}</strong>
        <span className={classes.faint} title={moment(comment.created_at)}>
          {ago(comment.created_at)}
          {comment.edited_at === null ? "" : ` · ${t("edited")}`}
        </span>
        <span className="ui-space" />
        {own ? (
          <Button variant="subtle" onClick={() => setEditing(true)} data-testid="edit-comment">
            {t("Edit")}
          </Button>
        ) : null}
        {(own || reader.operator) && props.deletable ? (
          <Confirm
            title={t("Delete…")}
            question={t("The comment is deleted for everybody.")}
            action={t("Delete")}
            busy={false}
            onConfirm={() => void onChange(deleteComment(topology, comment.id))}
            testId="delete-comment"
          />
        ) : null}
      </div>
      <p>{marked(comment)}</p>
    </div>
  );
}

/** The text with mentions of members set off. */
function marked({ mentions, text }: CommentReply) {
  const known = new Set(mentions.map((name) => `@${name}`));
  return text.split(/(@[\w@.+-]+)/).map((part, at) => {
    const name = known.has(part) ? part : part.replace(/\.+$/, "");
    if (!known.has(name)) return part;
    return (
      <span key={at}>
        <mark className={classes.mention}>{name}</mark>
        {part.slice(name.length)}
      </span>
    );
  });
}
