// The addresses before and outside a session.
import { createRoute } from "@tanstack/react-router";
import { nextOf } from "../next";
import { page, root } from "./frame";

export const sessionRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: "/sign-in",
    validateSearch: (
      s: Record<string, unknown>,
    ): { next?: string; sso?: "refused" | "stranger" | "down" | "often" } => ({
      ...(s.next === undefined ? {} : { next: nextOf(s.next) }),
      ...(s.sso === "refused" || s.sso === "stranger" || s.sso === "down" || s.sso === "often" ? { sso: s.sso } : {}),
    }),
    component: page(() => import("../features/session/SignIn"), "SignIn"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/set-up",
    component: page(() => import("../features/session/SetUp"), "SetUp"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/invitation",
    component: page(() => import("../features/session/Invitation"), "Invitation"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/forgotten",
    component: page(() => import("../features/session/Forgotten"), "Forgotten"),
  }),
] as const;
