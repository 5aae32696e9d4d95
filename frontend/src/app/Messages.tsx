import { Notifications } from "@mantine/notifications";
import "@mantine/notifications/styles.css";

/** Shows the messages of `notify`. */
export function Messages() {
  return <Notifications position="bottom-right" autoClose={6000} limit={4} />;
}
