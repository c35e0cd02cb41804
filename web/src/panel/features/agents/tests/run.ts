// Runs of an agent's tests.
import { useQuery } from "@tanstack/react-query";
import { located, get, Problem, problemOf, Unreachable, type Schemas } from "../../../api";
import { useCompany } from "../../../session";
import type { Agent } from "../types";
import type { Base } from "../../knowledge/types";

export type State = "passed" | "failed" | "skipped";

/** Check is an expectation of a reply; got is what came instead. */
export interface Check {
  rule: string;
  want: string;
  got?: string;
  state: State;
}
export type TestTurn = Schemas["TrialTurnResult"];
/** TestResult is that of one test; turns is missing where the run was too long to be kept whole. */
export type TestResult = Schemas["TrialResult"];
export type Suite = Schemas["AgentsTestSuite"];
export type Run = Schemas["AgentsTestRun"];
export type Tests = Schemas["AgentsTestsShown"];
export interface Sum {
  id: string;
  passed: number;
  failed: number;
  skipped: number;
  ms: number;
}
export interface Order {
  source?: string;
  agent?: Agent;
  base?: Base;
}

const path = (id: string) => `/agents/${id}/tests` as const;

/** testsKey is the key of an agent's tests among the queries. */
export const testsKey = (company: string, id: string) => [company, "agents", id, "tests"];

/** useTests is the tests of an agent and their last runs. */
export function useTests(id: string) {
  const company = useCompany();
  return useQuery({ queryKey: testsKey(company.id, id), queryFn: ({ signal }) => get(path(id), {}, signal) });
}

export const getTests = (id: string): Promise<Tests> => get(path(id));

/** keyOf returns a key that is unique among the tests of an agent. */
export const keyOf = (r: { suite: string; name: string }): string => r.suite + "\n" + r.name;

/** runTests runs tests and passes the results on as they come. */
export async function runTests(
  id: string,
  order: Order,
  signal: AbortSignal,
  progress: (results: TestResult[], cases: number) => void,
): Promise<{ results: TestResult[]; sum: Sum }> {
  const r = await fetch(located(`${path(id)}/run`), {
    method: "POST",
    headers: { "X-Carillon-Panel": "1", "Content-Type": "application/json" },
    credentials: "same-origin",
    signal,
    body: JSON.stringify(order),
  }).catch((e: unknown) => {
    throw signal.aborted ? e : new Unreachable();
  });
  if (!r.ok || !r.body) throw await problemOf(r);
  const results: TestResult[] = [];
  let cases = 0;
  let name = "";
  let rest = "";
  let sum: Sum | null = null;
  const reader = r.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done && !sum) throw new Unreachable(); // the last event is missing
    if (done) return { results, sum: sum! };
    const lines = (rest + value).split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      if (line.startsWith("event: ")) name = line.slice(7);
      if (!line.startsWith("data: ")) continue;
      const data: unknown = JSON.parse(line.slice(6));
      if (name === "begin") cases = (data as { cases: number }).cases;
      if (name === "result") results.push(data as TestResult);
      if (name === "done") sum = data as Sum;
      if (name === "failed")
        throw new Problem(503, "service_unavailable", (data as { message: string }).message, {}, "", 0);
    }
    progress([...results], cases);
  }
}
