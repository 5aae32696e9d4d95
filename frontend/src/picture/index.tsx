/** The whole drawing as SVG or PNG, and on paper. */

import "./print.css";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { drawing, foldedOf } from "../designer/drawn";
import { sentenceText } from "../designer/sentences";
import { useDesigner } from "../designer/store";
import { save } from "../ui/files";
import { type Color, Picture } from "./Picture";

/** PNG files have two pixels for each of the drawing, within what browsers can draw. */
const SCALE = 2;
const MOST_PIXELS = 16_000;

/** Reads colors of the page's theme, or of the light one. */
function colors(light: boolean): Color {
  const root = document.documentElement;
  const scheme = root.dataset.mantineColorScheme;
  if (light) root.dataset.mantineColorScheme = "light";
  const style = getComputedStyle(root);
  const found = new Map<string, string>();
  for (const name of TOKENS) found.set(name, style.getPropertyValue(name).trim());
  if (light && scheme !== undefined) root.dataset.mantineColorScheme = scheme;
  return (token) => found.get(token) || "#888888";
}

const TOKENS = [
  ...["canvas", "panel", "line-strong", "text", "muted", "edge"].map((each) => `--m-${each}`),
  ...["source", "stateless", "aggregation", "join", "table", "processor", "store", "sink"].map(
    (each) => `--m-hue-${each}`,
  ),
];

/** The SVG of the open topology, as an element; null if there is none. */
export function drawPicture(light = false): SVGSVGElement | null {
  const state = useDesigner.getState();
  const { catalog, result } = state;
  const document = drawing(state);
  if (catalog === null || document.nodes.length === 0) return null;
  const sentences = Object.fromEntries(
    Object.entries(result?.summary ?? {}).map(([id, summary]) => [id, sentenceText(summary)]),
  );
  const box = globalThis.document.createElement("div");
  const root = createRoot(box);
  flushSync(() =>
    root.render(
      <Picture
        document={document}
        catalog={catalog}
        folded={foldedOf(state)}
        sentences={sentences}
        color={colors(light)}
      />,
    ),
  );
  const svg = box.querySelector("svg")?.cloneNode(true) as SVGSVGElement | undefined;
  root.unmount();
  return svg ?? null;
}

const fileName = (ending: string) =>
  `${useDesigner.getState().document.name || "topology"}.${ending}`;

const textOf = (svg: SVGSVGElement) => new XMLSerializer().serializeToString(svg);

export function saveSvg(): void {
  const svg = drawPicture();
  if (svg !== null) save(fileName("svg"), `${textOf(svg)}\n`, "image/svg+xml");
}

export async function savePng(): Promise<void> {
  const svg = drawPicture();
  if (svg === null) return;
  const [width, height] = ["width", "height"].map((side) => Number(svg.getAttribute(side)));
  if (width === undefined || height === undefined) return;
  const scale = Math.min(SCALE, MOST_PIXELS / width, MOST_PIXELS / height);
  const image = new Image();
  const url = URL.createObjectURL(new Blob([textOf(svg)], { type: "image/svg+xml" }));
  try {
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.ceil(width * scale);
    canvas.height = Math.ceil(height * scale);
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
    if (blob !== null) save(fileName("png"), blob);
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Opens the browser's print window with nothing but the drawing, on one page. */
export function printPicture(): void {
  const svg = drawPicture(true);
  if (svg === null) return;
  const sheet = document.createElement("div");
  sheet.className = "print-sheet";
  sheet.append(svg);
  document.body.append(sheet);
  window.addEventListener("afterprint", () => sheet.remove(), { once: true });
  window.print();
}
