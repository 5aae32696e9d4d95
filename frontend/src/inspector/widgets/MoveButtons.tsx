import { ActionIcon } from "@mantine/core";
import IconDown from "@tabler/icons-react/dist/esm/icons/IconArrowDown.mjs";
import IconUp from "@tabler/icons-react/dist/esm/icons/IconArrowUp.mjs";
import { t } from "../../ui/i18n";

/** Buttons that move an item of an ordered list. */
export function MoveButtons(props: { index: number; count: number; onMove: (by: 1 | -1) => void }) {
  const { count, index, onMove } = props;
  return (
    <>
      <ActionIcon
        size={22}
        aria-label={t("Move up")}
        disabled={index === 0}
        onClick={() => onMove(-1)}
      >
        <IconUp size={13} stroke={1.5} />
      </ActionIcon>
      <ActionIcon
        size={22}
        aria-label={t("Move down")}
        disabled={index === count - 1}
        onClick={() => onMove(1)}
      >
        <IconDown size={13} stroke={1.5} />
      </ActionIcon>
    </>
  );
}
