// The addresses of templates.
import { createRoute, lazyRouteComponent, type AnyRoute } from "@tanstack/react-router";
import { withTexts } from "./i18n";
import { addressOf, newAddressOf } from "./features/templates/address";

export function templateRoutes(shell: AnyRoute): AnyRoute[] {
  return [
    createRoute({
      getParentRoute: () => shell,
      path: "/templates",
      validateSearch: addressOf,
      component: lazyRouteComponent(
        withTexts(() => import("./features/templates/TemplatesPage")),
        "TemplatesPage",
      ),
    }),
    createRoute({
      getParentRoute: () => shell,
      path: "/templates/new",
      validateSearch: newAddressOf,
      component: lazyRouteComponent(
        withTexts(() => import("./features/templates/EditorPage")),
        "NewPage",
      ),
    }),
    createRoute({
      getParentRoute: () => shell,
      path: "/templates/$id",
      component: lazyRouteComponent(
        withTexts(() => import("./features/templates/TemplatePage")),
        "TemplatePage",
      ),
    }),
    createRoute({
      getParentRoute: () => shell,
      path: "/templates/$id/edit",
      component: lazyRouteComponent(
        withTexts(() => import("./features/templates/EditorPage")),
        "EditPage",
      ),
    }),
  ];
}
