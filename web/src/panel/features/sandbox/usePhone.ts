import { useQuery, useQueryClient } from "@tanstack/react-query";
import { get, post } from "../../api";
import { useCompany } from "../../session";

export interface Asked {
  sender: string;
  agent_id: string;
  suffix: string;
  first_name: string;
}

/** usePhone is what the sandbox's phone of this node got. It is asked often while a call is under way. */
export function usePhone() {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "sandbox"],
    queryFn: ({ signal }) => get("/sandbox/calls", {}, signal),
    refetchInterval: (q) => (q.state.data?.data.some((c) => !c.ended_at) ? 700 : 3000),
  });
}

/** useCalling has an agent call the phone. */
export function useCalling() {
  const company = useCompany();
  const client = useQueryClient();
  return async (asked: Asked) => {
    const made = await post("/sandbox/calls", asked);
    void client.invalidateQueries({ queryKey: [company.id, "sandbox"] });
    return made;
  };
}
