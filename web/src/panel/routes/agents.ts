// The addresses of agents and of what they know and use.
import { createRoute } from "@tanstack/react-router";
import { page, shell } from "./frame";
import { tabOf } from "../features/agents/sections";
import { addressOf } from "../features/knowledge/address";
import { textOf } from "../next";

export const agentRoutes = [
  createRoute({
    getParentRoute: () => shell,
    path: "/agents",
    component: page(() => import("../features/agents/AgentsPage"), "AgentsPage"),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/agents/$id",
    component: page(() => import("../features/agents/AgentPage"), "AgentPage"),
    validateSearch: tabOf,
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/knowledge",
    component: page(() => import("../features/knowledge/KnowledgePage"), "KnowledgePage"),
    validateSearch: addressOf,
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/knowledge/$id",
    component: page(() => import("../features/knowledge/BasePage"), "BasePage"),
    validateSearch: (s: Record<string, unknown>): { article?: number | "new"; title?: string } => ({
      ...(s.article === "new" || Number.isInteger(s.article) ? { article: s.article as number | "new" } : {}),
      ...(textOf(s.title) && { title: textOf(s.title) }),
    }),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/tools",
    component: page(() => import("../features/tools/ToolsPage"), "ToolsPage"),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/tools/$id",
    component: page(() => import("../features/tools/ToolPage"), "ToolPage"),
  }),
] as const;
