import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "react-router/dom";
import { cssVariables, theme } from "../theme/theme";
import { useLanguage } from "../ui/i18n";
import { queryClient } from "./queries";
import { router } from "./router";
import "@mantine/notifications/styles.css";

export function App() {
  const language = useLanguage();
  return (
    <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <Notifications position="bottom-right" autoClose={6000} limit={4} />
        <RouterProvider key={language} router={router} />
      </QueryClientProvider>
    </MantineProvider>
  );
}
