// The page in a window of its own, which the frame has opened: it asks the frame what it is, as the frame asks its page.
import type { Customer, Widget } from "./host";

/** open opens the window; null: the browser did not let it. */
export function open(widget: string): Window | null {
  return window.open("/?vw_id=" + widget, "carillon-" + widget, "popup,width=420,height=720");
}

/** answer answers the window for as long as this page lives. */
export function answer(
  child: Window,
  facts: () => { widget: Widget; customer: Customer },
  tool: (name: string, parameters: Record<string, unknown>) => Promise<unknown>,
): void {
  addEventListener("message", (e) => {
    if (e.source !== child || e.origin !== location.origin) return;
    const { type, id, name, parameters } = (e.data ?? {}) as Record<string, unknown>;
    const post = (more: object) => child.postMessage({ type, ...more }, location.origin);
    const { widget, customer } = facts();
    if (type === "get_widget") post({ widgetData: { ...widget, chat: false } });
    if (type === "get_customer") post({ customer: { ...customer, hears: false } });
    if (type === "tool")
      tool(String(name), (parameters ?? {}) as Record<string, unknown>).then(
        (result) => post({ id, result }),
        (failed) => post({ id, failed: String(failed) }),
      );
  });
}
