import { Notifications } from "@mantine/notifications";
import "@mantine/notifications/styles.css";

/** Where the messages of `notify` are shown. */
export function Messages() {
  return <Notifications position="bottom-right" autoClose={6000} limit={4} />;
}
