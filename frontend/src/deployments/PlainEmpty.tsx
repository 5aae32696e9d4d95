import { Empty } from "../ui";
import { t } from "../ui/i18n";

/** What a panel shows that plain PySpark has nothing for. */
export function PlainEmpty({ children }: { children: string }) {
  return (
    <Empty title={t("Not available for plain PySpark")}>
      {`${children} ${t("Deploy with the code “Kafka Streams' results” for that.")}`}
    </Empty>
  );
}
