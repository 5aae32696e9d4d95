import type { ReactNode } from "react";
import type { Diagnostic } from "../../api/types";
import { at } from "../../problems/places";
import { Field } from "../Field";

/** A field for one part of a parameter, with the problems of exactly that part. */
export function PartField(props: {
  title: string;
  path: string;
  diagnostics: readonly Diagnostic[];
  help?: string;
  aside?: ReactNode;
  children: (labelId: string) => ReactNode;
}) {
  const { aside, children, diagnostics, help, path, title } = props;
  return (
    <Field title={title} help={help} aside={aside} diagnostics={at(diagnostics, path)} name={path}>
      {children}
    </Field>
  );
}
