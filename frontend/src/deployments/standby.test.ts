import { expect, test } from "vitest";
import { withDialect } from "../live/dialect";
import { aDeployment } from "../testing/samples";
import { withJvm } from "./jvm";
import { standbyOf, withStandby } from "./standby";

const standby = { state: "ready" as const, pid: 7, since: null, reason: null };

test("the standby is described, or why there is none", () => {
  expect(standbyOf(aDeployment())).toBeNull();
  expect(standbyOf(aDeployment({ standby }))).toBe("ready to take over");
  expect(standbyOf(aDeployment({ standby: { ...standby, state: "preparing" } }))).toBe(
    "is being prepared",
  );
  const reason = { code: "standby_paused", message: "The deployment is paused.", facts: {} };
  const absent = { ...standby, state: "absent" as const, pid: null, reason };
  expect(standbyOf(aDeployment({ standby: absent }))).toBe("The deployment is paused.");
});

test("a shared JVM and plain PySpark have none", () => {
  const settings = withStandby({ cores: 2 }, true);
  expect(settings).toEqual({ cores: 2, standby: true });
  expect(withStandby(settings, false)).toEqual({ cores: 2 });
  expect(withJvm(settings, "shared")).toEqual({ jvm: "shared" });
  expect(withDialect(settings, "plain")).toEqual({ cores: 2, dialect: "plain" });
});
