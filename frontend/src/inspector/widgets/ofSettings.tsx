import { asObject } from "../../graph/document";
/** Widgets of settings with Python source, and the field that loads them when a document has such settings. */

import { freshId } from "../../graph/changes";
import { at } from "../../problems/places";
import { t } from "../../ui/i18n";
import { FieldProblems } from "../Field";
import { ParameterField } from "../ParameterField";
import { addWidgets } from ".";
import { CodeWidget } from "./code";
import { AddButton, NameInput, Row } from "./rows";
import type { WidgetProps } from "./widget";

/** Modules by name, each with its source. */
function ModulesWidget(props: WidgetProps) {
  const { diagnostics, onChange, onDone, path, readOnly } = props;
  const modules = Object.entries(asObject(props.value));
  const change = (next: typeof modules) =>
    onChange(next.length === 0 ? undefined : Object.fromEntries(next));
  const changeAndEnd = (next: typeof modules) => {
    change(next);
    onDone();
  };
  return (
    <div className="list">
      {modules.map(([name, code], index) => (
        <Row
          key={index}
          index={index}
          count={modules.length}
          ordered={false}
          readOnly={readOnly}
          onMove={() => undefined}
          onRemove={() => changeAndEnd(modules.filter(([other]) => other !== name))}
          head={
            <NameInput
              value={name}
              label={t("Module")}
              readOnly={readOnly}
              wrong={at(diagnostics, `${path}.${name}`).length > 0}
              onCommit={(next) =>
                changeAndEnd(
                  modules.some(([other]) => other === next)
                    ? modules
                    : modules.map((each) => (each[0] === name ? [next, code] : each)),
                )
              }
            />
          }
        >
          <CodeWidget
            {...props}
            value={code}
            path={`${path}.${name}`}
            onChange={(text) =>
              change(modules.map((each) => (each[0] === name ? [name, text ?? ""] : each)))
            }
          />
          <FieldProblems diagnostics={at(diagnostics, `${path}.${name}`)} />
        </Row>
      ))}
      <AddButton
        text={t("Add a module")}
        hidden={readOnly}
        onClick={() => {
          const taken = new Set(modules.map(([name]) => name));
          changeAndEnd([...modules, [freshId(taken, "module").replaceAll("-", "_"), ""]]);
        }}
      />
    </div>
  );
}

addWidgets({ code: CodeWidget, modules: ModulesWidget });

export default ParameterField;
