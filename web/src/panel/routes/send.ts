// The addresses of what is going to be sent.
import { createRoute } from "@tanstack/react-router";
import { addressOf, reasonOf } from "../features/send/address";
import { page, shell } from "./frame";

export const sendRoutes = [
  createRoute({
    getParentRoute: () => shell,
    path: "/send",
    validateSearch: addressOf,
    component: page(() => import("../features/send/SendPage"), "SendPage"),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/send/$job",
    validateSearch: reasonOf,
    component: page(() => import("../features/send/JobPage"), "JobPage"),
  }),
] as const;
