// The addresses of what is going to be sent.
import { createRoute, lazyRouteComponent, type AnyRoute } from "@tanstack/react-router";
import { withTexts } from "./i18n";
import { addressOf, reasonOf } from "./features/send/address";

export function sendRoutes(shell: AnyRoute): AnyRoute[] {
  return [
    createRoute({
      getParentRoute: () => shell,
      path: "/send",
      validateSearch: addressOf,
      component: lazyRouteComponent(
        withTexts(() => import("./features/send/SendPage")),
        "SendPage",
      ),
    }),
    createRoute({
      getParentRoute: () => shell,
      path: "/send/$job",
      validateSearch: reasonOf,
      component: lazyRouteComponent(
        withTexts(() => import("./features/send/JobPage")),
        "JobPage",
      ),
    }),
  ];
}
