import { ActionIcon, Autocomplete, Button, Textarea, TextInput } from "@mantine/core";
import IconPlus from "@tabler/icons-react/dist/esm/icons/IconPlus.mjs";
import IconX from "@tabler/icons-react/dist/esm/icons/IconX.mjs";
import { Suspense, useCallback, useMemo, useRef, useState } from "react";
import { useDesigner } from "../designer/store";
import { isAsked } from "../graph/catalog";
import { setPartitions, setSetting } from "../graph/changes";
import { type Json, paramsOf } from "../graph/document";
import { t } from "../ui/i18n";
import { later } from "../ui/later";
import { Field, FieldProblems } from "./Field";
import { ParameterField } from "./ParameterField";
import { Section } from "./Section";
import { useFocus } from "./useFocus";
import { useTopics } from "./useTopics";

/** The field of a setting with Python source, whose editor is loaded when a document has one. */
const CodeField = later(async () => (await import("./widgets/ofSettings")).default);
const TopologyParameters = later(
  async () => (await import("./TopologyParameters")).TopologyParameters,
);

/** Sorts `orders-2` before `orders-10`. */
const natural = new Intl.Collator("en", { numeric: true });

/** The topics that nodes of the document use. */
function useNamedTopics(): string[] {
  const nodes = useDesigner((state) => state.document.nodes);
  return useMemo(() => {
    const names = nodes.flatMap((node) => {
      const { topic, topics } = paramsOf(node);
      return [topic, ...(Array.isArray(topics) ? topics : [])];
    });
    return [
      ...new Set(names.filter((name): name is string => typeof name === "string" && name !== "")),
    ];
  }, [nodes]);
}

/** The number of partitions that the document assumes for each topic. */
function Topics() {
  const topics = useDesigner((state) => state.document.topics);
  const readOnly = useDesigner((state) => state.readOnly);
  const named = useNamedTopics();
  const { topics: found } = useTopics();
  const [adding, setAdding] = useState("");
  const names = [...new Set([...named, ...Object.keys(topics ?? {})])].sort(natural.compare);
  const set = (topic: string, text: string) => {
    const partitions = Number.parseInt(text, 10);
    useDesigner
      .getState()
      .change(
        t("Change {title}", { title: topic }),
        (document) =>
          setPartitions(document, topic, Number.isInteger(partitions) ? partitions : undefined),
        { gesture: `partitions ${topic}` },
      );
  };
  return (
    <Section title={t("Topics")}>
      <p className="inspector-hint">
        {t({
          id: "inspector.partitions_that_design_assumes",
          message:
            "Partitions that the design assumes. Where a topic exists, its own count is used.",
        })}
      </p>
      {names.map((topic) => (
        <div className="topic-row" key={topic}>
          <span className="m-cut m-mono" title={topic}>
            {topic}
          </span>
          <TextInput
            value={topics?.[topic]?.partitions ?? ""}
            placeholder="–"
            inputMode="numeric"
            className="m-figures"
            aria-label={t("Partitions of {topic}", { topic })}
            readOnly={readOnly}
            onChange={(event) => set(topic, event.currentTarget.value)}
            onBlur={() => useDesigner.getState().endGesture()}
          />
          {readOnly || named.includes(topic) ? null : (
            <ActionIcon size={22} aria-label={t("Remove")} onClick={() => set(topic, "")}>
              <IconX size={13} stroke={1.5} />
            </ActionIcon>
          )}
        </div>
      ))}
      {readOnly ? null : (
        <form
          className="topic-row"
          onSubmit={(event) => {
            event.preventDefault();
            if (adding.trim() === "") return;
            set(adding.trim(), "1");
            useDesigner.getState().endGesture();
            setAdding("");
          }}
        >
          <Autocomplete
            value={adding}
            onChange={setAdding}
            data={found.filter((name) => !names.includes(name))}
            placeholder={t("Another topic")}
            aria-label={t("Another topic")}
            maxDropdownHeight={200}
          />
          <Button
            type="submit"
            variant="default"
            disabled={adding.trim() === ""}
            aria-label={t("Add")}
          >
            <IconPlus size={14} stroke={1.5} />
          </Button>
        </form>
      )}
    </Section>
  );
}

/** The settings of the whole topology, shown when nothing is selected. */
export function DocumentForm() {
  const document = useDesigner((state) => state.document);
  const catalog = useDesigner((state) => state.catalog);
  const readOnly = useDesigner((state) => state.readOnly);
  const result = useDesigner((state) => state.result);
  const failure = useDesigner((state) => state.compileFailure);
  const diagnostics = useMemo(
    () => (result?.diagnostics ?? []).filter((each) => each.node === null),
    [result?.diagnostics],
  );
  const set = useCallback((name: string, value: Json | undefined) => {
    const state = useDesigner.getState();
    const title = state.catalog?.settings?.find((each) => each.name === name)?.title ?? name;
    state.change(t("Change {title}", { title }), (now) => setSetting(now, name, value), {
      gesture: `setting ${name}`,
    });
  }, []);
  const form = useRef<HTMLDivElement>(null);
  useFocus(null, form);
  const settings = catalog?.settings ?? [];
  const values = { ...document.settings };
  const named = new Set(settings.map((each) => each.name));
  const general = diagnostics.filter(
    (each) => each.parameter === null || !named.has(each.parameter.split(/[.[]/)[0] ?? ""),
  );
  const describe = (description: string) =>
    useDesigner
      .getState()
      .change(
        t("Change {title}", { title: t("Description") }),
        ({ description: _old, ...now }) => (description === "" ? now : { ...now, description }),
        { gesture: "description" },
      );
  return (
    <div className="inspector-body m-scroll" data-steady="" ref={form}>
      <h2 className="inspector-heading">{t("Topology")}</h2>
      {failure === null ? null : (
        <p className="field-problem" data-severity="warning">
          {t(
            {
              id: "inspector.compiler_does_not_respond",
              message:
                "The compiler does not respond, so problems and types may be out of date. {message}",
            },
            {
              message: failure,
            },
          )}
        </p>
      )}
      <FieldProblems diagnostics={general} />
      <div className="field">
        <div className="field-head">
          <span className="field-title">{t("Description")}</span>
        </div>
        <Textarea
          value={document.description ?? ""}
          placeholder={t("What it is for")}
          aria-label={t("Description")}
          readOnly={readOnly}
          autosize
          minRows={2}
          maxRows={10}
          onChange={(event) => describe(event.currentTarget.value)}
          onBlur={() => useDesigner.getState().endGesture()}
        />
      </div>
      <div className="inspector-parameters">
        {settings
          .filter((each) => isAsked(each, values, settings) || values[each.name] !== undefined)
          .map((each) => {
            const value = values[each.name];
            if (each.widget === "modules" && value === undefined)
              return readOnly ? null : (
                <Field {...each} key={each.name} diagnostics={[]} aside={null}>
                  {() => (
                    <Button
                      variant="subtle"
                      size="compact-xs"
                      className="field-start"
                      onClick={() => set(each.name, { module: "" })}
                    >
                      {t("Add a module")}
                    </Button>
                  )}
                </Field>
              );
            const Shown = each.widget in { code: 1, modules: 1 } ? CodeField : ParameterField;
            return (
              <Suspense key={each.name} fallback={null}>
                <Shown
                  parameter={each}
                  node={null}
                  value={value}
                  diagnostics={diagnostics}
                  onSet={set}
                />
              </Suspense>
            );
          })}
      </div>
      <Suspense fallback={null}>
        <TopologyParameters />
      </Suspense>
      <Topics />
    </div>
  );
}
