import "../palette/palette.css";
import "./help.css";
import { Button, TextInput } from "@mantine/core";
import IconSearch from "@tabler/icons-react/dist/esm/icons/IconSearch.mjs";
import { useMemo, useState } from "react";
import { addKind } from "../commands/addNode";
import { openHelp, useHelp } from "../commands/help";
import { hueOf } from "../designer/derived";
import { useDesigner } from "../designer/store";
import type { Catalog, Kind } from "../graph/catalog";
import { KindCard } from "../palette/KindCard";
import { Cut } from "../ui";
import { type Phrase, phrase, t } from "../ui/i18n";
import { KindIcon } from "../ui/KindIcon";
import { Modal } from "../ui/Modal";
import { searchHelp, type Topic } from "./topics";

const GROUPS: Readonly<Record<Topic["kind"], Phrase>> = {
  operator: phrase("Operators"),
  function: phrase("Functions of Spark"),
  processor: phrase("API of processors"),
  format: phrase("Formats"),
};

/** An operator with an example, its help and its parameters. */
function OperatorHelp({ catalog, kind }: { catalog: Catalog; kind: Kind }) {
  const readOnly = useDesigner((state) => state.readOnly);
  return (
    <>
      <KindCard kind={kind} hue={hueOf(catalog, kind.kind)} />
      <p>{kind.help}</p>
      <dl className="help-parameters">
        {kind.parameters.map((parameter) => (
          <div key={parameter.name}>
            <dt>
              {parameter.title} <code>{parameter.name}</code>
              {parameter.required ? <small>{t("required")}</small> : null}
            </dt>
            <dd>{parameter.help}</dd>
          </div>
        ))}
      </dl>
      {readOnly ? null : (
        <Button
          variant="default"
          onClick={() => {
            openHelp(null);
            addKind(kind.kind);
          }}
        >
          {t("Add {title}", { title: kind.title })}
        </Button>
      )}
    </>
  );
}

function TopicHelp({ catalog, topic }: { catalog: Catalog; topic: Topic }) {
  if (topic.kind === "operator") return <OperatorHelp catalog={catalog} kind={topic.operator} />;
  return (
    <>
      <h3>{topic.title}</h3>
      <pre className="help-call m-mono">{topic.call}</pre>
      <p>{topic.text}</p>
      {topic.example === "" ? null : <pre className="help-call m-mono">{topic.example}</pre>}
    </>
  );
}

/** Operators, functions, formats and the processors' API, searched together. */
export function HelpDialog() {
  const catalog = useDesigner((state) => state.catalog);
  const asked = useHelp((state) => state.asked);
  const [query, setQuery] = useState(asked ?? "");
  const [chosen, setChosen] = useState<string | null>(null);
  const topics = useMemo(
    () => (catalog === null ? [] : searchHelp(catalog, query)),
    [catalog, query],
  );
  if (catalog === null) return null;
  const shown = topics.find((topic) => topic.id === chosen) ?? topics[0];
  const at = shown === undefined ? -1 : topics.indexOf(shown);
  return (
    <Modal opened onClose={() => openHelp(null)} title={t("Help")} size={860}>
      <div className="help">
        <div className="help-left">
          <TextInput
            data-autofocus
            value={query}
            placeholder={t("Operators, functions, formats")}
            aria-label={t("Search the help")}
            leftSection={<IconSearch size={14} stroke={1.5} />}
            onChange={(event) => {
              setQuery(event.currentTarget.value);
              setChosen(null);
            }}
            onKeyDown={(event) => {
              const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
              const next = topics[at + step];
              if (step === 0) return;
              event.preventDefault();
              if (next !== undefined) setChosen(next.id);
            }}
          />
          <div className="help-list m-scroll">
            {topics.map((topic, index) => (
              <div key={topic.id}>
                {topics[index - 1]?.kind === topic.kind ? null : (
                  <h3 className="side-title">{t(GROUPS[topic.kind])}</h3>
                )}
                <button
                  type="button"
                  className="help-item"
                  data-chosen={topic === shown || undefined}
                  aria-current={topic === shown}
                  data-hue={
                    topic.kind === "operator" ? hueOf(catalog, topic.operator.kind) : undefined
                  }
                  onClick={() => setChosen(topic.id)}
                >
                  {topic.kind === "operator" ? (
                    <KindIcon name={topic.operator.icon} size={15} className="kind-icon" />
                  ) : null}
                  <Cut>{topic.title}</Cut>
                </button>
              </div>
            ))}
            {topics.length === 0 ? <p className="m-muted">{t("No matches")}</p> : null}
          </div>
        </div>
        <article className="help-text m-scroll" data-testid="help-text">
          {shown === undefined ? null : <TopicHelp catalog={catalog} topic={shown} />}
        </article>
      </div>
    </Modal>
  );
}
