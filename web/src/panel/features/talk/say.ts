import type { ReactNode } from "react";
import { notifications } from "@mantine/notifications";
import { shared } from "../../ui/texts";

export { succeeded } from "../../ui/problem";

/** problem shows what did not work, in words that are the page's own. */
export function problem(text: ReactNode): void {
  notifications.show({
    message: text,
    color: "red",
    autoClose: 12_000,
    withBorder: true,
    role: "alert",
    closeButtonProps: { "aria-label": shared.now.close },
  });
}
