// The addresses of webhooks.
import { createRoute } from "@tanstack/react-router";
import { addressOf } from "../features/webhooks/types";
import { page, shell } from "./frame";

export const webhookRoutes = [
  createRoute({
    getParentRoute: () => shell,
    path: "/webhooks",
    component: page(() => import("../features/webhooks/WebhooksPage"), "WebhooksPage"),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/webhooks/$id",
    validateSearch: addressOf,
    component: page(() => import("../features/webhooks/WebhookPage"), "WebhookPage"),
  }),
] as const;
