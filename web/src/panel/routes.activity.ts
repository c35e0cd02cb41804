// The addresses of the logs.
import { createRoute, lazyRouteComponent, redirect, type AnyRoute } from "@tanstack/react-router";
import { withTexts } from "./i18n";
import { addressOf } from "./features/activity/address";

const page = withTexts(() => import("./features/activity/ActivityPage"));

export function activityRoutes(shell: AnyRoute): AnyRoute[] {
  return [
    createRoute({
      getParentRoute: () => shell,
      path: "/activity", // until 1.0 both logs were here
      beforeLoad: ({ search }) => {
        const { tab, ...rest } = search as Record<string, unknown>;
        throw redirect({ to: tab === "changes" ? "/change-log" : "/api-log", search: rest, replace: true } as never);
      },
    }),
    createRoute({
      getParentRoute: () => shell,
      path: "/api-log",
      validateSearch: addressOf,
      component: lazyRouteComponent(page, "ApiLogPage"),
    }),
    createRoute({
      getParentRoute: () => shell,
      path: "/change-log",
      validateSearch: addressOf,
      component: lazyRouteComponent(page, "ChangeLogPage"),
    }),
  ];
}
