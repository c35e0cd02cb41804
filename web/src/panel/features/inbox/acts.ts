// What a teammate asks of a conversation.
import type { Takes } from "../../api";
import type { Refusal } from "./snapshot";

export type Body<W extends string> = Takes<"post", `/conversations/${string}/${W}`>;

/** Acts are the changes of a conversation that a teammate waits for, with the bodies of their requests. */
export type Acts = { [W in "take" | "release" | "assign" | "resolve" | "reopen"]: Body<W> } & {
  tags: Takes<"put", `/conversations/${string}/tags`>;
};

/** Act asks for one of them. */
export type Act = <W extends keyof Acts>(what: W, body?: Acts[W]) => Promise<void>;

/** inTurn changes several things, a few at a time, and returns those that were changed and the first refusal. */
export async function inTurn<T>(all: T[], change: (x: T) => Promise<void>): Promise<{ done: T[]; refusal?: Refusal }> {
  const left = [...all];
  const done: T[] = [];
  let refusal: Refusal | undefined;
  const work = async () => {
    for (let x = left.shift(); x; x = left.shift()) {
      try {
        await change(x);
        done.push(x);
      } catch (e) {
        refusal ??= e as Refusal;
      }
    }
  };
  await Promise.all(Array.from({ length: 4 }, work));
  return { done, refusal };
}
