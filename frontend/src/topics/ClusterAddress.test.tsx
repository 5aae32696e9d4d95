import { expect, test, vi } from "vitest";
import { render, until } from "../testing/rendering";
import { ClusterAddress } from "./ClusterAddress";

vi.mock("../api/topicCalls", () => ({
  getKafkaCluster: async () => ({
    bootstrap_servers: "kafka.example.com:9092,b:9093",
    security_protocol: "SASL_SSL",
  }),
}));

test("the address of the Kafka cluster is shown and copied", async () => {
  const copied = vi.fn(async () => undefined);
  vi.stubGlobal("navigator", { ...navigator, clipboard: { writeText: copied } });
  const close = await render(<ClusterAddress ws="main" />);
  await until(() => expect(document.body.textContent).toContain("kafka.example.com:9092,b:9093"));
  expect(document.body.textContent).toContain("SASL_SSL");
  document.querySelector("button")?.click();
  await until(() => expect(copied).toHaveBeenCalledWith("kafka.example.com:9092,b:9093"));
  await close();
  vi.unstubAllGlobals();
});
