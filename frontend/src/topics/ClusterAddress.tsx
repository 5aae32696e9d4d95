import { Button, CopyButton } from "@mantine/core";
import IconCopy from "@tabler/icons-react/dist/esm/icons/IconCopy.mjs";
import { useQuery } from "@tanstack/react-query";
import { getKafkaCluster } from "../api/topicCalls";
import { t } from "../ui/i18n";
import classes from "./topics.module.css";

/** The address of the Kafka cluster, for clients outside of Millrace. */
export function ClusterAddress({ ws }: { ws: string }) {
  const cluster = useQuery({
    queryKey: ["kafka-cluster", ws],
    queryFn: () => getKafkaCluster(ws),
    staleTime: Number.POSITIVE_INFINITY,
  }).data;
  if (cluster === undefined) {
    return null;
  }
  const servers = cluster.bootstrap_servers;
  return (
    <div className={classes.cluster} data-testid="kafka-cluster">
      <span>{t("Kafka bootstrap servers")}</span>
      <code className={classes.mono} title={servers}>
        {servers}
      </code>
      {cluster.security_protocol === "PLAINTEXT" ? null : <span>{cluster.security_protocol}</span>}
      <CopyButton value={servers}>
        {({ copied, copy }) => (
          <Button
            variant="subtle"
            size="compact-sm"
            leftSection={<IconCopy size={16} stroke={1.5} />}
            onClick={copy}
          >
            {copied ? t("Copied") : t("Copy")}
          </Button>
        )}
      </CopyButton>
    </div>
  );
}
