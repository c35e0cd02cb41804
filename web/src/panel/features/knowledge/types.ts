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
  /** similarity is that of the meanings, from -1 to 1. */
  similarity?: number;
}

/** WordsAlone is the reason why a base with an embeddings server was searched by words alone. */
export interface WordsAlone {
  fault: string;
  detail: string;
  base?: string;
}

/** Embeddings is the server with which a base is searched by meaning. */
export interface Embeddings {
  base_url: string;
  model: string;
  question_prefix?: string;
  passage_prefix?: string;
}

/** VectorState is the progress of the vectors of a base. */
export interface VectorState {
  server: Embeddings | null;
  made: number;
  total: number;
  dimensions: number;
  making: boolean;
  made_at: string | null;
  due_at: string | null;
  fault: string;
  detail: string;
  fault_at: string | null;
  searching: WordsAlone | null;
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
