/** Markdown as elements: headings, lists, code, emphasis and links. It never makes HTML from text. */

import { Fragment, type ReactNode } from "react";
import "./markdown.css";

/** Emphasis, code and links in a line; everything else is text. */
const INLINE =
  /(`[^`]+`)|(\*\*[^*]+\*\*)|(\*[^*\s][^*]*\*)|(_[^_\s][^_]*_)|\[([^\]]+)\]\((https?:\/\/[^\s)]+)\)/;

function inline(text: string): ReactNode[] {
  const parts: ReactNode[] = [];
  for (let rest = text; rest !== ""; ) {
    const found = INLINE.exec(rest);
    if (found === null) {
      parts.push(rest);
      break;
    }
    const [whole, code, strong, star, under, title, address] = found;
    if (found.index > 0) parts.push(rest.slice(0, found.index));
    const key = parts.length;
    if (code !== undefined) parts.push(<code key={key}>{code.slice(1, -1)}</code>);
    else if (strong !== undefined) {
      parts.push(<strong key={key}>{inline(strong.slice(2, -2))}</strong>);
    } else if (star !== undefined || under !== undefined) {
      parts.push(<em key={key}>{inline((star ?? under ?? "").slice(1, -1))}</em>);
    } else {
      parts.push(
        <a key={key} href={address} target="_blank" rel="noreferrer noopener">
          {title}
        </a>,
      );
    }
    rest = rest.slice(found.index + whole.length);
  }
  return parts;
}

interface Block {
  readonly kind: "heading" | "text" | "code" | "bullets" | "numbers";
  readonly lines: string[];
}

const BULLET = /^\s*[-*+]\s+/;
const NUMBER = /^\s*\d+[.)]\s+/;
const HEADING = /^#{1,6}\s+/;

/** Paragraphs, lists, headings and fenced code, in order. */
export function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | null = null;
  let fenced = false;
  const add = (kind: Block["kind"], line: string, joins: boolean) => {
    if (joins && open?.kind === kind) open.lines.push(line);
    else {
      open = { kind, lines: [line] };
      blocks.push(open);
    }
  };
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith("```")) {
      fenced = !fenced;
      open = null;
      if (fenced) {
        open = { kind: "code", lines: [] };
        blocks.push(open);
      }
    } else if (fenced) add("code", line, true);
    else if (line.trim() === "") open = null;
    else if (HEADING.test(line)) add("heading", line.replace(HEADING, ""), false);
    else if (BULLET.test(line)) add("bullets", line.replace(BULLET, ""), true);
    else if (NUMBER.test(line)) add("numbers", line.replace(NUMBER, ""), true);
    else add("text", line, true);
  }
  return blocks;
}

/** Lines of a paragraph, with their breaks. */
function lines(all: readonly string[]): ReactNode[] {
  return all.map((line, index) => (
    <Fragment key={index}>
      {index > 0 ? <br /> : null}
      {inline(line)}
    </Fragment>
  ));
}

function block({ kind, lines: all }: Block, key: number): ReactNode {
  if (kind === "code") return <pre key={key}>{all.join("\n")}</pre>;
  if (kind === "heading") return <h2 key={key}>{inline(all[0] ?? "")}</h2>;
  if (kind === "text") return <p key={key}>{lines(all)}</p>;
  const items = all.map((line, index) => <li key={index}>{inline(line)}</li>);
  return kind === "bullets" ? <ul key={key}>{items}</ul> : <ol key={key}>{items}</ol>;
}

export function Markdown({ text }: { text: string }) {
  return <div className="markdown">{blocksOf(text).map(block)}</div>;
}
