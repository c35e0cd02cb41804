// The frame of all addresses: the root, and the shell of those who are signed in.
import {
  createRootRoute,
  createRoute,
  lazyRouteComponent,
  Outlet,
  redirect,
  retainSearchParams,
} from "@tanstack/react-router";
import { setCompany } from "../api";
import { withTexts } from "../i18n";
import { nextOf } from "../next";
import { chosen, keep, meQuery, queries } from "../session";
import { Shell } from "../shell/Shell";
import { Starting } from "../shell/Starting";
import { Crashed, Lost, Nowhere } from "../shell/states";

/** page is a component that is loaded, with its texts, when its address is opened. */
export function page<M extends Record<string, unknown>, N extends keyof M & string>(part: () => Promise<M>, name: N) {
  return lazyRouteComponent(withTexts(part), name);
}

export const root = createRootRoute({ component: Outlet, notFoundComponent: Lost, errorComponent: Crashed });

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
