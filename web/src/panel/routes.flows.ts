// The addresses of flows and of their runs.
import { createRoute, lazyRouteComponent, type AnyRoute } from "@tanstack/react-router";
import { withTexts } from "./i18n";
import { addressOf, flowAddressOf } from "./features/flows/address";

export function flowRoutes(shell: AnyRoute): AnyRoute[] {
  return [
    createRoute({
      getParentRoute: () => shell,
      path: "/flows",
      validateSearch: addressOf,
      component: lazyRouteComponent(
        withTexts(() => import("./features/flows/FlowsPage")),
        "FlowsPage",
      ),
    }),
    createRoute({
      getParentRoute: () => shell,
      path: "/flows/$id",
      validateSearch: flowAddressOf,
      component: lazyRouteComponent(
        withTexts(() => import("./features/flows/FlowPage")),
        "FlowPage",
      ),
    }),
    createRoute({
      getParentRoute: () => shell,
      path: "/flows/runs/$id",
      component: lazyRouteComponent(
        withTexts(() => import("./features/flows/RunPage")),
        "RunPage",
      ),
    }),
  ];
}
