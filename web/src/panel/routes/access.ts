// The addresses of keys, secrets and people.
import { createRoute } from "@tanstack/react-router";
import { page, shell } from "./frame";

export const accessRoutes = [
  createRoute({
    getParentRoute: () => shell,
    path: "/keys",
    component: page(() => import("../features/keys/KeysPage"), "KeysPage"),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/secrets",
    component: page(() => import("../features/secrets/SecretsPage"), "SecretsPage"),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/users",
    component: page(() => import("../features/users/UsersPage"), "UsersPage"),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/people",
    component: page(() => import("../features/people/PeoplePage"), "PeoplePage"),
    validateSearch: (s: Record<string, unknown>): { contact?: string } =>
      typeof s.contact === "string" ? { contact: s.contact } : {},
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/account",
    component: page(() => import("../features/account/AccountPage"), "AccountPage"),
  }),
] as const;
