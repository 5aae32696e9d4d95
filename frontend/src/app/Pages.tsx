import { Pagination } from "@mantine/core";
import { t } from "../ui/i18n";

/** Numbers of pages, and arrows to the one before and after. */
export function Pages(props: { total: number; value: number; onChange: (page: number) => void }) {
  return (
    <Pagination
      size="sm"
      getControlProps={(control) => ({
        "aria-label": control === "next" ? t("Next page") : t("Previous page"),
      })}
      {...props}
    />
  );
}
