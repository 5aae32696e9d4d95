import { ActionIcon, Menu } from "@mantine/core";
import IconSelector from "@tabler/icons-react/dist/esm/icons/IconSelector.mjs";
import { useNavigate } from "react-router";
import { t } from "../ui/i18n";
import { useSession } from "./session";

/** A menu of the person's workspaces beside the name of the current one; nothing with only one. */
export function WorkspaceSwitch({ ws }: { ws: string }) {
  const { data } = useSession();
  const navigate = useNavigate();
  const workspaces = data?.workspaces ?? [];
  if (workspaces.length < 2) return null;
  return (
    <Menu position="bottom-start" width={240} shadow="sm">
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          aria-label={t("Switch the workspace")}
          title={t("Switch the workspace")}
          data-testid="switch-workspace"
        >
          <IconSelector size={15} stroke={1.5} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown mah="70vh" style={{ overflowY: "auto" }}>
        <Menu.Label>{t("Workspaces")}</Menu.Label>
        {workspaces.map(({ slug, name }) => (
          <Menu.Item
            key={slug}
            onClick={() => void navigate(`/w/${slug}`)}
            aria-current={slug === ws ? "true" : undefined}
            fw={slug === ws ? 550 : 400}
          >
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
