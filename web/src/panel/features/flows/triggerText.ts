import { fill } from "../../i18n";
import type { Widget } from "../widgets/types";
import type { FlowTexts } from "./texts";
import type { Trigger } from "./types";

/** triggerText says what starts a flow. */
export function triggerText(x: Trigger, t: FlowTexts, widgets: Widget[]): string {
  const all = [
    x.event && fill(t.byEvent, { event: x.event }),
    x.keywords?.length &&
      fill(t.byKeywords, { words: x.keywords.slice(0, 3).join(", ") + (x.keywords.length > 3 ? "…" : "") }),
    x.widget && fill(t.byWidget, { name: widgets.find((w) => w.id === x.widget)?.name ?? x.widget }),
    x.inbound && t.byInbound,
  ].filter(Boolean);
  return all.length ? all.join("; ") : t.byNothing;
}
