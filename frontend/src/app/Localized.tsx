import { Outlet } from "react-router";
import { useLanguage } from "../ui/i18n";

/** Remounts the page at this address when the language changes. */
export function Localized() {
  return <Outlet key={useLanguage()} />;
}
