import { ActionIcon } from "@mantine/core";
import IconExpand from "@tabler/icons-react/dist/esm/icons/IconArrowsDiagonal.mjs";
import { Suspense, useMemo, useState } from "react";
import { placeOfSetting, useBreakpoints } from "../../designer/breakpoints";
import { useDesigner } from "../../designer/store";
import { type StoreClasses, storeClasses } from "../../graph/stores";
import { at } from "../../problems/places";
import { Tip } from "../../ui";
import { t } from "../../ui/i18n";
import { Modal } from "../../ui/Modal";
import { part } from "../../ui/reach";
import { asText, type WidgetProps } from "./widget";

const PythonEditor = part(async () => (await import("../editor/PythonEditor")).default);

const NONE: readonly number[] = [];

/** The classes of the stores that are connected to a node, by the names that its code uses. */
function useStoreClasses(node: string): StoreClasses {
  const document = useDesigner((state) => state.document);
  const catalog = useDesigner((state) => state.catalog);
  return useMemo(
    () => (catalog === null ? {} : storeClasses(document, catalog, node)),
    [document, catalog, node],
  );
}

/** An editor for Python source, in the panel or in a large dialog. */
export function CodeWidget(props: WidgetProps) {
  const { diagnostics, labelId, node, onChange, onDone, parameter, path, readOnly, value } = props;
  const place = node?.id ?? placeOfSetting(path);
  const lines = useBreakpoints((state) => state.lines[place] ?? NONE);
  const stopped = useBreakpoints((state) =>
    state.stopped?.node === place ? state.stopped.line : null,
  );
  const stores = useStoreClasses(node?.id ?? "");
  const [large, setLarge] = useState(false);
  const text = asText(value);
  const editor = (height: "panel" | "window") => (
    <Suspense fallback={<pre className="editor editor-waiting editor-code">{text}</pre>}>
      <PythonEditor
        value={text}
        diagnostics={at(diagnostics, path)}
        labelId={labelId}
        readOnly={readOnly}
        height={height}
        lines={lines}
        stopped={stopped}
        stores={stores}
        onBreakpoints={(next) => useBreakpoints.getState().setLines(place, next)}
        onChange={(next) => onChange(next === "" ? undefined : next)}
        onDone={onDone}
      />
    </Suspense>
  );
  return (
    <div className="code-widget">
      {large ? <pre className="editor editor-waiting editor-code">{text}</pre> : editor("panel")}
      <Tip text={t("Open in a large window")} position="left">
        <ActionIcon
          className="code-enlarge"
          size={24}
          aria-label={t("Open in a large window")}
          onClick={() => setLarge(true)}
        >
          <IconExpand size={14} stroke={1.5} />
        </ActionIcon>
      </Tip>
      {large ? (
        <Modal
          opened
          onClose={() => setLarge(false)}
          title={parameter.title}
          size="min(960px, 92vw)"
        >
          {editor("window")}
        </Modal>
      ) : null}
    </div>
  );
}
