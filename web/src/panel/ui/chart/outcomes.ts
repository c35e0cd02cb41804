import type { Part } from "../rates";
import type { Series } from "./Chart";
import type { Color } from "./colors";

export const messageColors: Record<Part, Color> = {
  read: "best",
  delivered: "good",
  unconfirmed: "middle",
  waiting: "open",
  left_out: "left",
  failed: "bad",
};

/** messageSeries are the outcomes of messages. */
export function messageSeries(
  t: Record<"read" | "notRead" | "unconfirmed" | "waiting" | "left_out" | "failed", string>,
): Series<Part>[] {
  const of = (key: Part, label: string): Series<Part> => ({ key, label, color: messageColors[key] });
  return [
    of("read", t.read),
    of("delivered", t.notRead),
    of("unconfirmed", t.unconfirmed),
    of("waiting", t.waiting),
    of("left_out", t.left_out),
    of("failed", t.failed),
  ];
}
