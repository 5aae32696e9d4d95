import { Pagination, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import IconSearch from "@tabler/icons-react/dist/esm/icons/IconSearch.mjs";
import { keepPreviousData, type QueryKey, useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { ApiError } from "../api/client";
import type { PageQuery } from "../api/types";
import { t } from "../ui/i18n";
import classes from "../ui/pages.module.css";
import { limited, MOST_CHARACTERS } from "./searching";
import { Waiting } from "./Waiting";

const SEARCH = "q";
const PAGE = "page";

/** What the address of the page searches for, and the page of its list. */
function shownAt(): { text: string; page: number } {
  const asked = new URLSearchParams(location.search);
  const page = Number(asked.get(PAGE));
  return {
    text: limited(asked.get(SEARCH) ?? ""),
    page: Number.isInteger(page) && page > 0 ? page : 1,
  };
}

/** Puts values into the address, so that a link to them can be shared, and a reload and *Back* keep them; none if empty. */
export function noteInAddress(values: Readonly<Record<string, string>>): void {
  const address = new URL(location.href);
  for (const [name, value] of Object.entries(values)) {
    if (value === "") address.searchParams.delete(name);
    else address.searchParams.set(name, value);
  }
  history.replaceState(history.state, "", address);
}

/**
 * A paged list of `size` rows per page that the server searches. `text` follows `typed` after a pause; a new search
 * starts at page 1, and with `inAddress` both are part of the address. If the page no longer exists, such as after its last
 * row was deleted, the one before it is shown.
 */
export function usePages<List extends { count: number }>(
  key: QueryKey,
  fetch: (query: PageQuery) => Promise<List>,
  options: { size?: number; refetchInterval?: number; inAddress?: boolean } = {},
) {
  const { inAddress = false, refetchInterval, size = 25 } = options;
  const [first] = useState(() => (inAddress ? shownAt() : { text: "", page: 1 }));
  const [page, turn] = useState(first.page);
  const [typed, setTyped] = useState(first.text);
  const [text] = useDebouncedValue(typed.trim(), 200);
  const show = (next: string, number: number) => {
    setTyped(next);
    turn(number);
    if (inAddress)
      noteInAddress({ [SEARCH]: next.trim(), [PAGE]: number === 1 ? "" : `${number}` });
  };
  const search = (next: string) => show(limited(next), 1);
  const setPage = (number: number) => show(typed, number);
  const queryKey = [...key, text, page];
  const list = useQuery({
    queryKey,
    queryFn: () => fetch({ search: text, page, page_size: size }),
    placeholderData: keepPreviousData,
    refetchInterval,
  });
  const { data: found, error } = list;
  const gone = page > 1 && error instanceof ApiError && error.status === 404;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the answer of the server turns back
  useEffect(() => {
    if (gone) setPage(page - 1);
  }, [gone, page]);
  const total = Math.ceil((found?.count ?? 0) / size);
  return { queryKey, list, found, page, setPage, total, typed, text, search };
}

export type Paging<List extends { count: number } = { count: number }> = ReturnType<
  typeof usePages<List>
>;

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
      maxLength={MOST_CHARACTERS}
      onChange={(event) => paging.search(event.currentTarget.value)}
      {...others}
    />
  );
}

/** Buttons for the pages of a list; nothing if there is one page. */
export function Pages({ paging, inBar = false }: { paging: Paging; inBar?: boolean }) {
  if (paging.total <= 1) return null;
  return (
    <Pagination
      size="sm"
      total={paging.total}
      value={paging.page}
      onChange={paging.setPage}
      getControlProps={(control) => ({
        "aria-label": control === "next" ? t("Next page") : t("Previous page"),
      })}
      className={inBar ? undefined : classes.pages}
    />
  );
}

/** The rows of a page and the page buttons. `none` is shown if no row matches, `empty` if the list is empty. */
export function Paged<Row>(props: {
  paging: Paging<{ count: number; results: readonly Row[] }>;
  none: string;
  empty?: ReactNode;
  children: (rows: readonly Row[]) => ReactNode;
}) {
  const { found, list, text } = props.paging;
  return (
    <>
      <Waiting query={list} kept={found !== undefined} />
      {found === undefined ? null : found.count > 0 ? (
        props.children(found.results)
      ) : text === "" && props.empty !== undefined ? (
        <div className={classes.card}>{props.empty}</div>
      ) : (
        <div className={classes.nothing} role="status">
          {props.none}
        </div>
      )}
      <Pages paging={props.paging} />
    </>
  );
}
