/** The Mantine theme. Sizes, radius and colors come from `tokens.css`. */

import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from "@mantine/core";

const accent: MantineColorsTuple = [
  "#ecedfd",
  "#d9dafb",
  "#c3c5f7",
  "#a0a3fb",
  "#8487f2",
  "#6568e6",
  "#4f52d6",
  "#4346c2",
  "#383ba6",
  "#2d3087",
];

const field = { size: "xs", radius: "sm" } as const;
const floating = { transitionProps: { duration: 120, transition: "fade" } } as const;

export const theme = createTheme({
  primaryColor: "accent",
  primaryShade: { light: 6, dark: 5 },
  colors: { accent },
  fontFamily: "var(--m-font)",
  fontFamilyMonospace: "var(--m-mono)",
  fontSizes: { xs: "12px", sm: "13px", md: "14px", lg: "16px", xl: "20px" },
  radius: { xs: "4px", sm: "6px", md: "6px", lg: "8px", xl: "10px" },
  spacing: { xs: "4px", sm: "8px", md: "12px", lg: "16px", xl: "24px" },
  defaultRadius: "sm",
  cursorType: "pointer",
  focusRing: "auto",
  components: {
    ActionIcon: { defaultProps: { variant: "subtle", color: "gray", size: 28 } },
    Autocomplete: { defaultProps: field },
    Button: { defaultProps: { size: "xs", variant: "default" } },
    InputWrapper: {
      defaultProps: {
        inputWrapperOrder: ["label", "input", "description", "error"],
        withAsterisk: false,
      },
    },
    // Not the head of the page.
    ModalHeader: { defaultProps: { role: "presentation" } },
    Menu: {
      defaultProps: { ...floating, shadow: "float", offset: 4, withInitialFocusPlaceholder: false },
    },
    Modal: {
      defaultProps: { ...floating, centered: true, shadow: "float", radius: 8 },
    },
    NumberInput: { defaultProps: field },
    PasswordInput: { defaultProps: field },
    Popover: { defaultProps: { ...floating, shadow: "float" } },
    Select: { defaultProps: { ...field, allowDeselect: false } },
    Switch: { defaultProps: { size: "xs", withThumbIndicator: false } },
    TagsInput: { defaultProps: field },
    Textarea: { defaultProps: field },
    TextInput: { defaultProps: field },
    Tooltip: {
      defaultProps: { ...floating, openDelay: 350, withArrow: false, offset: 6 },
    },
  },
});

/** Mantine's variables in terms of the tokens, for both color schemes. */
const shared: Record<string, string> = {
  "--mantine-color-body": "var(--m-panel)",
  "--mantine-color-text": "var(--m-text)",
  "--mantine-color-dimmed": "var(--m-muted)",
  "--mantine-color-placeholder": "var(--m-faint)",
  "--mantine-color-anchor": "var(--m-accent-text)",
  "--mantine-color-default": "var(--m-panel)",
  "--mantine-color-default-hover": "var(--m-hover)",
  "--mantine-color-default-color": "var(--m-text)",
  "--mantine-color-default-border": "var(--m-line-strong)",
  "--mantine-color-error": "var(--m-failed-text)",
  "--mantine-color-gray-light-color": "var(--m-muted)",
  "--mantine-color-gray-light-hover": "var(--m-hover)",
  "--mantine-color-disabled": "var(--m-sunken)",
  "--mantine-color-disabled-color": "var(--m-faint)",
  "--mantine-color-disabled-border": "var(--m-line)",
  "--mantine-primary-color-filled": "var(--m-accent)",
  "--mantine-primary-color-filled-hover": "var(--m-accent-hover)",
  "--mantine-color-accent-filled": "var(--m-accent)",
  "--mantine-color-accent-filled-hover": "var(--m-accent-hover)",
  "--mantine-color-red-filled": "var(--m-danger)",
  "--mantine-color-red-filled-hover": "var(--m-danger-hover)",
  "--mantine-color-red-light-hover": "var(--m-failed-soft)",
  "--mantine-primary-color-light": "var(--m-accent-soft)",
  "--mantine-primary-color-light-color": "var(--m-accent-text)",
  "--mantine-color-accent-light-color": "var(--m-accent-text)",
  "--mantine-color-accent-light-hover": "var(--m-accent-soft)",
  "--mantine-color-red-light-color": "var(--m-failed-text)",
  "--mantine-shadow-float": "var(--m-float)",
  "--mantine-line-height": "1.45",
};

export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: shared,
  dark: shared,
});
