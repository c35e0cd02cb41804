// The addresses of the calls.
import { createRoute, lazyRouteComponent, type AnyRoute } from "@tanstack/react-router";
import { withTexts } from "./i18n";
import { addressOf } from "./features/calls/address";

export function callRoutes(shell: AnyRoute): AnyRoute[] {
  return [
    createRoute({
      getParentRoute: () => shell,
      path: "/calls",
      validateSearch: addressOf,
      component: lazyRouteComponent(
        withTexts(() => import("./features/calls/CallsPage")),
        "CallsPage",
      ),
    }),
    createRoute({
      getParentRoute: () => shell,
      path: "/calls/$id",
      component: lazyRouteComponent(
        withTexts(() => import("./features/calls/CallPage")),
        "CallPage",
      ),
    }),
  ];
}
