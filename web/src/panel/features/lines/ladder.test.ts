import { expect, test } from "vitest";
import { meaning } from "./Ladder";
import { found } from "./Verdict";
import { testTexts } from "./texts";
import type { TestEnd } from "./types";

const ours = (text: string) => ({ after_ms: 0, ours: true, code: 0, text });
const theirs = (code: number, text = String(code)) => ({ after_ms: 0, ours: false, code, text });

test("messages are put into words by what went before", () => {
  const steps = [
    ours("INVITE sip:1@host over UDP"),
    theirs(407),
    ours("INVITE sip:1@host over UDP"),
    theirs(100),
    theirs(183),
    theirs(180),
    theirs(200),
    ours("ACK"),
    ours("BYE"),
    theirs(200),
  ];
  expect(steps.map((s, i) => meaning(s, steps.slice(0, i)))).toEqual([
    "invite",
    "s401",
    "inviteAgain",
    "s100",
    "s183",
    "s180",
    "s200",
    "ack",
    "bye",
    "s200bye",
  ]);
  expect([302, 403, 404, 480, 486, 487, 488, 503, 603, 606, 699, 0].map((c) => meaning(theirs(c), []))).toEqual([
    "s3xx",
    "s403",
    "s404",
    "s408",
    "s486",
    "s487",
    "s488",
    "s5xx",
    "s603",
    "s488",
    "sother",
    "sbye",
  ]);
});

test("whatever a test call finds out is said, and what to do about it", () => {
  const end = (problem: string): TestEnd => ({
    problem,
    code: 0,
    detail: "",
    answered: false,
    talked_ms: 0,
    packets: 0,
    loud: false,
  });
  for (const p of [
    "",
    "unreachable",
    "denied",
    "encryption",
    "password",
    "forbidden",
    "number",
    "sound",
    "silent",
    "cut",
    "busy",
    "unanswered",
    "declined",
    "fault",
    "refused",
    "canceled",
    "settings",
    "new",
  ]) {
    const f = found(end(p));
    for (const key of [f.title, f.text ?? f.title]) expect(testTexts.now[key], p).toBeTruthy();
  }
  expect(found(end("busy")).tone).toBe("ok");
  expect(found(end("new")).title).toBe("refused");
});
