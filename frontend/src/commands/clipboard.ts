import { canvas } from "../designer/canvasApi";
import { useDesigner } from "../designer/store";
import { removeNodes } from "../graph/changes";
import { cut, paste, readFragment, writeFragment } from "../graph/clipboard";
import { removeNotes } from "../graph/drawing";
import { t } from "../ui/i18n";
import { isTyping } from "../ui/keys";

/** The selected nodes as text; null if nothing is selected. */
export function copiedText(): string | null {
  const { document, selection } = useDesigner.getState();
  if (selection.nodes.length + (selection.notes?.length ?? 0) === 0) return null;
  // A node within a fragment is copied where the fragment is drawn.
  if (selection.inner !== undefined) return null;
  return writeFragment(cut(document, new Set(selection.nodes), selection.notes));
}

/** Pastes the nodes in a text around the pointer; false if the text contains none. */
export function pasteText(text: string): boolean {
  const { catalog, change, document, readOnly } = useDesigner.getState();
  const fragment = readFragment(text);
  if (fragment === null || catalog === null || readOnly) return false;
  const api = canvas();
  const at = api?.pointer() ?? api?.centre() ?? null;
  const copy = paste(document, catalog, fragment, at);
  const label =
    copy.ids.length > 0
      ? t("Paste {n} {n, plural, one {node} other {nodes}}", { n: copy.ids.length })
      : t("Paste {n} {n, plural, one {note} other {notes}}", { n: copy.notes.length });
  change(label, () => copy.document, {
    select: { nodes: copy.ids, edges: [], notes: copy.notes },
  });
  return true;
}

export function removeCopied() {
  const { change, selection } = useDesigner.getState();
  const notes = selection.notes ?? [];
  change(
    selection.nodes.length > 0
      ? t("Cut {n} {n, plural, one {node} other {nodes}}", { n: selection.nodes.length })
      : t("Cut {n} {n, plural, one {note} other {notes}}", { n: notes.length }),
    (document) => removeNotes(removeNodes(document, new Set(selection.nodes)), notes),
    { select: { nodes: [], edges: [] } },
  );
}

function textIsSelected(): boolean {
  return (window.getSelection()?.toString() ?? "") !== "";
}

/** Makes the clipboard shortcuts and the browser's menu work on nodes; returns a function that stops listening. */
export function listenToClipboard(): () => void {
  function onCopy(event: ClipboardEvent) {
    if (isTyping(event.target) || textIsSelected()) return;
    const text = copiedText();
    if (text === null) return;
    event.preventDefault();
    event.clipboardData?.setData("text/plain", text);
    if (event.type === "cut") removeCopied();
  }
  function onPaste(event: ClipboardEvent) {
    if (isTyping(event.target)) return;
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (pasteText(text)) event.preventDefault();
  }
  document.addEventListener("copy", onCopy);
  document.addEventListener("cut", onCopy);
  document.addEventListener("paste", onPaste);
  return () => {
    document.removeEventListener("copy", onCopy);
    document.removeEventListener("cut", onCopy);
    document.removeEventListener("paste", onPaste);
  };
}
