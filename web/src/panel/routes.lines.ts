// The addresses of voice lines and of the sandbox's phone.
import { createRoute, lazyRouteComponent, type AnyRoute } from "@tanstack/react-router";
import { withTexts } from "./i18n";

export function lineRoutes(shell: AnyRoute): AnyRoute[] {
  return [
    createRoute({
      getParentRoute: () => shell,
      path: "/lines",
      component: lazyRouteComponent(
        withTexts(() => import("./features/lines/LinesPage")),
        "LinesPage",
      ),
    }),
    createRoute({
      getParentRoute: () => shell,
      path: "/lines/$id",
      component: lazyRouteComponent(
        withTexts(() => import("./features/lines/LinePage")),
        "LinePage",
      ),
    }),
    createRoute({
      getParentRoute: () => shell,
      path: "/sandbox",
      component: lazyRouteComponent(
        withTexts(() => import("./features/sandbox/SandboxPage")),
        "SandboxPage",
      ),
    }),
    createRoute({
      getParentRoute: () => shell,
      path: "/sandbox/messages",
      component: lazyRouteComponent(
        withTexts(() => import("./features/sandbox/MessagesPage")),
        "MessagesPage",
      ),
      validateSearch: (s: Record<string, unknown>): { sender?: string; number?: string } => ({
        ...(typeof s.sender === "string" && s.sender ? { sender: s.sender.slice(0, 100) } : {}),
        ...(/^[0-9]{7,15}$/.test(String(s.number)) ? { number: String(s.number) } : {}),
      }),
    }),
  ];
}
