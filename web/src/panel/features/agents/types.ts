// Agents, and what they answer, as /panel/v1 has them.
import type { Schemas } from "../../api";
export type Agent = Schemas["AgentAgent"];

/** Topic is what a conversation may be about. */
export type Topic = Schemas["AgentTopic"];

/** Result is something that a conversation is to find out. */
export type Result = Schemas["AgentResult"];

export type Service = Schemas["AgentService"];

export type Voice = Schemas["AgentVoice"];

/** ClientTool is something that the page of a voice widget does for the agent. A string as its parameters is what is no JSON yet. */
export type ClientTool = Omit<Schemas["AgentClientTool"], "parameters"> & {
  parameters?: Record<string, unknown> | string;
};

export type Outcome = Schemas["ChatsOutcome"];

/** Passage is what an answer is based on. */
export type Passage = Schemas["ChatsPassage"];

export type Played = Schemas["AgentsPlayResponse"];

/** ToolUse is a call of a tool by an agent. */
export type ToolUse = Schemas["ChatsUse"];

/** Address is what a talk is opened with. */
export type TalkAddress = Schemas["WidgetSigned"];
