/** Address is what the address of the list says beyond the company. */
export interface Address {
  tab?: "runs";
  flow?: string;
  state?: "failed";
}

/** addressOf reads an address that anybody may have written. */
export function addressOf(s: Record<string, unknown>): Address {
  const a: Address = {};
  if (s.tab === "runs") a.tab = "runs";
  if (typeof s.flow === "string" && /^[0-9a-f-]{36}$/i.test(s.flow)) a.flow = s.flow;
  if (s.state === "failed") a.state = "failed";
  return a;
}

/** FlowAddress is what the address of one flow says: its tab, and the step that is chosen. */
export interface FlowAddress {
  tab?: "runs" | "versions";
  step?: string;
}

export function flowAddressOf(s: Record<string, unknown>): FlowAddress {
  const a: FlowAddress = {};
  if (s.tab === "runs" || s.tab === "versions") a.tab = s.tab;
  if (typeof s.step === "string" && /^steps(\.\d+(\.(then|else)(?=\.))?)+$/.test(s.step)) a.step = s.step;
  return a;
}
