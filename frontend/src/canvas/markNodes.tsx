/** Groups and notes, loaded when the first one is drawn. React Flow knows their sizes before. */

import type { NodeProps } from "@xyflow/react";
import { Suspense } from "react";
import { later } from "../ui/later";
import type { GroupFlowNode, NoteFlowNode } from "./flow";

const LaterFrame = later(async () => (await import("./GroupNodes")).FrameNode);
const LaterGroup = later(async () => (await import("./GroupNodes")).GroupNode);
const LaterNote = later(async () => (await import("./NoteNode")).NoteNode);

function Frame(props: NodeProps<GroupFlowNode>) {
  return (
    <Suspense>
      <LaterFrame {...props} />
    </Suspense>
  );
}

function Group(props: NodeProps<GroupFlowNode>) {
  return (
    <Suspense>
      <LaterGroup {...props} />
    </Suspense>
  );
}

function Note(props: NodeProps<NoteFlowNode>) {
  return (
    <Suspense>
      <LaterNote {...props} />
    </Suspense>
  );
}

export const MARK_NODES = { frame: Frame, group: Group, note: Note };
