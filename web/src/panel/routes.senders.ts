// The addresses of messaging senders and of the company's settings.
import { createRoute, lazyRouteComponent, type AnyRoute } from "@tanstack/react-router";
import { withTexts } from "./i18n";

export function senderRoutes(shell: AnyRoute): AnyRoute[] {
  return [
    createRoute({
      getParentRoute: () => shell,
      path: "/senders",
      component: lazyRouteComponent(
        withTexts(() => import("./features/senders/SendersPage")),
        "SendersPage",
      ),
    }),
    createRoute({
      getParentRoute: () => shell,
      path: "/senders/new",
      component: lazyRouteComponent(
        withTexts(() => import("./features/senders/ConnectPage")),
        "ConnectPage",
      ),
    }),
    createRoute({
      getParentRoute: () => shell,
      path: "/senders/$id",
      component: lazyRouteComponent(
        withTexts(() => import("./features/senders/SenderPage")),
        "SenderPage",
      ),
    }),
    createRoute({
      getParentRoute: () => shell,
      path: "/senders/$id/connect",
      component: lazyRouteComponent(
        withTexts(() => import("./features/senders/FinishPage")),
        "FinishPage",
      ),
      validateSearch: (s: Record<string, unknown>): { step?: "check" } => (s.step === "check" ? { step: "check" } : {}),
    }),
    createRoute({
      getParentRoute: () => shell,
      path: "/settings",
      component: lazyRouteComponent(
        withTexts(() => import("./features/settings/SettingsPage")),
        "SettingsPage",
      ),
    }),
  ];
}
