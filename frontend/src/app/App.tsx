import { MantineProvider } from "@mantine/core";
import { useNotifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { Suspense, useState } from "react";
import { BrowserRouter } from "react-router";
import { queryClient } from "../frame/queries";
import { cssVariables, theme } from "../theme/theme";
import { later } from "../ui/later";
import { Crash } from "./Crash";
import { NewVersion } from "./NewVersion";
import { Pages } from "./Pages";

const Messages = later(async () => (await import("./Messages")).Messages);

function MessagesOnceThereAreSome() {
  const some = useNotifications().notifications.length > 0;
  const [shown, setShown] = useState(false);
  if (some && !shown) setShown(true);
  return shown ? (
    <Suspense>
      <Messages />
    </Suspense>
  ) : null;
}

export function App() {
  return (
    <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <MessagesOnceThereAreSome />
        <NewVersion />
        <BrowserRouter>
          <Crash>
            <Pages />
          </Crash>
        </BrowserRouter>
      </QueryClientProvider>
    </MantineProvider>
  );
}
