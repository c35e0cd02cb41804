// Tools that agents call at servers of the company.
import type { Schemas } from "../../api";

/** Localized is a text in several languages, by language. */
export type Localized = Record<string, string>;

export type Parameter = Schemas["AgentParameter"];

export type HTTP = Schemas["ToolsHTTP"];

/** Approved is a tool of an MCP server as somebody approved it. */
export type Approved = Schemas["ToolsApproved"];

export type Listed = Schemas["ToolsListed"];

export type Tool = Schemas["ToolsTool"];

/** Tried is the result of a trial. */
export type Tried = Schemas["AgentsTried"];
