// The addresses of the calls.
import { createRoute } from "@tanstack/react-router";
import { addressOf } from "../features/calls/address";
import { page, shell } from "./frame";

export const callRoutes = [
  createRoute({
    getParentRoute: () => shell,
    path: "/calls",
    validateSearch: addressOf,
    component: page(() => import("../features/calls/CallsPage"), "CallsPage"),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/calls/$id",
    component: page(() => import("../features/calls/CallPage"), "CallPage"),
  }),
] as const;
