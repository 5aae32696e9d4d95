import { act } from "react";
import { expect, test } from "vitest";
import { render, until } from "../testing/rendering";
import { reportPicture, useAfterPicture } from "./firstPicture";

function Panel() {
  return <p>{useAfterPicture() ? "panel" : "frame"}</p>;
}

test("what is beside the drawing is rendered once that is drawn", async () => {
  let close = await render(<Panel />);
  expect(document.querySelector("p")?.textContent).toBe("frame");
  let takeBack = () => {};
  await act(async () => {
    takeBack = reportPicture();
  });
  await until(() => expect(document.querySelector("p")?.textContent).toBe("panel"));
  await close();
  // The next topology is drawn first as well.
  takeBack();
  close = await render(<Panel />);
  expect(document.querySelector("p")?.textContent).toBe("frame");
  await close();
});
