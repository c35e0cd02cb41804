// What the page of a base knows about the open questions that a new article answers. It is part of the history's entry, so that it
// outlives a reload but is not in the address.
import { useRouterState } from "@tanstack/react-router";
import type { QuestionGroup } from "./types";

export interface Answering {
  questions: string[];
  wordings: string[];
}

declare module "@tanstack/history" {
  interface HistoryState {
    answering?: Answering;
  }
}

const maxQuestions = 100; // wordings of an article

/** answeringOf is what a new article takes from a group: its questions, and the wordings besides its title. */
export function answeringOf(g: QuestionGroup): Answering {
  return {
    questions: g.questions,
    wordings: g.examples
      .slice(1, maxQuestions)
      .map((q) => q.question.replace(/\s+/g, " ").trim())
      .filter((text) => text && new TextEncoder().encode(text).length <= 200),
  };
}

export function useAnswering(): Answering | undefined {
  return useRouterState({ select: (s) => s.location.state.answering });
}
