import { configure } from "@testing-library/react";

// On a busy machine, what is loaded when it is needed takes seconds.
configure({ asyncUtilTimeout: 10_000 });
