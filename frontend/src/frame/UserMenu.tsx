import { Avatar, Menu, UnstyledButton, useMantineColorScheme } from "@mantine/core";
import IconDeviceDesktop from "@tabler/icons-react/dist/esm/icons/IconDeviceDesktop.mjs";
import IconHelp from "@tabler/icons-react/dist/esm/icons/IconHelpCircle.mjs";
import IconLanguage from "@tabler/icons-react/dist/esm/icons/IconLanguage.mjs";
import IconLogout from "@tabler/icons-react/dist/esm/icons/IconLogout.mjs";
import IconMoon from "@tabler/icons-react/dist/esm/icons/IconMoon.mjs";
import IconServer from "@tabler/icons-react/dist/esm/icons/IconServer.mjs";
import IconSettings from "@tabler/icons-react/dist/esm/icons/IconSettings.mjs";
import IconSun from "@tabler/icons-react/dist/esm/icons/IconSun.mjs";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { signOut } from "../api/accountCalls";
import {
  fetchTexts,
  LANGUAGES,
  type Language,
  phrase,
  setLanguage,
  t,
  useLanguage,
} from "../ui/i18n";
import { notifyError } from "./notify";
import { forgetEnd, SESSION_KEY, SIGNED_OUT, useSession } from "./session";

const SCHEMES = [
  { value: "light", title: phrase("Light"), Icon: IconSun },
  { value: "dark", title: phrase("Dark"), Icon: IconMoon },
  { value: "auto", title: phrase("System"), Icon: IconDeviceDesktop },
] as const;

/** A way to help: a tour, a reference, a list of shortcuts. */
export interface HelpItem {
  readonly id: string;
  readonly title: string;
  readonly run: () => void;
}

/** The user menu: name, settings, help, theme, language, sign out. */
export function UserMenu({
  help = [],
  ws,
}: {
  help?: readonly HelpItem[];
  ws?: string | undefined;
}) {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { data } = useSession();
  const language = useLanguage();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const user = data?.user;
  if (user === null || user === undefined) return null;
  const name = user.display_name || user.username;

  const speak = async (next: Language) => {
    try {
      await fetchTexts(next);
      setLanguage(next);
    } catch (error) {
      notifyError(error);
    }
  };
  const leave = async () => {
    try {
      await signOut();
    } catch (error) {
      notifyError(error);
      return;
    }
    queries.clear();
    forgetEnd();
    queries.setQueryData(SESSION_KEY, SIGNED_OUT);
    void navigate("/sign-in");
  };

  return (
    <Menu position="bottom-end" width={250} shadow="sm">
      <Menu.Target>
        <UnstyledButton data-testid="user-menu">
          <Avatar size={26} radius="xl" color="initials" name={name} />
          <span className="m-hidden">{t("Account of {name}", { name })}</span>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{name}</Menu.Label>
        {ws === undefined ? null : (
          <Menu.Item
            leftSection={<IconSettings size={16} stroke={1.5} />}
            onClick={() => void navigate(`/w/${ws}/settings`)}
          >
            {t("Settings")}
          </Menu.Item>
        )}
        {data?.installation_admin ? (
          <Menu.Item
            leftSection={<IconServer size={16} stroke={1.5} />}
            onClick={() => void navigate("/installation")}
          >
            {t("Installation")}
          </Menu.Item>
        ) : null}
        {help.length === 0 ? null : (
          <>
            <Menu.Divider />
            <Menu.Label>{t("Help")}</Menu.Label>
            {help.map(({ id, run, title }) => (
              <Menu.Item
                key={id}
                leftSection={<IconHelp size={16} stroke={1.5} />}
                onClick={run}
                data-testid={`help-${id}`}
              >
                {title}
              </Menu.Item>
            ))}
          </>
        )}
        <Menu.Divider />
        <Menu.Label>{t("Theme")}</Menu.Label>
        {SCHEMES.map(({ value, title, Icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Icon size={16} stroke={1.5} />}
            onClick={() => setColorScheme(value)}
            closeMenuOnClick={false}
            aria-current={colorScheme === value ? "true" : undefined}
            fw={colorScheme === value ? 550 : 400}
            data-testid={`theme-${value}`}
          >
            {t(title)}
          </Menu.Item>
        ))}
        <Menu.Divider />
        {LANGUAGES.map(({ id, title }) => (
          <Menu.Item
            key={id}
            leftSection={<IconLanguage size={16} stroke={1.5} />}
            onClick={() => void speak(id)}
            fw={language === id ? 550 : 400}
          >
            {title}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconLogout size={16} stroke={1.5} />}
          onClick={() => void leave()}
          data-testid="sign-out"
        >
          {t("Sign out")}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
