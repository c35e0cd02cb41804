// The addresses of the inbox.
import { createRoute } from "@tanstack/react-router";
import { addressOf } from "../features/inbox/address";
import { page, shell } from "./frame";

export const inboxRoutes = [
  createRoute({
    getParentRoute: () => shell,
    path: "/inbox",
    validateSearch: addressOf,
    component: page(() => import("../features/inbox/InboxRoute"), "InboxRoute"),
  }),
] as const;
