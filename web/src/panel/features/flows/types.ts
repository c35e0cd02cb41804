// What the routes of flows send and take.
import type { Schemas } from "../../api";

export type Http = Schemas["FlowHTTP"];
export type SendTemplate = Schemas["FlowSendTemplate"];
export type PlaceCall = Schemas["FlowPlaceCall"];

/** Step has one of the keys of kinds; the others belong to one of them. */
export type Step = Schemas["FlowStep"];
export type Trigger = Schemas["FlowTrigger"];
export type Flow = Pick<Schemas["FlowFlow"], "name" | "trigger" | "steps">;

export type Fault = Schemas["FlowsFlowFault"];
export type Faults = Schemas["FlowsFlowFaults"];
export type Editable = Omit<Schemas["FlowsEditable"], "flow"> & { flow: Flow };
export type FlowRow = Schemas["FlowsFlowRow"];
export type VersionRow = Schemas["FlowsFlowVersion"];
export type Version = Omit<Schemas["FlowsFlowVersion"], "flow"> & { flow?: Flow };
export type Template = Schemas["TemplatesTemplateRow"];

export type RunState = Schemas["FlowState"];
export type RunRow = Schemas["FlowsRunRow"];
export type Entry = Schemas["FlowEntry"] & { at?: string };
export type Run = Omit<Schemas["FlowsRunShown"], "definition"> & { definition: Flow | null };

/** StepProps are those of the form of a step. changeAll changes all steps, and opens the form of the one at a path. */
export interface StepProps {
  path: string;
  step: Step;
  steps: Step[];
  faults: Fault[];
  warnings: Fault[];
  change: (to: Step) => void;
  changeAll: (steps: Step[], chosen?: string) => void;
}

export interface Input {
  kind: "response" | "outcome" | "wait";
  text?: string;
  values?: Record<string, string>;
  status?: string;
  refused?: boolean;
}
export type Effect = Schemas["FlowsTriedEffect"];
export type TriedTurn = Schemas["FlowsTriedTurn"];
export type Tried = Schemas["FlowsTriedFlow"];
