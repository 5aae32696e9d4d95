import { render } from "@testing-library/react";
import { expect, test } from "vitest";
import { Markdown } from "./Markdown";

const html = (text: string) => render(<Markdown text={text} />).container.firstElementChild;

test("headings, lists, emphasis, code and links become elements", () => {
  const found = html(
    "# Why\nBecause **it** is *late*.\n\n- one `x`\n- two\n\n1. a\n\n```\nb  c\n```",
  );
  expect(found?.innerHTML).toBe(
    "<h2>Why</h2><p>Because <strong>it</strong> is <em>late</em>.</p>" +
      "<ul><li>one <code>x</code></li><li>two</li></ul><ol><li>a</li></ol><pre>b  c</pre>",
  );
  const link = html("[docs](https://example.org/a?b=1)")?.querySelector("a");
  expect(link?.getAttribute("href")).toBe("https://example.org/a?b=1");
  expect(link?.getAttribute("rel")).toContain("noopener");
});

test("HTML, scripts and unfinished marks stay text", () => {
  const text = '<img src=x onerror="alert(1)"> [x](javascript:alert(1)) **open `code';
  expect(html(text)?.textContent).toBe(text);
  expect(html(text)?.querySelector("img, a, strong, code")).toBeNull();
});
