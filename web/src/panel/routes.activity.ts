// The address of what happened.
import { createRoute, lazyRouteComponent, type AnyRoute } from "@tanstack/react-router";
import { withTexts } from "./i18n";
import { addressOf } from "./features/activity/address";

export function activityRoutes(shell: AnyRoute): AnyRoute[] {
  return [
    createRoute({
      getParentRoute: () => shell,
      path: "/activity",
      validateSearch: addressOf,
      component: lazyRouteComponent(
        withTexts(() => import("./features/activity/ActivityPage")),
        "ActivityPage",
      ),
    }),
  ];
}
