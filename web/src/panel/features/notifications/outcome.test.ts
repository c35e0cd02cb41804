import { expect, it } from "vitest";
import { outcomeOf, type Sendings } from "./outcome";

const cases: [Sendings, string][] = [
  [{ state: "completed", counts: { failed: 1 } }, "failed"],
  [{ state: "completed", counts: { delivered: 1 } }, "delivered"],
  [{ state: "completed", counts: { read: 1 } }, "read"],
  [{ state: "completed", counts: { sent: 1 } }, "sent"],
  [{ state: "completed", counts: { skipped: 1 } }, "skipped"],
  [{ state: "completed", counts: { no_answer: 1 } }, "no_answer"],
  [{ state: "completed", counts: { completed: 1 } }, "completed"], // a call
  [{ state: "in_progress", counts: { queued: 1 } }, "queued"],
  [{ state: "in_progress", counts: { ringing: 1 } }, "ringing"],
  [{ state: "scheduled", counts: { scheduled: 1 } }, "scheduled"],
  [{ state: "canceled", counts: { canceled: 3 } }, "canceled"],
  [{ state: "completed", counts: { failed: 3 } }, "failed"],
  [{ state: "completed", counts: { failed: 2, skipped: 1 } }, "failed"],
  [{ state: "completed", counts: { failed: 1, delivered: 9 } }, "partly_failed"],
  [{ state: "completed", counts: { busy: 1, completed: 2 } }, "partly_failed"],
  [{ state: "completed", counts: { sent: 1, delivered: 9, read: 4 } }, "sent"],
  [{ state: "completed", counts: { delivered: 9, read: 4, skipped: 1 } }, "delivered"],
  [{ state: "completed", counts: { read: 4, skipped: 1 } }, "read"],
  [{ state: "completed", counts: { skipped: 2, canceled: 1 } }, "skipped"],
  [{ state: "in_progress", counts: { queued: 5, failed: 1, read: 2 } }, "sending"],
  [{ counts: { queued: 5 }, scheduled_time: "2030-01-01T10:00:00Z" }, "scheduled"], // a campaign
  [{ counts: { queued: 1 }, scheduled_time: "2030-01-01T10:00:00Z" }, "scheduled"],
  [{ counts: { queued: 5, read: 2 } }, "sending"],
  [{ counts: { canceled: 2 } }, "canceled"],
  [{ state: "completed", counts: {} }, "completed"],
];

it.each(cases)("of %j is %s", (x, want) => {
  expect(outcomeOf(x)).toBe(want);
});

it("of failed messages is never completed", () => {
  for (const other of ["sent", "delivered", "read", "skipped", "canceled"])
    expect(outcomeOf({ state: "completed", counts: { failed: 1, [other]: 1 } })).toMatch(/failed$/);
});
