import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { decideRecord } from "../api/deploymentCalls";
import type { Failure, RecordDecision } from "../api/types";
import { useDesigner } from "../designer/store";
import { notifyError } from "../frame/notify";
import { may, useWorkspace } from "../frame/session";
import { useLive } from "../live/store";
import { t } from "../ui/i18n";
import { useEditing } from "../versions/editing";
import classes from "./deployments.module.css";
import { FailureButton } from "./FailureButton";
import { handlerOf, isRule } from "./handlers";
import { followFailed, simulateRecord, testOfRecord } from "./simulateRecord";

/** Actions on the record at which a deployment failed. */
export function FailureActions({ failure }: { failure: Failure }) {
  const ws = useEditing((state) => state.ws);
  const topology = useDesigner((state) => state.topologyId);
  const goTo = useDesigner((state) => state.goTo);
  const deployment = useLive((state) => state.deployment);
  const settings = useDesigner((state) => state.document.settings);
  const role = useWorkspace(ws)?.role;
  const handler = handlerOf(failure);
  // The record that stopped the deployment is a dead letter already, except in an aborted transaction.
  const setting = handler?.node === null ? handler.parameter : null;
  const sent =
    setting !== null &&
    settings?.[setting] === "dead_letter_then_fail" &&
    settings.processing_guarantee !== "exactly_once";
  const lettered = typeof settings?.dead_letter_topic === "string" && !sent;
  const decidable = handler !== null && deployment !== null && may(role, "operator");
  return (
    <>
      {decidable ? (
        <Decide failure={failure} deployment={deployment.id} decision="skip">
          {t("Skip it once…")}
        </Decide>
      ) : null}
      {decidable && lettered && failure.code !== "production" ? (
        <Decide failure={failure} deployment={deployment.id} decision="dead_letter">
          {t("Send it to the dead letters…")}
        </Decide>
      ) : null}
      {handler === null ? null : (
        <FailureButton
          onClick={() => goTo(handler.node, handler.parameter)}
          data-testid="failure-handler"
        >
          {isRule(failure) ? t("Change the rule") : t("Change the handler")}
        </FailureButton>
      )}
      {topology === null ? null : (
        <>
          <FailureButton
            onClick={() => void simulateRecord(ws, topology, failure.record)}
            data-testid="failure-simulate"
          >
            {t("Simulate the record")}
          </FailureButton>
          {deployment === null ? null : (
            <FailureButton
              title={t("Follow it through the topology, in a simulation")}
              onClick={() => void followFailed(ws, topology, deployment.id, failure.record)}
              data-testid="failure-follow"
            >
              {t("Follow it")}
            </FailureButton>
          )}
          {may(role, "editor") ? (
            <FailureButton
              onClick={() => void testOfRecord(ws, topology, failure.record)}
              data-testid="failure-test"
            >
              {t("Create a test from it")}
            </FailureButton>
          ) : null}
        </>
      )}
    </>
  );
}

/** Requires a second click, then decides about the record and restarts the deployment. */
function Decide(props: {
  failure: Failure;
  deployment: number;
  decision: RecordDecision["decision"];
  children: string;
}) {
  const { decision, deployment, failure } = props;
  const [asked, setAsked] = useState(false);
  const decide = useMutation({
    mutationFn: () => {
      const { offset, partition, topic } = failure.record ?? {};
      return decideRecord(deployment, {
        decision,
        topic: topic ?? "",
        partition: partition ?? 0,
        offset: offset ?? 0,
      });
    },
    onSuccess: (data) => useLive.getState().receive({ type: "deployment.changed", data }),
    onError: (error) => notifyError(error),
    onSettled: () => setAsked(false),
  });
  if (!asked) {
    return (
      <FailureButton
        title={t({
          id: "deployments.only_this_record_where",
          message:
            "Only this record, where it failed: everything else is written exactly as often as without the failure.",
        })}
        onClick={() => setAsked(true)}
        data-testid={`failure-${decision}`}
      >
        {props.children}
      </FailureButton>
    );
  }
  return (
    <span className={classes.confirm}>
      <Button
        variant="filled"
        color="red"
        loading={decide.isPending}
        onClick={() => decide.mutate()}
        data-testid={`failure-${decision}-now`}
      >
        {decision === "skip" ? t("Skip it and start") : t("Send it and start")}
      </Button>
      <Button variant="subtle" onClick={() => setAsked(false)}>
        {t("Cancel")}
      </Button>
    </span>
  );
}
