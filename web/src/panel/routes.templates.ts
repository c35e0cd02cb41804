// The addresses of templates.
import { createRoute, lazyRouteComponent, type AnyRoute } from "@tanstack/react-router";
import { addressOf, newAddressOf } from "./features/templates/address";

export function templateRoutes(shell: AnyRoute): AnyRoute[] {
  return [
    createRoute({
      getParentRoute: () => shell,
      path: "/templates",
      validateSearch: addressOf,
      component: lazyRouteComponent(() => import("./features/templates/TemplatesPage"), "TemplatesPage"),
    }),
    createRoute({
      getParentRoute: () => shell,
      path: "/templates/new",
      validateSearch: newAddressOf,
      component: lazyRouteComponent(() => import("./features/templates/EditorPage"), "NewPage"),
    }),
    createRoute({
      getParentRoute: () => shell,
      path: "/templates/$id",
      component: lazyRouteComponent(() => import("./features/templates/TemplatePage"), "TemplatePage"),
    }),
    createRoute({
      getParentRoute: () => shell,
      path: "/templates/$id/edit",
      component: lazyRouteComponent(() => import("./features/templates/EditorPage"), "EditPage"),
    }),
  ];
}
