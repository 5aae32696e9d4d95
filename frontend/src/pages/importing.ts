/** Topologies from files: documents in JSON, and programs in Python. */

import { useState } from "react";
import { readDocument, type TopologyDocument } from "../graph/document";
import { t } from "../ui/i18n";
import { documentOf } from "../versions/programs";

/** The files that can be imported, for the browser's dialog. */
export const IMPORTED = "application/json,.json,text/x-python,.py";

/** The file's name without its extension. */
export function titleOf(file: string): string {
  return file.replace(/\.(json|py)$/, "");
}

/** Reads the document in a file. Throws an error whose message says what is wrong with the file. */
export async function readTopology(ws: string, file: File): Promise<TopologyDocument> {
  const text = await file.text();
  if (file.name.endsWith(".py")) return await documentOf(ws, { name: file.name, program: text });
  const document = parsed(text);
  if (document === null) {
    throw new Error(
      t(
        {
          id: "pages.is_not_topology_it_must",
          message:
            "{file} is not a topology: it must be a document in JSON with a list called “nodes”, or a program in Python (.py).",
        },
        { file: file.name },
      ),
    );
  }
  return document;
}

function parsed(text: string): TopologyDocument | null {
  try {
    return readDocument(JSON.parse(text));
  } catch {
    return null;
  }
}

export interface Imported {
  readonly document: TopologyDocument;
  readonly file: string;
}

/** Reads the files that a person chooses; the last one counts. */
export function useImport(ws: string, onRead: (imported: Imported) => void) {
  const [reading, setReading] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const read = async (file: File | null) => {
    if (file === null) return;
    setProblem(null);
    setReading(true);
    try {
      onRead({ document: await readTopology(ws, file), file: file.name });
    } catch (failure) {
      setProblem(failure instanceof Error ? failure.message : String(failure));
    }
    setReading(false);
  };
  return { problem, read, reading };
}
