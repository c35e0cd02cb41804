// The addresses of what was sent.
import { createRoute, lazyRouteComponent, type AnyRoute } from "@tanstack/react-router";
import { withTexts } from "./i18n";
import { addressOf as campaignOf } from "./features/campaigns/types";
import { addressOf } from "./features/notifications/address";
import { chosenOf } from "./features/notifications/chosen";

export function notificationRoutes(shell: AnyRoute): AnyRoute[] {
  return [
    createRoute({
      getParentRoute: () => shell,
      path: "/notifications",
      validateSearch: addressOf,
      component: lazyRouteComponent(
        withTexts(() => import("./features/notifications/NotificationsPage")),
        "NotificationsPage",
      ),
    }),
    createRoute({
      getParentRoute: () => shell,
      path: "/notifications/$id",
      validateSearch: chosenOf,
      component: lazyRouteComponent(
        withTexts(() => import("./features/notifications/NotificationPage")),
        "NotificationPage",
      ),
    }),
    createRoute({
      getParentRoute: () => shell,
      path: "/campaigns",
      component: lazyRouteComponent(
        withTexts(() => import("./features/campaigns/CampaignsPage")),
        "CampaignsPage",
      ),
    }),
    createRoute({
      getParentRoute: () => shell,
      path: "/campaigns/$name",
      validateSearch: campaignOf,
      component: lazyRouteComponent(
        withTexts(() => import("./features/campaigns/CampaignPage")),
        "CampaignPage",
      ),
    }),
  ];
}
