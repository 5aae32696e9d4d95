import { Button, FileButton, TextInput } from "@mantine/core";
import IconFileImport from "@tabler/icons-react/dist/esm/icons/IconFileImport.mjs";
import IconPlayerPlay from "@tabler/icons-react/dist/esm/icons/IconPlayerPlay.mjs";
import IconPlus from "@tabler/icons-react/dist/esm/icons/IconPlus.mjs";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useNavigate } from "react-router";
import { asApiError } from "../api/client";
import { createTopology, tryTemplate } from "../api/topologyCalls";
import { may, useWorkspace } from "../frame/session";
import type { TopologyDocument } from "../graph/document";
import { freeName, LONGEST_NAME } from "../learn/names";
import { TemplatePicture } from "../learn/TemplatePicture";
import { textsOf, useTemplates } from "../learn/templates";
import { Note, Tip } from "../ui";
import { language, t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import classes from "../ui/pages.module.css";
import { IMPORTED, titleOf, useImport } from "./importing";

interface CreateDialogProps {
  ws: string;
  template?: string;
  onClose: () => void;
}

type Start =
  | { from: "empty" }
  | { from: "template"; id: string }
  | { from: "file"; document: TopologyDocument; file: string };

/** Creates a topology and opens it, or shows why it could not be created. */
function useCreation(ws: string, onFree: (name: string) => void) {
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const queries = useQueryClient();
  const navigate = useNavigate();

  const request = async (send: () => Promise<number>, title: string) => {
    setBusy(true);
    setError(null);
    try {
      const made = await send();
      void queries.invalidateQueries({ queryKey: ["topologies", ws] });
      void navigate(`/w/${ws}/t/${made}`);
    } catch (failure) {
      setBusy(false);
      const known = asApiError(failure);
      if (known.code !== "name_taken") {
        setError(known.fields.name ?? known.text);
        return;
      }
      const free = await freeName(ws, title).catch(() => title);
      onFree(free);
      setError(
        t(
          {
            id: "pages.name_is_already_used",
            message: "The name “{name}” is already used in this workspace. “{free}” is free.",
          },
          {
            name: title,
            free,
          },
        ),
      );
    }
  };
  return { busy, error, request };
}

/** Asks for a name and a starting point: empty, a template, or a document from a file. */
export function CreateDialog({ ws, template, onClose }: CreateDialogProps) {
  const templates = useTemplates();
  const [name, setName] = useState(() => {
    const chosen = templates.find((each) => each.id === template);
    return chosen === undefined ? "" : textsOf(chosen).title;
  });
  /** The suggested name. Another choice may replace it, but not a name that was typed. */
  const [proposed, setProposed] = useState(name);
  const [start, setStart] = useState<Start>(
    template === undefined ? { from: "empty" } : { from: "template", id: template },
  );
  const { busy, error, request } = useCreation(ws, setName);
  const operator = may(useWorkspace(ws)?.role, "operator");

  const propose = async (title: string) => {
    const free = await freeName(ws, title).catch(() => title);
    setName(free);
    setProposed(free);
  };
  const importing = useImport(ws, ({ document, file }) => {
    setStart({ from: "file", document, file });
    if (name === "" || name === proposed) void propose(document.name || titleOf(file));
  });
  const tryIt = (id: string) =>
    request(async () => (await tryTemplate(ws, id, language())).topology, name);
  const create = async (event: FormEvent) => {
    event.preventDefault();
    const title = name.trim();
    if (title === "") return;
    const chosen = templates.find((each) => start.from === "template" && each.id === start.id);
    const beginning =
      chosen === undefined ? {} : { template: chosen.id, description: textsOf(chosen).description };
    const document = start.from === "file" ? { document: { ...start.document, name: title } } : {};
    await request(
      async () => (await createTopology(ws, { name: title, ...beginning, ...document })).id,
      title,
    );
  };

  return (
    <Modal opened onClose={onClose} title={t("New topology")} size={780}>
      <form onSubmit={(event) => void create(event)} className={classes.form}>
        <TextInput
          label={t("Name")}
          placeholder={t("Orders per hour")}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={LONGEST_NAME}
          required
          data-autofocus
          data-testid="topology-name"
        />
        <Starts
          start={start}
          onEmpty={() => setStart({ from: "empty" })}
          reading={importing.reading}
          onFile={(file) => void importing.read(file)}
        />
        {importing.problem === null ? null : (
          <Note tone="failed">
            <span className={classes.problem} data-testid="import-problem">
              {importing.problem}
            </span>
          </Note>
        )}
        <h3 className={classes.choicesTitle}>{t("Templates, each with tests and sample data")}</h3>
        <div className={classes.templates} role="radiogroup" aria-label={t("Templates")}>
          {templates.map((each) => {
            const { description, title } = textsOf(each);
            return (
              <Choice
                key={each.id}
                checked={start.from === "template" && start.id === each.id}
                onChoose={() => {
                  setStart({ from: "template", id: each.id });
                  if (name === "" || name === proposed) void propose(title);
                }}
                picture={<TemplatePicture template={each} />}
                title={title}
                about={description}
              />
            );
          })}
        </div>
        {error === null ? null : <Note tone="failed">{error}</Note>}
        <div className={classes.stickyEnd}>
          <Button onClick={onClose}>{t("Cancel")}</Button>
          {start.from === "template" && operator ? (
            <Tip
              text={t({
                id: "pages.creates_topology_and_its_topics",
                message:
                  "Creates the topology and its topics, and starts to generate records. Deploy it to see it run.",
              })}
            >
              <Button
                loading={busy}
                leftSection={<IconPlayerPlay size={16} stroke={1.5} />}
                onClick={() => void tryIt(start.id)}
                data-testid="try-template"
              >
                {t("Try it")}
              </Button>
            </Tip>
          ) : null}
          <Button
            type="submit"
            variant="filled"
            loading={busy}
            disabled={name.trim() === ""}
            data-testid="create-topology"
          >
            {t("Create")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

function Starts(props: {
  start: Start;
  reading: boolean;
  onEmpty: () => void;
  onFile: (file: File | null) => void;
}) {
  const { onEmpty, onFile, reading, start } = props;
  return (
    <div className={classes.choices} role="radiogroup" aria-label={t("Start from")}>
      <Choice
        checked={start.from === "empty"}
        onChoose={onEmpty}
        icon={<IconPlus size={18} stroke={1.5} />}
        title={t("Empty canvas")}
        about={t("Start with the first node.")}
      />
      <FileButton accept={IMPORTED} onChange={onFile}>
        {(button) => (
          <Choice
            checked={start.from === "file"}
            onChoose={button.onClick}
            icon={<IconFileImport size={18} stroke={1.5} />}
            title={start.from === "file" ? start.file : t("Import a document or a program…")}
            about={
              reading
                ? t("Reading the file…")
                : start.from === "file"
                  ? t("{n} {n, plural, one {node} other {nodes}}", {
                      n: start.document.nodes.length,
                    })
                  : t("A topology document (.json), or a program in Python (.py).")
            }
          />
        )}
      </FileButton>
    </div>
  );
}

function Choice(props: {
  checked: boolean;
  onChoose: () => void;
  icon?: React.ReactNode;
  picture?: React.ReactNode;
  title: string;
  about: string;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a radio input cannot be drawn as a card
    <button
      type="button"
      role="radio"
      aria-checked={props.checked}
      className={props.picture === undefined ? classes.choice : classes.template}
      onClick={props.onChoose}
    >
      {props.picture === undefined ? (
        <span className={classes.choiceIcon}>{props.icon}</span>
      ) : (
        <span className={classes.templatePicture}>{props.picture}</span>
      )}
      <span>
        <span className={classes.choiceTitle}>{props.title}</span>
        <span className={classes.choiceAbout}>{props.about}</span>
      </span>
    </button>
  );
}
