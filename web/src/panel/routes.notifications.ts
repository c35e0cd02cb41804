// The addresses of what was sent.
import { createRoute, lazyRouteComponent, type AnyRoute } from "@tanstack/react-router";
import { addressOf as campaignOf } from "./features/campaigns/types";
import { addressOf } from "./features/notifications/address";
import { chosenOf } from "./features/notifications/chosen";

export function notificationRoutes(shell: AnyRoute): AnyRoute[] {
  return [
    createRoute({
      getParentRoute: () => shell,
      path: "/notifications",
      validateSearch: addressOf,
      component: lazyRouteComponent(() => import("./features/notifications/NotificationsPage"), "NotificationsPage"),
    }),
    createRoute({
      getParentRoute: () => shell,
      path: "/notifications/$id",
      validateSearch: chosenOf,
      component: lazyRouteComponent(() => import("./features/notifications/NotificationPage"), "NotificationPage"),
    }),
    createRoute({
      getParentRoute: () => shell,
      path: "/campaigns",
      component: lazyRouteComponent(() => import("./features/campaigns/CampaignsPage"), "CampaignsPage"),
    }),
    createRoute({
      getParentRoute: () => shell,
      path: "/campaigns/$name",
      validateSearch: campaignOf,
      component: lazyRouteComponent(() => import("./features/campaigns/CampaignPage"), "CampaignPage"),
    }),
  ];
}
