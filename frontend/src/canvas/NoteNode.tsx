import "./marks.css";
import { type NodeProps, useReactFlow } from "@xyflow/react";
import { memo, useRef, useState } from "react";
import { useNoteEditing } from "../designer/noteEditing";
import { useDesigner } from "../designer/store";
import { fragmentAround, noteBox, setNote } from "../graph/drawing";
import { GRID } from "../graph/geometry";
import { t } from "../ui/i18n";
import { Markdown } from "../ui/Markdown";
import type { NoteFlowNode } from "./flow";

const LEAST = { width: 120, height: 48 };

/** Changes the size of a note with the pointer. */
function Corner({ note }: { note: NoteFlowNode["data"]["note"] }) {
  const flow = useReactFlow();
  const start = useRef<{ x: number; y: number; width: number; height: number } | null>(null);
  return (
    <span
      className="note-corner nodrag"
      onPointerDown={(event) => {
        event.stopPropagation();
        event.currentTarget.setPointerCapture(event.pointerId);
        const { height, width } = noteBox(note);
        start.current = { x: event.clientX, y: event.clientY, width, height };
      }}
      onPointerMove={(event) => {
        const from = start.current;
        if (from === null) return;
        const zoom = flow.getZoom();
        const sized = (side: "width" | "height", by: number) =>
          Math.max(LEAST[side], Math.round((from[side] + by / zoom) / GRID) * GRID);
        const size = {
          width: sized("width", event.clientX - from.x),
          height: sized("height", event.clientY - from.y),
        };
        useDesigner
          .getState()
          .change(t("Resize the note"), (document) => setNote(document, note.id, size), {
            gesture: `size ${note.id}`,
          });
      }}
      onPointerUp={() => {
        start.current = null;
        useDesigner.getState().endGesture();
      }}
    />
  );
}

/** A note in Markdown; a double click or Enter edits it. */
export const NoteNode = memo(function NoteNode({ data, selected }: NodeProps<NoteFlowNode>) {
  const { note } = data;
  // Notes of an opened fragment are changed in the fragment.
  const within = fragmentAround(note.id) !== null;
  const readOnly = useDesigner((state) => state.readOnly) || within;
  const editing = useNoteEditing((state) => state.id === note.id) && !readOnly;
  const [text, setText] = useState<string | null>(null);
  const close = (save: boolean) => {
    const now = text;
    setText(null);
    useNoteEditing.setState({ id: null });
    if (!save || now === null || now === note.text) return;
    useDesigner
      .getState()
      .change(t("Edit the note"), (document) => setNote(document, note.id, { text: now }));
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Enter edits the note as well
    <div
      className="note"
      data-hue={note.color ?? "table"}
      data-selected={selected || undefined}
      onDoubleClick={() => useNoteEditing.setState({ id: note.id })}
    >
      {editing ? (
        <textarea
          // biome-ignore lint/a11y/noAutofocus: the note is opened on request, to be typed into
          autoFocus
          className="note-text nodrag nowheel"
          aria-label={t("Text of the note, in Markdown")}
          value={text ?? note.text ?? ""}
          onChange={(event) => setText(event.currentTarget.value)}
          onBlur={() => close(true)}
          onKeyDown={(event) => {
            event.stopPropagation();
            if (event.key === "Escape") close(true);
          }}
        />
      ) : note.text === undefined || note.text === "" ? (
        <p className="m-muted">{t("Double-click to write. Markdown works.")}</p>
      ) : (
        <Markdown text={note.text} />
      )}
      {readOnly ? null : <Corner note={note} />}
    </div>
  );
});
