/** Editing of the open topology: its draft, base version, unsaved changes and conflicts. */

import { create } from "zustand";
import { ApiError } from "../api/client";
import { createVersion, getVersion, putDraft } from "../api/topologyCalls";
import type { Draft, TopologyDocument, Version, VersionSummary } from "../api/types";
import { useDesigner } from "../designer/store";
import { notify } from "../frame/notify";
import { t } from "../ui/i18n";
import { changesBetween } from "./changes";
import { DraftCollision, DraftKeeper, type DraftState } from "./draft";
import { canonical } from "./merge";
import { keepUnsent, readUnsent, type Unsent } from "./unsent";

export interface Conflict {
  readonly base: TopologyDocument | null;
  readonly theirs: Version;
  readonly message: string;
}

interface Editing {
  /** The signed-in person. */
  readonly user: number;
  readonly ws: string;
  readonly topology: number | null;
  readonly name: string;
  /** The version on which the document is based; null before the first save. */
  readonly baseVersion: number | null;
  readonly baseDocument: TopologyDocument | null;
  readonly changed: boolean;
  readonly draft: DraftState;
  /** Why the server has refused the last draft; null if it did not respond, or has taken it. */
  readonly refusal: ApiError | null;
  /** The revision of the server's draft that this page has last seen or written; null if there is none. */
  readonly revision: string | null;
  /** The draft that the person has since written in another window. */
  readonly elsewhere: Draft | null;
  readonly conflict: Conflict | null;
  readonly saving: boolean;
  readonly deploying: boolean;
  readonly dialog: "save" | "import" | "parameters" | null;
}

const CLOSED: Editing = {
  user: 0,
  ws: "",
  topology: null,
  name: "",
  baseVersion: null,
  baseDocument: null,
  changed: false,
  draft: "saved",
  refusal: null,
  revision: null,
  elsewhere: null,
  conflict: null,
  saving: false,
  deploying: false,
  dialog: null,
};

export const useEditing = create<Editing>()(() => CLOSED);

let keeper: DraftKeeper | null = null;
let unsubscribe: (() => void) | null = null;

let flushed: Promise<void> = Promise.resolve();

/** Whether two documents would be the same version. The order of fields does not count. */
function sameDocument(a: TopologyDocument | null, b: TopologyDocument): boolean {
  return a !== null && canonical(a) === canonical(b);
}

/** Whether a document differs from its base version or, before the first save, from an empty document. */
function differsFrom(base: TopologyDocument | null, document: TopologyDocument): boolean {
  return base === null ? document.nodes.length > 0 : !sameDocument(base, document);
}

interface Opening {
  user: number;
  ws: string;
  topology: number;
  name: string;
  document: TopologyDocument;
  revision: string | null;
  baseVersion: number | null;
  baseDocument: TopologyDocument | null;
}

/**
 * Returns a function that sends a topology's drafts, each replacing the revision that this page has last seen. It
 * recognizes a draft that the page itself wrote, even if the response was lost.
 *
 * @throws DraftCollision if another window has written a newer draft, which is kept in `elsewhere`.
 */
function draftSender(topology: number) {
  let last: TopologyDocument | null = null;
  let place = useEditing.getState();
  return async (document: TopologyDocument): Promise<void> => {
    // After the topology was closed, its last change is still sent.
    if (useEditing.getState().topology === topology) place = useEditing.getState();
    const before = last;
    last = document;
    const put = (revision: string | null) =>
      putDraft(topology, { document, base_version: place.baseVersion, revision });
    const saved = await put(place.revision).catch((error: unknown) => {
      const theirs = draftElsewhere(error);
      if (sameDocument(before, theirs.document)) return put(theirs.revision);
      useEditing.setState({ elsewhere: theirs });
      throw new DraftCollision();
    });
    place = { ...place, revision: saved.revision };
    if (useEditing.getState().topology === topology)
      useEditing.setState({ revision: saved.revision });
  };
}

/** The other window's draft from a refusal; throws any other error again. */
function draftElsewhere(error: unknown): Draft {
  const theirs = error instanceof ApiError ? (error.data.theirs as Draft | undefined) : undefined;
  if (theirs === undefined || (error as ApiError).code !== "draft_conflict") throw error;
  return theirs;
}

/** Starts keeping the draft of a topology that the designer has just opened. */
export function beginEditing(opening: Opening): void {
  endEditing();
  useEditing.setState({
    ...CLOSED,
    ...opening,
    changed: differsFrom(opening.baseDocument, opening.document),
  });
  const { topology, user } = opening;
  const unsent = readUnsent(user, topology);
  const send = draftSender(topology);
  const refused = (error: unknown) => {
    const refusal = error instanceof ApiError && error.status >= 400 && error.status < 500;
    if (useEditing.getState().topology === topology)
      useEditing.setState({ refusal: refusal ? error : null });
  };
  keeper = new DraftKeeper({
    put: (document) =>
      send(document).then(
        () => refused(null),
        (error: unknown) => {
          refused(error);
          throw error;
        },
      ),
    onState: (draft) => useEditing.setState({ draft }),
    onUnsent: (document) =>
      keepUnsent(
        user,
        topology,
        document && { document, revision: useEditing.getState().revision },
      ),
  });
  let last = opening.document;
  unsubscribe = useDesigner.subscribe((state) => {
    if (state.topologyId !== topology || state.readOnly || state.document === last) return;
    last = state.document;
    useEditing.setState({ changed: differsFrom(useEditing.getState().baseDocument, last) });
    keeper?.changed(last);
  });
  if (unsent !== null) bringBack(unsent, opening);
}

