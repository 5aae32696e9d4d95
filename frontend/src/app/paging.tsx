import { Pagination, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import IconSearch from "@tabler/icons-react/dist/esm/icons/IconSearch.mjs";
import { useState } from "react";
import { t } from "../ui/i18n";

/** Page and search text of a list; another search starts at page 1. `text` follows `typed` when typing pauses. */
export function usePaging() {
  const [page, setPage] = useState(1);
  const [typed, setTyped] = useState("");
  const [text] = useDebouncedValue(typed.trim(), 200);
  const search = (next: string) => {
    setTyped(next);
    setPage(1);
  };
  return { page, setPage, typed, text, search };
}

type Paging = ReturnType<typeof usePaging>;

export function SearchField(props: {
  paging: Paging;
  label: string;
  placeholder: string;
  className?: string;
}) {
  const { paging, label, ...others } = props;
  return (
    <TextInput
      aria-label={label}
      leftSection={<IconSearch size={16} stroke={1.5} />}
      value={paging.typed}
      onChange={(event) => paging.search(event.currentTarget.value)}
      {...others}
    />
  );
}

/** Buttons for the pages of a list with `count` rows, `size` on a page; nothing if there is one page. */
export function Pages(props: {
  paging: Paging;
  count: number | undefined;
  size: number;
  className?: string;
}) {
  const total = Math.ceil((props.count ?? 0) / props.size);
  if (total <= 1) return null;
  return (
    <Pagination
      size="sm"
      total={total}
      value={props.paging.page}
      onChange={props.paging.setPage}
      getControlProps={(control) => ({
        "aria-label": control === "next" ? t("Next page") : t("Previous page"),
      })}
      className={props.className}
    />
  );
}
