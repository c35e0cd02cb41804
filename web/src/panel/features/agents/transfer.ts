import type { Agent } from "./types";

export type Transfer = NonNullable<Agent["transfer"]>;

export const maxNumbers = 5;

/** queueByDefault is the queue of an agent whose callers begin to wait. */
export const queueByDefault = { max_waiting: 10, max_wait_s: 300 };

/** dialed are the numbers of a transfer, in the order in which they are called. */
export function dialed(t: Transfer | undefined): string[] {
  return t?.numbers ?? (t?.number ? [t.number] : []);
}

/** withNumbers is a transfer to other numbers; without any, calls are not transferred. */
export function withNumbers(t: Transfer | undefined, numbers: string[]): Transfer | undefined {
  const { number: _, numbers: __, ...rest } = t ?? {};
  if (numbers.length === 0) return undefined;
  return numbers.length === 1 ? { ...rest, number: numbers[0] } : { ...rest, numbers };
}
