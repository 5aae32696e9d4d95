import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Plugin } from "vite";

/** Bytes below which a compressed copy saves nothing. */
const SMALLEST = 1_000;
/** Bytes above which the smallest copy takes too long to find. */
const LARGEST = 1_000_000;
const TEXT = /\.(js|css|html|svg)$/;

const zip = promisify(gzip);
const pack = promisify(brotliCompress);

async function compress(path: string): Promise<void> {
  const text = readFileSync(path);
  if (text.length < SMALLEST) return;
  const params = { [constants.BROTLI_PARAM_QUALITY]: text.length > LARGEST ? 9 : 11 };
  const [zipped, packed] = await Promise.all([zip(text, { level: 9 }), pack(text, { params })]);
  writeFileSync(`${path}.gz`, zipped);
  writeFileSync(`${path}.br`, packed);
}

/** Writes a `.gz` and a `.br` copy of each text file of the built page; the server sends the one that a browser takes. */
export function compressed(): Plugin {
  return {
    name: "millrace-compressed",
    apply: "build",
    async writeBundle({ dir }) {
      if (dir === undefined) return;
      const files = readdirSync(dir, { recursive: true, encoding: "utf8" });
      await Promise.all(
        files.filter((file) => TEXT.test(file)).map((file) => compress(join(dir, file))),
      );
    },
  };
}
