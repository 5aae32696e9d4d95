import { ActionIcon, Button, Select, Switch, TextInput } from "@mantine/core";
import IconSearch from "@tabler/icons-react/dist/esm/icons/IconSearch.mjs";
import IconX from "@tabler/icons-react/dist/esm/icons/IconX.mjs";
import { type FormEvent, useState } from "react";
import type { StateStore } from "../api/types";
import { DateTimeInput } from "../ui/DateTimeInput";
import { t } from "../ui/i18n";
import { readTime } from "../ui/readTime";
import { EVERYTHING, type Find, hasWindows, type StoreQuestion } from "./query";
import classes from "./stores.module.css";

/** The search fields of a store. Choices apply at once, text when Enter is pressed. */
export function StateFields(props: {
  store: StateStore;
  question: StoreQuestion;
  onAsk: (question: StoreQuestion) => void;
}) {
  const { onAsk, question, store } = props;
  const [typed, setTyped] = useState(question);
  const type = (change: Partial<StoreQuestion>) => setTyped({ ...typed, ...change });
  const choose = (change: Partial<StoreQuestion>) => {
    type(change);
    onAsk({ ...typed, ...change });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onAsk(typed);
  };
  const time = (name: "fromTime" | "toTime" | "asOf", label: string) => (
    <DateTimeInput
      aria-label={label}
      placeholder={label}
      value={typed[name]}
      onChange={(text) => type({ [name]: text })}
      onDone={(text) => {
        const asked = { ...typed, [name]: text };
        if (text !== question[name] && (text === "" || readTime(text) !== null)) onAsk(asked);
      }}
      w={196}
      data-testid={`state-${name}`}
    />
  );
  const text = store.key === "STRING";
  return (
    <form className={classes.fields} onSubmit={submit}>
      <Select
        aria-label={t("Find rows by")}
        value={typed.find}
        onChange={(value) => {
          const find = (value ?? "key") as Find;
          if (typed.text === "") type({ find });
          else choose({ find });
        }}
        data={[
          { value: "key", label: t("Key is") },
          ...(text ? [{ value: "prefix", label: t("Key begins with") }] : []),
          { value: "from", label: t("Keys from") },
        ]}
        w={134}
      />
      <TextInput
        aria-label={t("Key")}
        placeholder={text ? t("A key") : t("A key as JSON: {type}", { type: store.key })}
        leftSection={<IconSearch size={16} stroke={1.5} />}
        value={typed.text}
        onChange={(event) => type({ text: event.currentTarget.value })}
        className={classes.keyField}
        data-testid="state-key"
      />
      {hasWindows(store) ? (
        <>
          {time("fromTime", t("Windows that start at this time or later"))}
          <span aria-hidden="true">–</span>
          {time("toTime", t("Windows that start at this time or earlier"))}
        </>
      ) : null}
      {store.kind === "versioned" ? time("asOf", t("Values as of this time")) : null}
      <Button type="submit" variant="default" data-testid="state-find">
        {t("Find")}
      </Button>
      <Switch
        label={t("Newest first")}
        checked={typed.newest}
        onChange={(event) => choose({ newest: event.currentTarget.checked })}
      />
      {JSON.stringify(question) === JSON.stringify(EVERYTHING) ? null : (
        <ActionIcon
          variant="subtle"
          size={28}
          aria-label={t("All rows")}
          title={t("All rows")}
          onClick={() => {
            setTyped(EVERYTHING);
            onAsk(EVERYTHING);
          }}
        >
          <IconX size={16} stroke={1.5} />
        </ActionIcon>
      )}
    </form>
  );
}
