import { Tooltip } from "@mantine/core";
import IconHelp from "@tabler/icons-react/dist/esm/icons/IconHelp.mjs";
import { type ReactNode, type RefObject, useEffect, useId, useRef, useState } from "react";
import { describeDiagnostic } from "../api/prose";
import type { Diagnostic } from "../api/types";
import { FixButton } from "../problems/laterFixes";
import { isMissing, isNeeded } from "../problems/places";
import { Held } from "../ui/Held";
import { inWords, t } from "../ui/i18n";

/** The problems of a field and their hints. `fixes` is false for those of anything but the open document. */
export function FieldProblems(props: { diagnostics: readonly Diagnostic[]; fixes?: boolean }) {
  const { diagnostics, fixes = true } = props;
  return (
    <Held>
      {diagnostics.map((each, index) => {
        const { hint, message } = describeDiagnostic(each);
        return (
          <p
            key={`${each.code}${index}`}
            className="field-problem"
            data-severity={isMissing(each) ? "missing" : each.severity}
          >
            <span className="field-problem-text">
              {message}
              {hint === null || hint === "" ? null : (
                <span className="field-problem-hint"> {hint}</span>
              )}
            </span>{" "}
            {fixes ? <FixButton diagnostic={each} /> : null}
          </p>
        );
      })}
    </Held>
  );
}

/** Says beside the title that the field has to be filled in, where it moves no field when it comes and goes. */
function Required({ diagnostic, empty }: { diagnostic: Diagnostic | undefined; empty: boolean }) {
  if (diagnostic === undefined && !empty) {
    return (
      <span className="field-required" title={t("required")}>
        *
      </span>
    );
  }
  const { hint, message } = diagnostic === undefined ? NOTHING : describeDiagnostic(diagnostic);
  const { names } = diagnostic?.code === "one_of" ? inWords(diagnostic.facts ?? {}) : NO_FACTS;
  return (
    <span className="field-needed" title={`${message} ${hint ?? ""}`.trim()}>
      {names === undefined ? t("required") : t("required: {names}", { names })}
    </span>
  );
}

const NOTHING = { message: "", hint: "" };
const NO_FACTS: Readonly<Record<string, string>> = {};

/** The field is the target of the help's place, but neither pointer nor focus in it opens the help. */
const NO_EVENTS = { hover: false, focus: false, touch: false };

/**
 * The sign of a field's help. The help opens beside the field, where it covers neither control nor problems. Without a
 * mouse it is opened by F1 in the field; screen readers announce it with the field.
 */
function FieldHelp(props: { help: string; target: RefObject<HTMLDivElement | null> }) {
  const { help, target } = props;
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const field = target.current;
    if (field === null) return;
    const onKey = (event: globalThis.KeyboardEvent) => {
      if (event.key === "F1") {
        event.preventDefault();
        setOpen((now) => !now);
      } else if (event.key === "Escape") setOpen(false);
    };
    const onLeave = (event: FocusEvent) => {
      if (!field.contains(event.relatedTarget as Node | null)) setOpen(false);
    };
    field.addEventListener("keydown", onKey);
    field.addEventListener("focusout", onLeave);
    return () => {
      field.removeEventListener("keydown", onKey);
      field.removeEventListener("focusout", onLeave);
    };
  }, [target]);
  return (
    <>
      <Tooltip
        label={help}
        multiline
        w={260}
        target={target}
        opened={open}
        position="left-start"
        events={NO_EVENTS}
      />
      <button
        type="button"
        className="field-help"
        tabIndex={-1}
        aria-label={t("Help (F1 in the field)")}
        onMouseEnter={() => setOpen(true)}
        onMouseLeave={() => setOpen(false)}
        onClick={() => setOpen(true)}
      >
        <IconHelp size={13} stroke={1.5} />
      </button>
    </>
  );
}

/** A labeled field: title, type, help, control, and problems; that it is empty is said beside its title. */
export function Field(props: {
  title: string;
  help?: string | null | undefined;
  /** The field's type or unit, to the right of the title. */
  aside?: ReactNode;
  required?: boolean;
  diagnostics?: readonly Diagnostic[];
  /** Whether it has no value: it is said if it needs one, also before the compiler has. */
  empty?: boolean;
  children: (labelId: string) => ReactNode;
  name?: string;
}) {
  const { aside, children, diagnostics = [], empty = false, help, name, required, title } = props;
  const id = useId();
  const field = useRef<HTMLDivElement>(null);
  const asks = (each: Diagnostic) => isNeeded(each) || (empty && each.code === "one_of");
  const needed = diagnostics.find(asks);
  const problems = needed === undefined ? diagnostics : diagnostics.filter((each) => !asks(each));
  const helped = help !== null && help !== undefined && help !== "";
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset has a legend, and its own layout
    <div
      className="field"
      role="group"
      aria-labelledby={id}
      aria-describedby={helped ? `${id}-help` : undefined}
      data-parameter={name}
      ref={field}
    >
      <div className="field-head">
        <span id={id} className="field-title">
          {title}
        </span>
        {required === true || needed !== undefined ? (
          <Required diagnostic={needed} empty={empty} />
        ) : null}
        {!helped ? null : (
          <>
            <FieldHelp help={help} target={field} />
            <span id={`${id}-help`} className="m-hidden">
              {help}
            </span>
          </>
        )}
        {aside === undefined || aside === null ? null : (
          <span className="field-aside m-cut">{aside}</span>
        )}
      </div>
      {children(id)}
      <FieldProblems diagnostics={problems} />
    </div>
  );
}
