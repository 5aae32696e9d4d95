/** Text in a picture, where nothing breaks lines or cuts what is too long. */

import { blocksOf } from "../ui/Markdown";

/** Fonts that programs which show an SVG have; the page's own font is not in the file. */
export const FONT =
  'system-ui, -apple-system, "Segoe UI", "PingFang SC", "Noto Sans CJK SC", sans-serif';

let pen: CanvasRenderingContext2D | null | undefined;

/** The width of a text in pixels. */
export function widthOf(text: string, size: number, weight = 400): number {
  pen ??= document.createElement("canvas").getContext("2d");
  if (pen == null) return text.length * size * 0.56;
  pen.font = `${weight} ${size}px ${FONT}`;
  return pen.measureText(text).width;
}

/** A text with as many of its characters as there is room for. */
export function fitted(text: string, room: number, size: number, weight = 400): string {
  if (widthOf(text, size, weight) <= room) return text;
  const characters = [...text];
  let [low, high] = [0, characters.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const shown = `${characters.slice(0, middle).join("").trimEnd()}…`;
    if (widthOf(shown, size, weight) <= room) low = middle;
    else high = middle - 1;
  }
  return `${characters.slice(0, low).join("").trimEnd()}…`;
}

/** A text in lines of at most a width, broken at spaces and, in long words, between characters. */
export function wrapped(text: string, room: number, size: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/(?<=\s)|(?=[\u3000-\u9fff])/)) {
    if (widthOf((line + word).trimEnd(), size) <= room) {
      line += word;
      continue;
    }
    if (line !== "") lines.push(line.trimEnd());
    line = word;
    while (widthOf(line.trimEnd(), size) > room && line.length > 1) {
      const head = fitted(line, room, size).slice(0, -1) || line.slice(0, 1);
      lines.push(head);
      line = line.slice(head.length);
    }
  }
  if (line.trim() !== "") lines.push(line.trimEnd());
  return lines;
}

interface NoteLine {
  readonly text: string;
  readonly strong: boolean;
  readonly code: boolean;
}

const MARKS = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\([^)]*\)/g;

/** The lines of a note without their marks. */
export function noteLines(text: string, room: number, size: number): NoteLine[] {
  return blocksOf(text).flatMap(({ kind, lines }) =>
    lines.flatMap((line, index) => {
      const plain = line.replace(MARKS, (_all, ...parts) => parts.slice(0, 4).find(Boolean) ?? "");
      const lead = kind === "bullets" ? "• " : kind === "numbers" ? `${index + 1}. ` : "";
      return wrapped(lead + plain, room, size).map((each) => ({
        text: each,
        strong: kind === "heading",
        code: kind === "code",
      }));
    }),
  );
}
