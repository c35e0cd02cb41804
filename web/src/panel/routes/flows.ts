// The addresses of flows and of their runs.
import { createRoute } from "@tanstack/react-router";
import { addressOf, flowAddressOf } from "../features/flows/address";
import { page, shell } from "./frame";

export const flowRoutes = [
  createRoute({
    getParentRoute: () => shell,
    path: "/flows",
    validateSearch: addressOf,
    component: page(() => import("../features/flows/FlowsPage"), "FlowsPage"),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/flows/$id",
    validateSearch: flowAddressOf,
    component: page(() => import("../features/flows/FlowPage"), "FlowPage"),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/flows/runs/$id",
    component: page(() => import("../features/flows/RunPage"), "RunPage"),
  }),
] as const;
