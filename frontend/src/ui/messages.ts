/**
 * Compiles ICU messages to what Lingui interpolates. Lingui's own compiler knows all of ICU and is three times as large
 * as Lingui without it; the page uses values and plurals. A test compares the two for every message of the page.
 */

import type { CompiledMessage } from "@lingui/message-utils/compileMessage";

const compiled = new Map<string, CompiledMessage>();

export function compileMessage(message: string): CompiledMessage {
  if (!message.includes("{")) return [message];
  const known = compiled.get(message);
  if (known !== undefined) return known;
  const made = new Reader(message).tokens();
  compiled.set(message, made);
  return made;
}

class Reader {
  private at = 0;

  constructor(private readonly message: string) {}

  /** Text and values up to the end of the message, or of the case of a plural. */
  tokens(): CompiledMessage {
    const found: CompiledMessage = [];
    for (;;) {
      const text = this.take(/[^{}]*/y);
      if (text !== "") found.push(text);
      if (this.message[this.at] !== "{") return found;
      found.push(this.value());
    }
  }

  private value(): CompiledMessage[number] {
    this.take(/\{\s*/y);
    const name = this.take(/\w+/y);
    if (this.take(/\s*,\s*plural\s*,\s*/y) === "") {
      this.take(/\s*\}/y);
      return [name];
    }
    const cases: Record<string, CompiledMessage> = {};
    for (;;) {
      const rule = this.take(/\w+/y);
      if (rule === "") break;
      this.take(/\s*\{/y);
      cases[rule] = this.tokens();
      this.take(/\}\s*/y);
    }
    this.take(/\}/y);
    return [name, "plural", cases];
  }

  private take(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const [found = ""] = pattern.exec(this.message) ?? [];
    this.at += found.length;
    return found;
  }
}
