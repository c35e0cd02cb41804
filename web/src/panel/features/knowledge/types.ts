// Knowledge bases, their sites and the open questions, as /panel/v1 has them.
import type { Passage } from "../agents/types";

export interface Found {
  knowledge: string;
  title: string;
  text: string;
  url: string;
  score: number;
  answers: boolean;
  offered: boolean;
}

export interface OpenQuestion {
  id: string;
  agent_id: string;
  agent_name: string;
  question: string;
  language: string;
  count: number;
  offered?: number;
  wrong?: number;
  answer?: Passage;
  first_at: string;
  last_at: string;
  conversation_id: string;
}

/** QuestionGroup is open questions about one subject. */
export interface QuestionGroup {
  id: string;
  questions: string[];
  examples: OpenQuestion[];
  languages: string[];
  agents: string[];
  count: number;
  offered: number;
  wrong: number;
  last_at: string;
  knowledge: string[];
  nearest?: {
    knowledge: string;
    article: number;
    title: string;
    passage: string;
    confidence: number;
    answers: boolean;
  };
}

export interface Article {
  title: string;
  text: string;
  url: string;
  language?: string;
  questions?: string[];
  /** file and site are the name of the file, and the id of the site, from which it came. */
  file?: string;
  site?: string;
}

/** Site is a web site whose pages are articles of a base. */
export interface Site {
  id: string;
  name: string;
  knowledge: string;
  address: string;
  include: string[];
  exclude: string[];
  max_pages: number;
  warning?: string;
}

/** SiteLook is a look at a site that found a change or a fault. */
export interface SiteLook {
  id: string;
  at: string;
  pages: number;
  added: number;
  changed: number;
  removed: number;
  kept: number;
  fault: string;
  detail: string;
}

export interface SiteState {
  reading: boolean;
  done: number;
  found: number;
  looked_at: string | null;
  read_at: string | null;
  due_at: string;
  fault: string;
  detail: string;
  looks: SiteLook[];
}

export interface SiteChange {
  kind: string;
  url: string;
  title: string;
  before: string;
  after: string;
  cut?: boolean;
}

export interface Base {
  id: string;
  articles: Article[];
  synonyms?: string[];
  warning?: string;
  [more: string]: unknown;
}
