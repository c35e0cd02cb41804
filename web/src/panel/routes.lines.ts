// The addresses of voice lines and of the sandbox's phone.
import { createRoute, lazyRouteComponent, type AnyRoute } from "@tanstack/react-router";

export function lineRoutes(shell: AnyRoute): AnyRoute[] {
  return [
    createRoute({ getParentRoute: () => shell, path: "/lines", component: lazyRouteComponent(() => import("./features/lines/LinesPage"), "LinesPage") }),
    createRoute({ getParentRoute: () => shell, path: "/lines/$id", component: lazyRouteComponent(() => import("./features/lines/LinePage"), "LinePage") }),
    createRoute({ getParentRoute: () => shell, path: "/sandbox", component: lazyRouteComponent(() => import("./features/sandbox/SandboxPage"), "SandboxPage") }),
  ];
}
