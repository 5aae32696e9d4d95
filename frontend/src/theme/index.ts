import "@fontsource-variable/inter/wght.css";
import "@mantine/core/styles.css";
import "./tokens.css";
import "./base.css";
import "./mantine.css";
