// The addresses of the panel. Each page is loaded when it is opened.
import { createRoute, createRouter, parseSearchWith, stringifySearchWith } from "@tanstack/react-router";
import { basepath } from "./next";
import { accessRoutes } from "./routes/access";
import { activityRoutes } from "./routes/activity";
import { agentRoutes } from "./routes/agents";
import { callRoutes } from "./routes/calls";
import { flowRoutes } from "./routes/flows";
import { inboxRoutes } from "./routes/inbox";
import { lineRoutes } from "./routes/lines";
import { notificationRoutes } from "./routes/notifications";
import { overviewRoutes } from "./routes/overview";
import { sendRoutes } from "./routes/send";
import { senderRoutes } from "./routes/senders";
import { templateRoutes } from "./routes/templates";
import { webhookRoutes } from "./routes/webhooks";
import { widgetRoutes } from "./routes/widgets";
import { root, shell } from "./routes/frame";
import { sessionRoutes } from "./routes/session";
import { Arriving, Crashed, Lost } from "./shell/states";

const lost = createRoute({ getParentRoute: () => shell, path: "$", component: Lost });

/** exact reads a value of an address. A number that JavaScript would round, such as an id, stays the text that it is. */
function exact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (typeof value === "number" && String(value) !== text) throw new RangeError(text);
  return value;
}

export const router = createRouter({
  routeTree: root.addChildren([
    ...sessionRoutes,
    shell.addChildren([
      ...accessRoutes,
      ...activityRoutes,
      ...agentRoutes,
      ...callRoutes,
      ...flowRoutes,
      ...inboxRoutes,
      ...lineRoutes,
      ...notificationRoutes,
      ...overviewRoutes,
      ...sendRoutes,
      ...senderRoutes,
      ...templateRoutes,
      ...webhookRoutes,
      ...widgetRoutes,
      lost,
    ]),
  ]),
  parseSearch: parseSearchWith(exact),
  stringifySearch: stringifySearchWith(JSON.stringify, exact),
  basepath,
  defaultPreload: "intent",
  defaultPreloadDelay: 80,
  scrollRestoration: true,
  defaultErrorComponent: Crashed,
  defaultPendingComponent: Arriving,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
