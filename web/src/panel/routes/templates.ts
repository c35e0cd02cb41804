// The addresses of templates.
import { createRoute } from "@tanstack/react-router";
import { addressOf, newAddressOf } from "../features/templates/address";
import { page, shell } from "./frame";

export const templateRoutes = [
  createRoute({
    getParentRoute: () => shell,
    path: "/templates",
    validateSearch: addressOf,
    component: page(() => import("../features/templates/TemplatesPage"), "TemplatesPage"),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/templates/new",
    validateSearch: newAddressOf,
    component: page(() => import("../features/templates/EditorPage"), "NewPage"),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/templates/$id",
    component: page(() => import("../features/templates/TemplatePage"), "TemplatePage"),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/templates/$id/edit",
    component: page(() => import("../features/templates/EditorPage"), "EditPage"),
  }),
] as const;
