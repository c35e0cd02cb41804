// The addresses of the overview, usage and suppressions.
import { createRoute, redirect } from "@tanstack/react-router";
import { addressOf } from "../features/overview/address";
import { pagesOf } from "../shell/sections";
import { page, shell } from "./frame";
import { textOf } from "../next";

export const overviewRoutes = [
  createRoute({
    getParentRoute: () => shell,
    path: "/",
    validateSearch: addressOf,
    component: page(() => import("../features/overview/OverviewPage"), "OverviewPage"),
    beforeLoad: ({ context }) => {
      if (!context.company.suspended && context.company.permissions.includes("notifications:read")) return;
      const can = (p: string) => !context.company.suspended && context.company.permissions.some((x) => x === p);
      const first = pagesOf(can).find((p) => p.to !== "/");
      throw redirect({ to: first?.to ?? "/account", replace: true });
    },
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/usage",
    component: page(() => import("../features/usage/UsagePage"), "UsagePage"),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/suppressions",
    component: page(() => import("../features/suppressions/SuppressionsPage"), "SuppressionsPage"),
    validateSearch: (s: Record<string, unknown>): { number?: string } => {
      const n = textOf(s.number)?.replace(/\D/g, "").slice(0, 15);
      return n ? { number: n } : {};
    },
  }),
] as const;
