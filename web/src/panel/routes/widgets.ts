// The addresses of widgets.
import { createRoute } from "@tanstack/react-router";
import { page, shell } from "./frame";

export const widgetRoutes = [
  createRoute({
    getParentRoute: () => shell,
    path: "/widgets",
    component: page(() => import("../features/widgets/WidgetsPage"), "WidgetsPage"),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/widgets/$id",
    component: page(() => import("../features/widgets/WidgetPage"), "WidgetPage"),
  }),
] as const;
