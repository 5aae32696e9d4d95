import { ActionIcon, Button, Select, TextInput } from "@mantine/core";
import IconPlus from "@tabler/icons-react/dist/esm/icons/IconPlus.mjs";
import IconX from "@tabler/icons-react/dist/esm/icons/IconX.mjs";
import { useState } from "react";
import { describeDiagnostic } from "../api/prose";
import { useDesigner } from "../designer/store";
import { ActionsHead } from "../frame/ActionsHead";
import type { Json, TopologyDocument } from "../graph/document";
import {
  addParameter,
  ENVIRONMENTS,
  PARAMETER_TYPES,
  type ParameterType,
  parametersOf,
  placeOf,
  removeParameter,
  renameParameter,
  setParameter,
  setValue,
  type TopologyParameter,
  typedValue,
  usesOf,
} from "../graph/parameters";
import { type Phrase, phrase, type Translated, t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import classes from "./parameters.module.css";
import { asText } from "./widgets/widget";

const TYPES: Readonly<Record<ParameterType, Phrase>> = {
  topic: phrase("Topic"),
  text: phrase("Text"),
  number: phrase("Number"),
  duration: phrase("Duration"),
  boolean: phrase("Yes or no"),
};

function change(label: Translated, how: (document: TopologyDocument) => TopologyDocument) {
  useDesigner.getState().change(label, how, { gesture: label });
}

/** All parameters of the topology with their values in each environment, as one table. */
export function ParametersDialog({ onClose }: { onClose: () => void }) {
  const document = useDesigner((state) => state.document);
  const readOnly = useDesigner((state) => state.readOnly);
  const parameters = parametersOf(document);
  return (
    <Modal
      opened
      onClose={onClose}
      title={t("Parameters")}
      size="min(1080px, 94vw)"
      onBlur={() => useDesigner.getState().endGesture()}
    >
      <div className={classes.dialog} data-testid="parameters">
        <p className={classes.hint}>
          {t(
            {
              id: "inspector.in_field_is_replaced",
              message:
                "{place} in a field is replaced by the value: in an expression by a literal, elsewhere by its text. A deployment names its environment; without a value there, and in simulations, the default is used.",
            },
            { place: placeOf("name") },
          )}
        </p>
        {parameters.length === 0 ? null : (
          <table className={classes.table}>
            <thead>
              <tr>
                <th>{t("Name")}</th>
                <th>{t("Type")}</th>
                <th>{t("Default")}</th>
                {ENVIRONMENTS.map((each) => (
                  <th key={each}>{each}</th>
                ))}
                <th>{t("Description")}</th>
                <th>{t("Uses")}</th>
                <ActionsHead />
              </tr>
            </thead>
            <tbody>
              {parameters.map(([name, each], index) => (
                <Row key={index} name={name} parameter={each} readOnly={readOnly} />
              ))}
            </tbody>
          </table>
        )}
        {readOnly ? null : (
          <div>
            <Button
              variant="default"
              leftSection={<IconPlus size={14} stroke={1.5} />}
              onClick={() => {
                change(t("Add a parameter"), addParameter);
                useDesigner.getState().endGesture();
              }}
              data-testid="add-parameter"
            >
              {t("Add a parameter")}
            </Button>
          </div>
        )}
      </div>
    </Modal>
  );
}

interface RowProps {
  readonly name: string;
  readonly parameter: TopologyParameter;
  readonly readOnly: boolean;
}

function Row({ name, parameter, readOnly }: RowProps) {
  const uses = useDesigner((state) => usesOf(state.document, name));
  const diagnostics = useDesigner((state) => state.result?.diagnostics);
  const [typed, setTyped] = useState<string | null>(null);
  const own = (diagnostics ?? []).filter(
    (each) => each.node === null && each.parameter?.split(".")[1] === name,
  );
  const wrong = (part: string) =>
    own.some(
      (each) => each.severity === "error" && each.parameter === `parameters.${name}.${part}`,
    );
  const label = t("Change {title}", { title: name });
  const set = (parts: Parameters<typeof setParameter>[2]) =>
    change(label, (document) => setParameter(document, name, parts));
  const rename = () => {
    if (typed !== null) change(label, (document) => renameParameter(document, name, typed.trim()));
    setTyped(null);
  };
  const { default: fallback, description, type, values } = parameter;
  return (
    <>
      <tr data-testid={`row-${name}`}>
        <td>
          <TextInput
            value={typed ?? name}
            onChange={(event) => setTyped(event.currentTarget.value)}
            onBlur={rename}
            onKeyDown={(event) => {
              if (event.key === "Enter") rename();
            }}
            readOnly={readOnly}
            spellCheck={false}
            classNames={{ input: "m-mono" }}
            error={own.some((each) => each.code === "parameter_name")}
            aria-label={t("Name")}
          />
        </td>
        <td>
          <Select
            data={PARAMETER_TYPES.map((each) => ({ value: each, label: t(TYPES[each]) }))}
            value={type}
            allowDeselect={false}
            readOnly={readOnly}
            onChange={(next) => {
              if (next === null) return;
              const text = asText(fallback as Json);
              set({ type: next as ParameterType, default: typedValue(next, text) });
            }}
            comboboxProps={{ withinPortal: false }}
            aria-label={t("Type of {name}", { name })}
            w={112}
          />
        </td>
        <td>
          <Value
            type={type}
            value={fallback as Json}
            label={t("Default of {name}", { name })}
            wrong={wrong("default")}
            readOnly={readOnly}
            onChange={(value) => set({ default: value ?? "" })}
          />
        </td>
        {ENVIRONMENTS.map((environment) => (
          <td key={environment}>
            <Value
              type={type}
              value={values?.[environment] as Json | undefined}
              placeholder={asText(fallback as Json)}
              label={t("{name} in {environment}", { name, environment })}
              wrong={wrong(`values.${environment}`)}
              readOnly={readOnly}
              onChange={(value) =>
                change(label, (document) => setValue(document, name, environment, value))
              }
            />
          </td>
        ))}
        <td>
          <TextInput
            value={description ?? ""}
            readOnly={readOnly}
            onChange={(event) => {
              const text = event.currentTarget.value;
              set({ description: text === "" ? undefined : text });
            }}
            aria-label={t("Description of {name}", { name })}
          />
        </td>
        <td className="m-figures">{uses}</td>
        <td>
          {readOnly ? null : (
            <ActionIcon
              size={22}
              aria-label={t("Remove {name}", { name })}
              onClick={() => {
                change(t("Remove {name}", { name }), (document) => removeParameter(document, name));
                useDesigner.getState().endGesture();
              }}
            >
              <IconX size={13} stroke={1.5} />
            </ActionIcon>
          )}
        </td>
      </tr>
      {own.length === 0 ? null : (
        <tr>
          <td colSpan={9}>
            {own.map((each) => (
              <p
                key={`${each.code} ${each.parameter}`}
                className="field-problem"
                data-severity={each.severity}
              >
                {describeDiagnostic(each).message} {describeDiagnostic(each).hint}
              </p>
            ))}
          </td>
        </tr>
      )}
    </>
  );
}

interface ValueProps {
  readonly type: string;
  readonly value: Json | undefined;
  readonly placeholder?: string;
  readonly label: string;
  readonly wrong: boolean;
  readonly readOnly: boolean;
  /** `undefined`: no value, so that the default is used. */
  onChange(value: Json | undefined): void;
}

function Value({ type, value, placeholder = "", label, wrong, readOnly, onChange }: ValueProps) {
  if (type === "boolean") {
    const choices = { true: t("Yes"), false: t("No") };
    return (
      <Select
        data={Object.entries(choices).map(([each, text]) => ({ value: each, label: text }))}
        value={typeof value === "boolean" ? String(value) : null}
        placeholder={choices[placeholder as keyof typeof choices] ?? placeholder}
        clearable={placeholder !== ""}
        readOnly={readOnly}
        error={wrong}
        onChange={(next) => onChange(next === null ? undefined : next === "true")}
        comboboxProps={{ withinPortal: false }}
        aria-label={label}
      />
    );
  }
  return (
    <Typed
      // Another text in the document, by undo for example, replaces what is typed.
      key={type}
      text={asText(value)}
      type={type}
      placeholder={placeholder}
      label={label}
      wrong={wrong}
      readOnly={readOnly}
      onChange={onChange}
    />
  );
}

/** A value as text. While it is typed, the text stays as it is: `1.` is not `1`. */
function Typed(props: Omit<ValueProps, "value"> & { readonly text: string }) {
  const { text, type, placeholder = "", label, wrong, readOnly, onChange } = props;
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <TextInput
      value={typed ?? text}
      placeholder={placeholder}
      readOnly={readOnly}
      error={wrong}
      spellCheck={false}
      className={type === "number" ? "m-figures" : ""}
      onChange={(event) => {
        const next = event.currentTarget.value;
        setTyped(next);
        onChange(next === "" ? undefined : typedValue(type, next));
      }}
      onBlur={() => setTyped(null)}
      aria-label={label}
    />
  );
}
