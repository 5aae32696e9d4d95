import { fireEvent, screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import type { DeploymentSettings } from "../api/types";
import { render } from "../testing/rendering";
import { CONTINUES } from "./beginning";
import { DeployOptions } from "./DeployOptions";

async function shown(values: DeploymentSettings, fresh: boolean) {
  const close = await render(
    <DeployOptions
      values={values}
      fresh={fresh}
      runsPlain={false}
      onChange={() => undefined}
      beginning={CONTINUES}
      onBeginning={() => undefined}
    />,
  );
  const field = document.querySelector<HTMLInputElement>("[data-testid=checkpoint]");
  return {
    value: field?.value,
    disabled: field?.disabled,
    invalid: field?.getAttribute("aria-invalid"),
    text: document.body.textContent ?? "",
    close,
  };
}

test("the checkpoint of a deployment is a URI, fixed once there is state", async () => {
  const first = await shown({ checkpoint: "s3a://bucket/x" }, true);
  expect([first.value, first.disabled, first.invalid]).toEqual(["s3a://bucket/x", false, null]);
  await first.close();
  const wrong = await shown({ checkpoint: "s3a://key:secret@bucket" }, true);
  expect(wrong.invalid).toBe("true");
  expect(wrong.text).toContain("Enter a URI such as s3a://bucket/folder");
  await wrong.close();
  const later = await shown({ checkpoint: "s3a://bucket/x" }, false);
  expect([later.value, later.disabled]).toEqual(["s3a://bucket/x", true]);
  await later.close();
  const local = await shown({}, false);
  expect(local.value).toBeUndefined();
  await local.close();
});

test("a standby is switched on, and is not offered for a shared JVM", async () => {
  const onChange = vi.fn();
  const options = (values: DeploymentSettings) => (
    <DeployOptions
      values={values}
      fresh
      runsPlain={false}
      onChange={onChange}
      beginning={CONTINUES}
      onBeginning={() => undefined}
    />
  );
  const close = await render(options({ cores: 2 }));
  fireEvent.click(screen.getByTestId("standby-setting"));
  expect(onChange).toHaveBeenCalledWith({ cores: 2, standby: true });
  await close();
  const closeShared = await render(options({ jvm: "shared" }));
  expect(screen.queryByTestId("standby-setting")).toBeNull();
  await closeShared();
});
