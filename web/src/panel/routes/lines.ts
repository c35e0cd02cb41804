// The addresses of voice lines and of the sandbox's phone.
import { createRoute } from "@tanstack/react-router";
import { page, shell } from "./frame";

export const lineRoutes = [
  createRoute({
    getParentRoute: () => shell,
    path: "/lines",
    component: page(() => import("../features/lines/LinesPage"), "LinesPage"),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/lines/$id",
    component: page(() => import("../features/lines/LinePage"), "LinePage"),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/sandbox",
    component: page(() => import("../features/sandbox/SandboxPage"), "SandboxPage"),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/sandbox/messages",
    component: page(() => import("../features/sandbox/MessagesPage"), "MessagesPage"),
    validateSearch: (s: Record<string, unknown>): { sender?: string; number?: string } => ({
      ...(typeof s.sender === "string" && s.sender ? { sender: s.sender.slice(0, 100) } : {}),
      ...(/^[0-9]{7,15}$/.test(String(s.number)) ? { number: String(s.number) } : {}),
    }),
  }),
] as const;
