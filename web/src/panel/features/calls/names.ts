import { useList } from "../../ui/resources";
import { useLines } from "../lines/useLines";

export type Names = ReturnType<typeof useNames>;

/** useNames gives agents and lines by their ids. */
export function useNames() {
  const agents = useList("agents");
  const lines = useLines(false);
  return {
    agents: agents.data ?? [],
    lines: lines.data ?? [],
    ready: !agents.isPending && !lines.isPending,
    agent: (id: string | undefined) => agents.data?.find((a) => a.id === id),
    line: (id: string | undefined) => lines.data?.find((l) => l.id === id),
  };
}
