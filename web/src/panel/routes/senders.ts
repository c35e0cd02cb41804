// The addresses of messaging senders and of the company's settings.
import { createRoute } from "@tanstack/react-router";
import { page, shell } from "./frame";

export const senderRoutes = [
  createRoute({
    getParentRoute: () => shell,
    path: "/senders",
    component: page(() => import("../features/senders/SendersPage"), "SendersPage"),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/senders/new",
    component: page(() => import("../features/senders/ConnectPage"), "ConnectPage"),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/senders/sign-up",
    component: page(() => import("../features/senders/SignUpPage"), "SignUpPage"),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/senders/$id",
    component: page(() => import("../features/senders/SenderPage"), "SenderPage"),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/senders/$id/connect",
    component: page(() => import("../features/senders/FinishPage"), "FinishPage"),
    validateSearch: (s: Record<string, unknown>): { step?: "access" | "check" } =>
      s.step === "access" || s.step === "check" ? { step: s.step } : {},
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/settings",
    component: page(() => import("../features/settings/SettingsPage"), "SettingsPage"),
  }),
] as const;
