// The addresses of the panel. Each page is loaded when it is opened.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  parseSearchWith,
  redirect,
  retainSearchParams,
  stringifySearchWith,
} from "@tanstack/react-router";
import { withTexts } from "./i18n";
import { setCompany } from "./api";
import { activityRoutes } from "./routes.activity";
import { callRoutes } from "./routes.calls";
import { flowRoutes } from "./routes.flows";
import { inboxRoutes } from "./routes.inbox";
import { lineRoutes } from "./routes.lines";
import { notificationRoutes } from "./routes.notifications";
import { senderRoutes } from "./routes.senders";
import { sendRoutes } from "./routes.send";
import { templateRoutes } from "./routes.templates";
import { webhookRoutes } from "./routes.webhooks";
import { overviewAddressOf, overviewRoutes } from "./routes.overview";
import { nextOf } from "./next";
import { chosen, keep, meQuery, queries } from "./session";
import { pagesOf } from "./shell/sections";
import { Shell } from "./shell/Shell";
import { Starting } from "./shell/Starting";
import { Arriving, Crashed, Lost, Nowhere } from "./shell/states";

export const basepath = "/panel";

const root = createRootRoute({ component: Outlet, notFoundComponent: Lost, errorComponent: Crashed });

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: (s: Record<string, unknown>): { next?: string; sso?: "refused" | "stranger" | "down" | "often" } => ({
    ...(s.next === undefined ? {} : { next: nextOf(s.next) }),
    ...(s.sso === "refused" || s.sso === "stranger" || s.sso === "down" || s.sso === "often" ? { sso: s.sso } : {}),
  }),
  component: lazyRouteComponent(
    withTexts(() => import("./features/session/SignIn")),
    "SignIn",
  ),
});
const setUp = createRoute({
  getParentRoute: () => root,
  path: "/set-up",
  component: lazyRouteComponent(
    withTexts(() => import("./features/session/SetUp")),
    "SetUp",
  ),
});

const invitation = createRoute({
  getParentRoute: () => root,
  path: "/invitation",
  component: lazyRouteComponent(
    withTexts(() => import("./features/session/Invitation")),
    "Invitation",
  ),
});
const forgotten = createRoute({
  getParentRoute: () => root,
  path: "/forgotten",
  component: lazyRouteComponent(
    withTexts(() => import("./features/session/Forgotten")),
    "Forgotten",
  ),
});

/** shell is the frame of all pages for who is signed in. The company stands in the address when there are several. */
export const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  component: Shell,
  errorComponent: Crashed,
  notFoundComponent: Lost,
  pendingComponent: Starting,
  pendingMs: 0,
  pendingMinMs: 0,
  validateSearch: (s: Record<string, unknown>): { company?: string } =>
    typeof s.company === "string" ? { company: s.company } : {},
  search: { middlewares: [retainSearchParams(["company"])] },
  beforeLoad: async ({ search, location }) => {
    const me = await queries.ensureQueryData(meQuery);
    if (!me)
      throw redirect({
        to: "/sign-in",
        search: location.href === "/" ? {} : { next: nextOf(location.href) },
        replace: true,
      });
    const company = chosen(me, search.company);
    if (!company) throw new Nowhere();
    if (me.companies.length > 1 && search.company !== company.id) {
      throw redirect({ to: location.pathname, search: { ...location.search, company: company.id }, replace: true });
    }
    setCompany(company.id);
    keep(company.id);
    return { me, company };
  },
});

