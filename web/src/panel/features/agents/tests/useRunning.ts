import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useCompany } from "../../../session";
import { failed } from "../../../ui/problem";
import { runTests, testsKey, type Order } from "./run";

/** Running is a run under way; null where there is none. */
export interface Running {
  now: { done: number; failed: number; cases: number } | null;
  start: (order: Order) => Promise<void>;
  stop: () => void;
}

/** useRunning runs tests, one run at a time, until the page is left. */
export function useRunning(agent: string): Running {
  const company = useCompany();
  const client = useQueryClient();
  const [now, setNow] = useState<Running["now"]>(null);
  const control = useRef<AbortController>(null);
  useEffect(() => () => control.current?.abort(), []);
  return {
    now,
    stop: () => control.current?.abort(),
    start: async (order) => {
      const mine = new AbortController();
      control.current?.abort();
      control.current = mine;
      setNow({ done: 0, failed: 0, cases: 0 });
      try {
        await runTests(agent, order, mine.signal, (results, cases) =>
          setNow({ done: results.length, failed: results.filter((r) => r.state === "failed").length, cases }),
        );
      } catch (e) {
        if (!mine.signal.aborted) failed(e);
      }
      if (control.current === mine) setNow(null);
      await client.invalidateQueries({ queryKey: testsKey(company.id, agent) });
    },
  };
}
