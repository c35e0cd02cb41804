// The addresses of the overview, the usage and the suppressions.
import { createRoute, lazyRouteComponent, type AnyRoute } from "@tanstack/react-router";
import { withTexts } from "./i18n";
import { addressOf } from "./features/overview/address";

export function overviewRoutes(shell: AnyRoute): AnyRoute[] {
  return [
    createRoute({
      getParentRoute: () => shell,
      path: "/usage",
      component: lazyRouteComponent(
        withTexts(() => import("./features/usage/UsagePage")),
        "UsagePage",
      ),
    }),
    createRoute({
      getParentRoute: () => shell,
      path: "/suppressions",
      component: lazyRouteComponent(
        withTexts(() => import("./features/suppressions/SuppressionsPage")),
        "SuppressionsPage",
      ),
      validateSearch: (s: Record<string, unknown>): { number?: string } => {
        const n = String(s.number ?? "")
          .replace(/\D/g, "")
          .slice(0, 15);
        return n ? { number: n } : {};
      },
    }),
  ];
}

export { addressOf as overviewAddressOf };
