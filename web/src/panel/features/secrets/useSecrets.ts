// The secrets of flows. Values are written, and never come back.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { del, get, post, put } from "../../api";
import { useCan, useCompany } from "../../session";

export interface Secret {
  name: string;
  hosts: string[];
  set_at: string | null;
  set_by: string;
  used_at: string | null;
  flows: { id: string; name: string }[];
}
/** Given is what is written of a secret; without a value the one that is stored stays. */
export interface Given {
  name: string;
  hosts: string[];
  value?: string;
}

/** useSecrets is all secrets, for who may see their names. */
export function useSecrets() {
  const company = useCompany();
  const can = useCan()("secrets:read");
  return useQuery({
    queryKey: [company.id, "secrets"],
    enabled: can,
    queryFn: async ({ signal }) => (await get("/secrets", {}, signal)).data,
  });
}

export function useSecretChanges() {
  const company = useCompany();
  const client = useQueryClient();
  const again = useCallback(
    () => client.invalidateQueries({ queryKey: [company.id, "secrets"] }),
    [client, company.id],
  );
  return {
    add: useCallback(
      async (x: Given) => {
        await post("/secrets", x);
        await again();
      },
      [again],
    ),
    replace: useCallback(
      async (x: Given) => {
        await put(`/secrets/${encodeURIComponent(x.name)}`, x);
        await again();
      },
      [again],
    ),
    remove: useCallback(
      async (name: string) => {
        await del(`/secrets/${encodeURIComponent(name)}`);
        await again();
      },
      [again],
    ),
  };
}
