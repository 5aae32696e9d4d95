import "./learn.css";
import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import { asApiError } from "../api/client";
import { createTopology } from "../api/topologyCalls";
import type { Template } from "../api/types";
import { openLearn } from "../commands/guides";
import { useView } from "../designer/view";
import { Note } from "../ui";
import { t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import { LESSONS, type Lesson } from "./lessons";
import { freeName } from "./names";
import { TemplatePicture } from "./TemplatePicture";
import { textsOf, useTemplates } from "./templates";

/** Creates the topology of a lesson, with a name that is free, and opens it in *Simulate*. */
function useLesson(ws: string) {
  const [busy, setBusy] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const open = async (template: Template) => {
    const { description, title } = textsOf(template);
    setBusy(template.id);
    setProblem(null);
    try {
      const name = await freeName(ws, title);
      const made = await createTopology(ws, { name, description, template: template.id });
      void queries.invalidateQueries({ queryKey: ["topologies", ws] });
      openLearn(false);
      useView.getState().openBottom("simulate");
      void navigate(`/w/${ws}/t/${made.id}`);
    } catch (failure) {
      setProblem(asApiError(failure).text);
    } finally {
      setBusy(null);
    }
  };
  return { busy, problem, open };
}

/** Ten topologies of growing difficulty, each with what to try. */
export function LearnDialog({ editor, ws }: { editor: boolean; ws: string }) {
  const templates = useTemplates();
  const { busy, problem, open } = useLesson(ws);
  return (
    <Modal opened onClose={() => openLearn(false)} title={t("Learn")} size={780}>
      <p className="learn-about">
        {t({
          id: "learn.about_simulation",
          message:
            "Ten topologies with sample records, from the simplest to the hardest. In Simulate nothing is deployed and no topic is touched.",
        })}
      </p>
      {editor ? null : <Note>{t("You need the editor role to create a topology.")}</Note>}
      {problem === null ? null : <Note tone="failed">{problem}</Note>}
      <ol className="learn-list" data-testid="lessons">
        {LESSONS.map((lesson) => {
          const template = templates.find((each) => each.id === lesson.template);
          return template === undefined ? null : (
            <Entry
              key={template.id}
              lesson={lesson}
              template={template}
              disabled={!editor || (busy !== null && busy !== template.id)}
              busy={busy === template.id}
              onOpen={() => void open(template)}
            />
          );
        })}
      </ol>
    </Modal>
  );
}

function Entry(props: {
  lesson: Lesson;
  template: Template;
  disabled: boolean;
  busy: boolean;
  onOpen: () => void;
}) {
  const { description, title } = textsOf(props.template);
  return (
    <li className="learn-lesson">
      <TemplatePicture template={props.template} />
      <div>
        <h3>{title}</h3>
        <p>{description}</p>
        <ul>
          {props.lesson.tries.map((each) => (
            <li key={t(each)}>{t(each)}</li>
          ))}
        </ul>
      </div>
      <Button
        disabled={props.disabled}
        loading={props.busy}
        aria-label={t("Try it in Simulate: {title}", { title })}
        onClick={props.onOpen}
      >
        {t("Try it in Simulate")}
      </Button>
    </li>
  );
}
