// The addresses of webhooks.
import { createRoute, lazyRouteComponent, type AnyRoute } from "@tanstack/react-router";
import { withTexts } from "./i18n";
import { addressOf } from "./features/webhooks/types";

export function webhookRoutes(shell: AnyRoute): AnyRoute[] {
  return [
    createRoute({
      getParentRoute: () => shell,
      path: "/webhooks",
      component: lazyRouteComponent(
        withTexts(() => import("./features/webhooks/WebhooksPage")),
        "WebhooksPage",
      ),
    }),
    createRoute({
      getParentRoute: () => shell,
      path: "/webhooks/$id",
      validateSearch: addressOf,
      component: lazyRouteComponent(
        withTexts(() => import("./features/webhooks/WebhookPage")),
        "WebhookPage",
      ),
    }),
  ];
}
