/** The forms of groups and notes. */

import "./marks.css";
import { Textarea, TextInput } from "@mantine/core";
import { useDesigner } from "../designer/store";
import { type Group, type Note, setGroup, setNote } from "../graph/drawing";
import { type Phrase, phrase, t } from "../ui/i18n";
import { Markdown } from "../ui/Markdown";
import { ManyForm } from "./ManyForm";
import { Section } from "./Section";

/** Colors of groups and notes: those of the families of operators. */
const COLORS: readonly { id: string; title: Phrase }[] = [
  { id: "stateless", title: phrase("Gray") },
  { id: "source", title: phrase("Teal") },
  { id: "aggregation", title: phrase("Violet") },
  { id: "join", title: phrase("Indigo") },
  { id: "table", title: phrase("Ocher") },
  { id: "processor", title: phrase("Rose") },
  { id: "sink", title: phrase("Green") },
];

function Colors(props: { value: string; readOnly: boolean; onChange: (color: string) => void }) {
  return (
    <fieldset className="swatches" disabled={props.readOnly}>
      <legend>{t("Color")}</legend>
      {COLORS.map((color) => (
        <label key={color.id} className="swatch" data-hue={color.id} title={t(color.title)}>
          <input
            type="radio"
            name="color"
            checked={props.value === color.id}
            onChange={() => props.onChange(color.id)}
            aria-label={t(color.title)}
          />
        </label>
      ))}
    </fieldset>
  );
}

export function GroupForm({ group }: { group: Group }) {
  const readOnly = useDesigner((state) => state.readOnly);
  const count = useDesigner((state) => state.selection.nodes.length);
  const change = (part: Partial<Group>, gesture?: string) =>
    useDesigner
      .getState()
      .change(
        t("Change the group"),
        (document) => setGroup(document, group.id, part),
        gesture === undefined ? {} : { gesture },
      );
  return (
    <ManyForm count={count} heading={t("Group")}>
      <Section>
        <TextInput
          label={t("Title")}
          value={group.title ?? ""}
          readOnly={readOnly}
          data-testid="group-title"
          onChange={(event) => change({ title: event.currentTarget.value }, `title ${group.id}`)}
          onBlur={() => useDesigner.getState().endGesture()}
        />
        <Colors
          value={group.color ?? "stateless"}
          readOnly={readOnly}
          onChange={(color) => change({ color })}
        />
      </Section>
    </ManyForm>
  );
}

export function NoteForm({ note }: { note: Note }) {
  const readOnly = useDesigner((state) => state.readOnly);
  const change = (part: Partial<Note>, gesture?: string) =>
    useDesigner
      .getState()
      .change(
        t("Edit the note"),
        (document) => setNote(document, note.id, part),
        gesture === undefined ? {} : { gesture },
      );
  return (
    <div className="inspector-body m-scroll">
      <h2 className="inspector-heading">{t("Note")}</h2>
      <Section>
        {readOnly ? (
          <Markdown text={note.text ?? ""} />
        ) : (
          <Textarea
            label={t("Text")}
            description={t({
              id: "inspector.heading_bold_italic_code",
              message: "# heading, **bold**, *italic*, `code`, - list, [title](https://…)",
            })}
            autosize
            minRows={6}
            maxRows={24}
            value={note.text ?? ""}
            onChange={(event) => change({ text: event.currentTarget.value }, `text ${note.id}`)}
            onBlur={() => useDesigner.getState().endGesture()}
          />
        )}
        <Colors
          value={note.color ?? "table"}
          readOnly={readOnly}
          onChange={(color) => change({ color })}
        />
      </Section>
    </div>
  );
}
