// The addresses of the inbox.
import { createRoute, lazyRouteComponent, type AnyRoute } from "@tanstack/react-router";
import { withTexts } from "./i18n";
import { addressOf } from "./features/inbox/address";

export function inboxRoutes(shell: AnyRoute): AnyRoute[] {
  return [
    createRoute({
      getParentRoute: () => shell,
      path: "/inbox",
      validateSearch: addressOf,
      component: lazyRouteComponent(
        withTexts(() => import("./features/inbox/InboxRoute")),
        "InboxRoute",
      ),
    }),
  ];
}
