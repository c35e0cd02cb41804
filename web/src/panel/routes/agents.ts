// The addresses of agents and of what they know and use.
import { createRoute } from "@tanstack/react-router";
import { page, shell } from "./frame";

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
    validateSearch: (s: Record<string, unknown>): { tab?: "tests" } => (s.tab === "tests" ? { tab: "tests" } : {}),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/knowledge",
    component: page(() => import("../features/knowledge/KnowledgePage"), "KnowledgePage"),
    validateSearch: (
      s: Record<string, unknown>,
    ): { tab?: string; q?: string; range?: string; from?: string; to?: string; agent?: string; view?: "reviews" } => ({
      ...(s.tab === "search" || s.tab === "questions" || s.tab === "answers" ? { tab: s.tab } : {}),
      ...(s.view === "reviews" ? { view: s.view } : {}),
      ...(s.range === undefined ? {} : { range: String(s.range) }),
      ...(s.from === undefined ? {} : { from: String(s.from) }),
      ...(s.to === undefined ? {} : { to: String(s.to) }),
      ...(typeof s.agent === "string" && s.agent ? { agent: s.agent } : {}),
      ...(s.q === undefined || s.q === "" ? {} : { q: String(s.q) }),
    }),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/knowledge/$id",
    component: page(() => import("../features/knowledge/BasePage"), "BasePage"),
    validateSearch: (s: Record<string, unknown>): { article?: number | "new"; title?: string } => ({
      ...(s.article === "new" || Number.isInteger(s.article) ? { article: s.article as number | "new" } : {}),
      ...(s.title === undefined ? {} : { title: String(s.title) }),
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
