// Knowledge bases, their sites and the open questions, as /panel/v1 has them.
import type { Schemas } from "../../api";

export type Found = Schemas["AgentsSearched"];

/** WordsAlone is the reason why a base with an embeddings server was searched by words alone. */
export type WordsAlone = Schemas["AgentsSearchFault"];

/** Embeddings is the server with which a base is searched by meaning. */
export type Embeddings = Schemas["KnowledgeEmbeddings"];

/** VectorState is the progress of the vectors of a base. */
export type VectorState = Schemas["AgentsVectorState"];

export type OpenQuestion = Schemas["AgentsQuestionRow"];

/** QuestionGroup is open questions about one subject. */
export type QuestionGroup = Schemas["AgentsGroupRow"];

export type Article = Schemas["KnowledgeArticle"];

/** Site is a web site whose pages are articles of a base. */
export type Site = Schemas["SiteSite"];

/** SiteLook is a look at a site that found a change or a fault. */
export type SiteLook = Schemas["AgentsLookRow"];

export type SiteState = Schemas["AgentsStateRow"];

export interface SiteChange {
  kind: string;
  url: string;
  title: string;
  before: string;
  after: string;
  cut?: boolean;
}

export type Base = Schemas["KnowledgeBase"];