/** Restores changes that were not sent, because the page was closed or another window's draft collided. */
function bringBack(unsent: Unsent, { user, topology, document, revision }: Opening): void {
  if (sameDocument(document, unsent.document)) {
    // The changes arrived; only the response was lost.
    keepUnsent(user, topology, null);
    return;
  }
  const { change } = useDesigner.getState();
  change(t("Restore unsaved changes"), () => unsent.document);
  if (unsent.revision === revision) {
    notify(t("Unsaved changes were restored."));
  } else {
    change(t("Show the newer draft"), () => document);
    // The server has this draft already.
    keeper?.forget();
    notify(t("Older unsaved changes are in the undo history."));
  }
}

export function endEditing(): void {
  unsubscribe?.();
  flushed = keeper?.close() ?? flushed;
  unsubscribe = null;
  keeper = null;
  useEditing.setState(CLOSED);
}

/** Resolves when the last change of the topology that was open before has been sent or has failed. */
export function lastFlush(): Promise<void> {
  return flushed;
}

export function draftIsDirty(): boolean {
  return keeper?.dirty ?? false;
}

/** Sends a draft that could not be sent, because the server responds again. */
export function retryDraft(): void {
  keeper?.retry();
}

export function flushDraft(): Promise<void> {
  return keeper?.flush() ?? Promise.resolve();
}

/** The message proposed for a new version: the changes since the base version. */
export function proposedMessage(): string {
  const changes = changesBetween(
    useEditing.getState().baseDocument,
    useDesigner.getState().document,
  );
  return changes === "" ? t("Saved") : changes;
}

/**
 * Saves the document as a new version. Null if someone else has saved one meanwhile; the conflict is then shown.
 *
 * @param base overrides the base version: a merged document is based on the other person's version.
 */
export async function saveVersion(message: string, base?: number): Promise<Version | null> {
  const { topology, baseVersion, baseDocument } = useEditing.getState();
  if (topology === null) return null;
  const { document } = useDesigner.getState();
  useEditing.setState({ saving: true });
  try {
    // Saving a version deletes the draft, which a later request would create again.
    await keeper?.flush();
    const version = await createVersion(topology, {
      document,
      message,
      base_version: base ?? baseVersion,
      draft_revision: useEditing.getState().revision,
    });
    const now = useDesigner.getState().document;
    if (now === document) keeper?.forget();
    useEditing.setState({
      baseVersion: version.number,
      baseDocument: document,
      revision: null,
      changed: differsFrom(document, now),
      conflict: null,
      dialog: null,
    });
    return version;
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "version_conflict") throw error;
    const sides = error.data as {
      base?: { document?: TopologyDocument } | null;
      theirs?: Version;
    };
    if (sides.theirs === undefined) throw error;
    useEditing.setState({
      conflict: { base: sides.base?.document ?? baseDocument, theirs: sides.theirs, message },
      dialog: null,
    });
    return null;
  } finally {
    useEditing.setState({ saving: false });
  }
}

/** Forgets the draft, which is kept elsewhere now. */
export function forgetDraft(): void {
  keeper?.forget();
}

/** Takes someone else's newer version. The person's own document stays in the undo history. */
export function takeTheirs(theirs: Version): void {
  useEditing.setState({
    baseVersion: theirs.number,
    baseDocument: theirs.document,
    conflict: null,
  });
  useDesigner.getState().change(t("Take version {n}", { n: theirs.number }), () => theirs.document);
}

/**
 * Continues with this window's draft or with that of another window. The other one stays in the undo history.
 */
export async function resolveDraft(side: "mine" | "theirs"): Promise<void> {
  const { elsewhere, topology } = useEditing.getState();
  if (elsewhere === null || topology === null) return;
  const base = elsewhere.base_version;
  const baseDocument = base === null ? null : (await getVersion(topology, base)).document;
  const { change, document } = useDesigner.getState();
  useEditing.setState({ revision: elsewhere.revision, elsewhere: null });
  if (side === "theirs") useEditing.setState({ baseVersion: base, baseDocument });
  change(t("Take the other window's draft"), () => elsewhere.document);
  if (side === "mine") change(t("Keep this window's draft"), () => document);
  keeper?.resume();
}

/** Restores the document of an earlier version. Saving it creates a new version. */
export async function restoreVersion(version: VersionSummary): Promise<void> {
  const { topology } = useEditing.getState();
  if (topology === null) return;
  const { document } = await getVersion(topology, version.number);
  useDesigner.getState().change(t("Restore version {n}", { n: version.number }), () => document);
}

/**
 * Replaces the drawing by a document from a file. The topology keeps its name. Saving it creates a new version.
 */
export function importDocument(file: string, document: TopologyDocument): void {
  const { change } = useDesigner.getState();
  change(t("Import {file}", { file }), (now) => ({ ...document, name: now.name }));
}

/** Opens the dialog that imports a document or a program. */
export function openImport(): void {
  if (useEditing.getState().topology !== null) useEditing.setState({ dialog: "import" });
}

/** Opens the dialog that saves a version. */
export function openSave(): void {
  if (useEditing.getState().topology !== null) useEditing.setState({ dialog: "save" });
}

/** Opens the parameters of the topology, or closes them. */
export function openParameters(open: boolean): void {
  useEditing.setState({ dialog: open ? "parameters" : null });
}
