// The page in a window of its own, which the frame has opened: it asks the frame what it is, as the frame asks its page.
import type { Customer, Widget } from "./host";

/** Opener is what the frame gives its window. */
export interface Opener {
  facts: () => { widget: Widget; customer: Customer };
  tool: (name: string, parameters: Record<string, unknown>) => Promise<unknown>;
}

let child: Window | null = null;

/** open opens the window, and answers it for as long as this page lives. It says whether the browser let it. */
export function open(widget: string, opener: Opener): boolean {
  if (!child) addEventListener("message", (e) => receive(e, opener));
  child = window.open("/?vw_id=" + widget, "carillon-" + widget, "popup,width=420,height=720") ?? child;
  return !!child && !child.closed;
}

function receive(e: MessageEvent, { facts, tool }: Opener): void {
  if (e.source !== child || e.origin !== location.origin) return;
  const { type, id, name, parameters } = (e.data ?? {}) as Record<string, unknown>;
  const post = (more: object) => child!.postMessage({ type, ...more }, location.origin);
  const { widget, customer } = facts();
  if (type === "get_widget") post({ widgetData: { ...widget, chat: false } });
  if (type === "get_customer") post({ customer: { ...customer, hears: false } });
  if (type === "tool")
    tool(String(name), (parameters ?? {}) as Record<string, unknown>).then(
      (result) => post({ id, result }),
      (failed) => post({ id, failed: String(failed) }),
    );
}
