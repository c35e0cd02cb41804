// Who is signed in, and what they may do in the company that the address names.
import { QueryClient, queryOptions, useQuery } from "@tanstack/react-query";
import { useRouteContext } from "@tanstack/react-router";
import { get, Problem, Unreachable } from "./api";
import type { Company, Me } from "./features/session/types";

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      refetchOnWindowFocus: true,
      networkMode: "always", // without a network a query fails, and the page says so, instead of waiting in silence
      refetchOnReconnect: "always",
      retry: (n, e) =>
        n < 2 && navigator.onLine && (e instanceof Unreachable || (e instanceof Problem && e.status >= 500)),
    },
    mutations: { retry: false, networkMode: "always" },
  },
});

/** meQuery is the session; null where nobody is signed in. */
export const meQuery = queryOptions({
  queryKey: ["me"],
  staleTime: 60_000,
  queryFn: async ({ signal }): Promise<Me | null> => {
    try {
      return await get("/session", {}, signal);
    } catch (e) {
      if (e instanceof Problem && e.status === 401) return null;
      throw e;
    }
  },
});

/** useMe is who is signed in, on the pages of the shell. */
export function useMe(): Me {
  const { me } = useRouteContext({ from: "/shell" });
  return useQuery(meQuery).data ?? me;
}

/** useCompany is the company that the pages are about. */
export function useCompany(): Company {
  const { company } = useRouteContext({ from: "/shell" });
  return useMe().companies.find((c) => c.id === company.id) ?? company;
}

/** useCan reports what the role allows. */
export function useCan(): (permission: string) => boolean {
  const company = useCompany();
  return (permission) => !company.suspended && !company.moving && company.permissions.some((p) => p === permission);
}

const kept = "carillon.company";

/** chosen is the company to begin with: the one asked for, else the last one, else the first that is in use. */
export function chosen(me: Me, wanted: string | undefined): Company | undefined {
  let last: string | null = null;
  try {
    last = localStorage.getItem(kept);
  } catch {
    /* no storage */
  }
  return (
    me.companies.find((c) => c.id === wanted) ??
    me.companies.find((c) => c.id === last && !c.suspended && !c.moving) ??
    me.companies.find((c) => !c.suspended && !c.moving) ??
    me.companies[0]
  );
}

/** keep remembers the company for the next visit. */
export function keep(id: string): void {
  try {
    localStorage.setItem(kept, id);
  } catch {
    /* no storage */
  }
}

const windows = "BroadcastChannel" in globalThis ? new BroadcastChannel("carillon.session") : undefined;

/** endElsewhere ends the session in the panel's other windows. */
export function endElsewhere(): void {
  windows?.postMessage("over");
}

/** onOtherWindow is called when another window says that the session is over. */
export function onOtherWindow(f: () => void): void {
  windows?.addEventListener("message", f);
}
