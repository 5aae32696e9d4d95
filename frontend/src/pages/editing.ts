/** The open topology between draft, versions and deployment: what is saved, what is not, what collides. */

import { create } from "zustand";
import {
  actOnDeployment,
  createDeployment,
  createVersion,
  getVersion,
  putDraft,
  redeploy,
} from "../api/calls";
import { ApiError } from "../api/client";
import type {
  Deployment,
  DeploymentSettings,
  TopologyDocument,
  Version,
  VersionSummary,
} from "../api/types";
import { t } from "../app/phrases";
import { tell } from "../app/tell";
import { useDesigner } from "../designer/store";
import { useLive } from "../runtime/store";
import { DraftKeeper, type DraftState } from "./draft";
import { canonical } from "./merge";
import { keepUnsent, readUnsent } from "./unsent";

export interface Conflict {
  readonly base: TopologyDocument | null;
  readonly theirs: Version;
  readonly message: string;
}

interface Editing {
  readonly ws: string;
  readonly topology: number | null;
  readonly name: string;
  /** The version that the drawing was begun from; null before the first save. */
  readonly baseVersion: number | null;
  readonly baseDocument: TopologyDocument | null;
  readonly changed: boolean;
  readonly draft: DraftState;
  readonly conflict: Conflict | null;
  readonly saving: boolean;
  readonly deploying: boolean;
  readonly dialog: "save" | null;
}

const CLOSED: Editing = {
  ws: "",
  topology: null,
  name: "",
  baseVersion: null,
  baseDocument: null,
  changed: false,
  draft: "saved",
  conflict: null,
  saving: false,
  deploying: false,
  dialog: null,
};

export const useEditing = create<Editing>()(() => CLOSED);

let keeper: DraftKeeper | null = null;
let unsubscribe: (() => void) | null = null;

/** Whether two documents would be the same version: the order of fields is no change. */
function sameDocument(a: TopologyDocument | null, b: TopologyDocument): boolean {
  return a !== null && canonical(a) === canonical(b);
}

export interface Opening {
  user: number;
  ws: string;
  topology: number;
  name: string;
  document: TopologyDocument;
  baseVersion: number | null;
  baseDocument: TopologyDocument | null;
}

/** Begins to keep the draft of a topology that the designer has just opened. */
export function beginEditing(opening: Opening): void {
  endEditing();
  useEditing.setState({
    ...CLOSED,
    ...opening,
    changed:
      opening.document.nodes.length > 0 && !sameDocument(opening.baseDocument, opening.document),
  });
  const { topology, user } = opening;
  const unsent = readUnsent(user, topology);
  keeper = new DraftKeeper({
    put: (document) =>
      putDraft(topology, { document, base_version: useEditing.getState().baseVersion }),
    onState: (draft) => useEditing.setState({ draft }),
    onUnsent: (document) => keepUnsent(user, topology, document),
  });
  let last = opening.document;
  unsubscribe = useDesigner.subscribe((state) => {
    if (state.topologyId !== topology || state.readOnly || state.document === last) return;
    last = state.document;
    useEditing.setState({ changed: !sameDocument(useEditing.getState().baseDocument, last) });
    keeper?.changed(last);
  });
  if (unsent === null) return;
  if (sameDocument(opening.document, unsent)) {
    // It had arrived; only the answer did not.
    keepUnsent(user, topology, null);
  } else {
    // The page died before this was sent: it is a change of the draft like any other, and can be undone.
    useDesigner.getState().change(t("Bring back what was not sent"), () => unsent);
    tell(t("Changes that had not reached the server were brought back."));
  }
}

export function endEditing(): void {
  unsubscribe?.();
  keeper?.close();
  unsubscribe = null;
  keeper = null;
  useEditing.setState(CLOSED);
}

export function draftIsDirty(): boolean {
  return keeper?.dirty ?? false;
}

export function flushDraft(): Promise<void> {
  return keeper?.flush() ?? Promise.resolve();
}

/**
 * Saves the drawing as a new version. Null if someone else saved one meanwhile: the conflict is then open and shown.
 *
 * @param base states another base version than the drawing's own: what was merged is based on theirs.
 */
export async function saveVersion(message: string, base?: number): Promise<Version | null> {
  const { topology, baseVersion, baseDocument } = useEditing.getState();
  if (topology === null) return null;
  const { document } = useDesigner.getState();
  useEditing.setState({ saving: true });
  try {
    // A draft that is still on its way must not come back to life behind the version.
    await keeper?.flush();
    const version = await createVersion(topology, {
      document,
      message,
      base_version: base ?? baseVersion,
    });
    const now = useDesigner.getState().document;
    if (now === document) keeper?.forget();
    useEditing.setState({
      baseVersion: version.number,
      baseDocument: document,
      changed: !sameDocument(document, now),
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

/** Someone's newer version is taken as the drawing; what was mine is in the undo history. */
export function takeTheirs(theirs: Version): void {
  useEditing.setState({
    baseVersion: theirs.number,
    baseDocument: theirs.document,
    conflict: null,
  });
  useDesigner.getState().change(`Take version ${theirs.number}`, () => theirs.document);
}

/** The drawing becomes what an earlier version was; a new version comes of it when it is saved. */
export async function restoreVersion(version: VersionSummary): Promise<void> {
  const { topology } = useEditing.getState();
  if (topology === null) return;
  const { document } = await getVersion(topology, version.number);
  useDesigner.getState().change(`Restore version ${version.number}`, () => document);
}

/**
 * Deploys the drawing: saved first if it has changes, then started, or put in place of the version that runs.
 * Null if saving met a conflict.
 */
export async function deployDrawing(
  settings: DeploymentSettings | null,
  message: string,
): Promise<Deployment | null> {
  const before = useEditing.getState();
  if (before.topology === null) return null;
  useEditing.setState({ deploying: true });
  try {
    let version = before.baseVersion;
    if (before.changed || version === null) {
      version = (await saveVersion(message))?.number ?? null;
      if (version === null) return null;
    }
    const current = useLive.getState().deployment;
    const deployment =
      current === null
        ? await createDeployment(before.ws, {
            topology: before.topology,
            version,
            settings: settings ?? {},
          })
        : await redeploy(current.id, version, settings);
    useLive.getState().receive({ type: "deployment.changed", data: deployment });
    return deployment;
  } finally {
    useEditing.setState({ deploying: false });
  }
}

export async function act(action: "start" | "stop" | "restart"): Promise<void> {
  const { deployment } = useLive.getState();
  if (deployment === null) return;
  const data = await actOnDeployment(deployment.id, action);
  useLive.getState().receive({ type: "deployment.changed", data });
}
