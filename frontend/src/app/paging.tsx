import { Pagination, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import IconSearch from "@tabler/icons-react/dist/esm/icons/IconSearch.mjs";
import type { UseQueryResult } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ApiError } from "../api/client";
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

/**
 * Buttons for the pages of a list with `size` rows on a page; nothing if there is one page. Where the page is gone,
 * as after its last row was deleted, the one before it is shown.
 */
export function Pages(props: {
  paging: Paging;
  query: UseQueryResult<{ count: number }>;
  size: number;
  className?: string;
}) {
  const { page, setPage } = props.paging;
  const { data, error } = props.query;
  const gone = page > 1 && error instanceof ApiError && error.status === 404;
  useEffect(() => {
    if (gone) setPage(page - 1);
  }, [gone, page, setPage]);
  const total = Math.ceil((data?.count ?? 0) / props.size);
  if (total <= 1) return null;
  return (
    <Pagination
      size="sm"
      total={total}
      value={page}
      onChange={setPage}
      getControlProps={(control) => ({
        "aria-label": control === "next" ? t("Next page") : t("Previous page"),
      })}
      className={props.className}
    />
  );
}
