import { Tooltip } from "@mantine/core";
import IconHelp from "@tabler/icons-react/dist/esm/icons/IconHelp.mjs";
import { type ReactNode, useId } from "react";
import type { Diagnostic } from "../api/types";
import { describeDiagnostic } from "../problems/prose";
import { t } from "../ui/i18n";
import { isMissing } from "./problems";

/** The problems of a field and their hints. */
export function FieldProblems({ diagnostics }: { diagnostics: readonly Diagnostic[] }) {
  return diagnostics.map((each, index) => {
    const { hint, message } = describeDiagnostic(each);
    return (
      <p
        key={`${each.code}${index}`}
        className="field-problem"
        data-severity={isMissing(each) ? "missing" : each.severity}
      >
        {message}
        {hint === null || hint === "" ? null : <span> {hint}</span>}
      </p>
    );
  });
}

/** A labeled field: title, type, help, control, and problems. */
export function Field(props: {
  title: string;
  help?: string | null | undefined;
  /** The field's type or unit, to the right of the title. */
  aside?: ReactNode;
  required?: boolean;
  diagnostics?: readonly Diagnostic[];
  children: (labelId: string) => ReactNode;
  name?: string;
}) {
  const { aside, children, diagnostics = [], help, name, required, title } = props;
  const id = useId();
  return (
    <div className="field" data-parameter={name}>
      <div className="field-head">
        <span id={id} className="field-title">
          {title}
        </span>
        {required === true ? (
          <span className="field-required" title={t("required")}>
            *
          </span>
        ) : null}
        {help === null || help === undefined || help === "" ? null : (
          <Tooltip
            label={help}
            multiline
            w={260}
            events={{ hover: true, focus: true, touch: true }}
          >
            <button type="button" className="field-help" aria-label={`${title}: ${help}`}>
              <IconHelp size={13} stroke={1.5} />
            </button>
          </Tooltip>
        )}
        {aside === undefined || aside === null ? null : (
          <span className="field-aside m-cut">{aside}</span>
        )}
      </div>
      {children(id)}
      <FieldProblems diagnostics={diagnostics} />
    </div>
  );
}
