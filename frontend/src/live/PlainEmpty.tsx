import { Empty } from "../ui";
import { t } from "../ui/i18n";

/** The content of a panel that plain PySpark does not support. */
export function PlainEmpty({ children }: { children: string }) {
  return (
    <Empty title={t("Not available for plain PySpark")}>
      {`${children} ${t("Deploy with the code “Kafka Streams' results” for that.")}`}
    </Empty>
  );
}
