/** The program of a document as a person wrote it, with its comments. It is part of the drawing. */

import type { TopologyDocument } from "./document";

type Files = Readonly<Record<string, string>>;

/** The files of the written program, by path; null if nobody wrote one. */
export function writtenOf(document: TopologyDocument): Files | null {
  return document.drawing?.program ?? null;
}

export function setWritten(document: TopologyDocument, program: Files): TopologyDocument {
  return { ...document, drawing: { ...document.drawing, program } };
}
