// The results of an agent, and the one that decides about its goal.
import type { Agent, Result } from "./types";

/** withResult is the change of an agent whose result at an index changes. The deciding result decides under its new name too. */
export function withResult(a: Agent, i: number, more: Partial<Result>): Partial<Agent> {
  return withResults(
    a,
    a.result.map((r, n) => (n === i ? { ...r, ...more } : r)),
    a.result[i]!.name === a.goal_result ? more.name : undefined,
  );
}

/** withoutResult is the change of an agent whose result at an index is removed. */
export const withoutResult = (a: Agent, i: number): Partial<Agent> =>
  withResults(
    a,
    a.result.filter((_, n) => n !== i),
  );

// renamed is the new name of the deciding result. A name that no result has is taken away, because the server refuses it.
function withResults(a: Agent, result: Result[], renamed?: string): Partial<Agent> {
  if (a.goal_result === undefined || result.some((r) => r.name === a.goal_result)) return { result };
  return { result, goal_result: renamed };
}
