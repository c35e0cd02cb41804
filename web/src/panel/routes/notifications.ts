// The addresses of what was sent.
import { createRoute } from "@tanstack/react-router";
import { addressOf as campaignOf } from "../features/campaigns/types";
import { addressOf } from "../features/notifications/address";
import { chosenOf } from "../features/notifications/chosen";
import { page, shell } from "./frame";

export const notificationRoutes = [
  createRoute({
    getParentRoute: () => shell,
    path: "/notifications",
    validateSearch: addressOf,
    component: page(() => import("../features/notifications/NotificationsPage"), "NotificationsPage"),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/notifications/$id",
    validateSearch: chosenOf,
    component: page(() => import("../features/notifications/NotificationPage"), "NotificationPage"),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/campaigns",
    component: page(() => import("../features/campaigns/CampaignsPage"), "CampaignsPage"),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/campaigns/$name",
    validateSearch: campaignOf,
    component: page(() => import("../features/campaigns/CampaignPage"), "CampaignPage"),
  }),
] as const;
