// The addresses of the logs.
import { createRoute, redirect } from "@tanstack/react-router";
import { addressOf } from "../features/activity/address";
import { page, shell } from "./frame";

export const activityRoutes = [
  createRoute({
    getParentRoute: () => shell,
    path: "/activity", // until 1.0 both logs were here
    beforeLoad: ({ search }) => {
      const { tab, ...rest } = search as Record<string, unknown>;
      throw redirect({ to: tab === "changes" ? "/change-log" : "/api-log", search: rest, replace: true });
    },
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/api-log",
    validateSearch: addressOf,
    component: page(() => import("../features/activity/ActivityPage"), "ApiLogPage"),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/change-log",
    validateSearch: addressOf,
    component: page(() => import("../features/activity/ActivityPage"), "ChangeLogPage"),
  }),
] as const;
