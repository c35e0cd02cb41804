// The addresses of the inbox. Without any, the navigation does not show it.
import type { AnyRoute } from "@tanstack/react-router";

export function inboxRoutes(_shell: AnyRoute): AnyRoute[] { return []; }
