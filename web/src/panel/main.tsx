import "@mantine/core/styles.css";
import { createRoot } from "react-dom/client";
import { MantineProvider, Button } from "@mantine/core";
createRoot(document.getElementById("root")!).render(<MantineProvider><Button>x</Button></MantineProvider>);
