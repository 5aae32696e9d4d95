import "@fontsource-variable/inter/wght.css";
import "./components.css";
import "./tokens.css";
import "./base.css";
import "./mantine.css";
