import "./theme";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import { prefetchSession } from "./frame/queries";
import { fetchTexts, language, markLanguage } from "./ui/i18n";
import { watchForNewer } from "./ui/reach";

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no element #root");
const page = createRoot(root);
const draw = () =>
  page.render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
watchForNewer();
markLanguage();
prefetchSession();
// If the translations cannot be loaded, the page is shown in English.
fetchTexts(language()).then(draw, draw);