const home = createRoute({
  getParentRoute: () => shell,
  path: "/",
  validateSearch: overviewAddressOf,
  component: lazyRouteComponent(
    withTexts(() => import("./features/overview/OverviewPage")),
    "OverviewPage",
  ),
  beforeLoad: ({ context }) => {
    if (!context.company.suspended && context.company.permissions.includes("notifications:read")) return;
    const can = (p: string) => !context.company.suspended && context.company.permissions.some((x) => x === p);
    const first = pagesOf(can).find((p) => p.to !== "/");
    throw redirect({ to: first?.to ?? "/account", replace: true });
  },
});
const keys = createRoute({
  getParentRoute: () => shell,
  path: "/keys",
  component: lazyRouteComponent(
    withTexts(() => import("./features/keys/KeysPage")),
    "KeysPage",
  ),
});
const people = createRoute({
  getParentRoute: () => shell,
  path: "/people",
  component: lazyRouteComponent(
    withTexts(() => import("./features/people/PeoplePage")),
    "PeoplePage",
  ),
});
const secrets = createRoute({
  getParentRoute: () => shell,
  path: "/secrets",
  component: lazyRouteComponent(
    withTexts(() => import("./features/secrets/SecretsPage")),
    "SecretsPage",
  ),
});
const users = createRoute({
  getParentRoute: () => shell,
  path: "/users",
  component: lazyRouteComponent(
    withTexts(() => import("./features/users/UsersPage")),
    "UsersPage",
  ),
});
const account = createRoute({
  getParentRoute: () => shell,
  path: "/account",
  component: lazyRouteComponent(
    withTexts(() => import("./features/account/AccountPage")),
    "AccountPage",
  ),
});
const widgets = createRoute({
  getParentRoute: () => shell,
  path: "/widgets",
  component: lazyRouteComponent(
    withTexts(() => import("./features/widgets/WidgetsPage")),
    "WidgetsPage",
  ),
});
const widget = createRoute({
  getParentRoute: () => shell,
  path: "/widgets/$id",
  component: lazyRouteComponent(
    withTexts(() => import("./features/widgets/WidgetPage")),
    "WidgetPage",
  ),
});
const agents = createRoute({
  getParentRoute: () => shell,
  path: "/agents",
  component: lazyRouteComponent(
    withTexts(() => import("./features/agents/AgentsPage")),
    "AgentsPage",
  ),
});
const agent = createRoute({
  getParentRoute: () => shell,
  path: "/agents/$id",
  component: lazyRouteComponent(
    withTexts(() => import("./features/agents/AgentPage")),
    "AgentPage",
  ),
  validateSearch: (s: Record<string, unknown>): { tab?: "tests" } => (s.tab === "tests" ? { tab: "tests" } : {}),
});
const knowledge = createRoute({
  getParentRoute: () => shell,
  path: "/knowledge",
  component: lazyRouteComponent(
    withTexts(() => import("./features/knowledge/KnowledgePage")),
    "KnowledgePage",
  ),
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
});
const base = createRoute({
  getParentRoute: () => shell,
  path: "/knowledge/$id",
  component: lazyRouteComponent(
    withTexts(() => import("./features/knowledge/BasePage")),
    "BasePage",
  ),
  validateSearch: (s: Record<string, unknown>): { article?: number | "new"; title?: string } => ({
    ...(s.article === "new" || Number.isInteger(s.article) ? { article: s.article as number | "new" } : {}),
    ...(s.title === undefined ? {} : { title: String(s.title) }),
  }),
});
const tools = createRoute({
  getParentRoute: () => shell,
  path: "/tools",
  component: lazyRouteComponent(
    withTexts(() => import("./features/tools/ToolsPage")),
    "ToolsPage",
  ),
});
const tool = createRoute({
  getParentRoute: () => shell,
  path: "/tools/$id",
  component: lazyRouteComponent(
    withTexts(() => import("./features/tools/ToolPage")),
    "ToolPage",
  ),
});
const lost = createRoute({ getParentRoute: () => shell, path: "$", component: Lost });

/** exact reads a value of an address. A number that JavaScript would round, such as an id, stays the text that it is. */
function exact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (typeof value === "number" && String(value) !== text) throw new RangeError(text);
  return value;
}

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    setUp,
    invitation,
    forgotten,
    shell.addChildren([
      home,
      keys,
      people,
      secrets,
      users,
      account,
      agents,
      agent,
      knowledge,
      base,
      tools,
      tool,
      widgets,
      widget,
      lost,
      ...activityRoutes(shell),
      ...inboxRoutes(shell),
      ...lineRoutes(shell),
      ...callRoutes(shell),
      ...flowRoutes(shell),
      ...sendRoutes(shell),
      ...senderRoutes(shell),
      ...notificationRoutes(shell),
      ...templateRoutes(shell),
      ...overviewRoutes(shell),
      ...webhookRoutes(shell),
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
