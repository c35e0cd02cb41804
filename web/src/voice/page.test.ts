import { describe, expect, it, vi } from "vitest";
import { contrast } from "../shared/colour";
import { Aloud } from "./aloud";
import { Refused } from "./api";
import { Captions } from "./captions";
import { lookOf } from "./look";
import { empty, reduce, unsent, type Change, type Model, type ServerTurn } from "./model";
import { duration, en, languages, textsFor } from "./texts";
import { failureOf } from "./voice";

const after = (...changes: Change[]): Model =>
  changes.reduce(reduce, reduce(empty, { do: "begin", speaking: true, sound: true, at: 0 }));
const said = (m: Model) => m.lines.map((l) => `${l.author}: ${l.text}`);
const response = (id: number, text: string, whole = true): Change => ({ do: "response", id, text, whole, at: 0 });
const turn = (seq: number, author: string, text: string, more: Partial<ServerTurn> = {}): ServerTurn => ({
  seq,
  author,
  kind: "text",
  text,
  ...more,
});

describe("what is said", () => {
  it("grows while it comes, is shown as it is spoken, and is whole at the end", () => {
    let m = after(response(1, "Good ", false), response(1, "Good day to you"), {
      do: "shown",
      id: 1,
      shown: 5,
      done: false,
    });
    expect(m.lines).toMatchObject([{ text: "Good day to you", shown: 5, done: false }]);
    m = reduce(m, { do: "shown", id: 1, shown: 3, done: false });
    expect(m.lines[0]!.shown).toBe(5);
    m = reduce(m, { do: "shown", id: 1, shown: 0, done: true });
    expect(m.lines).toMatchObject([{ shown: 15, done: true }]);
  });

  it("ends where it was cut off, and then says what was heard of it", () => {
    let m = after(
      response(1, "Good day to you"),
      { do: "shown", id: 1, shown: 8, done: false },
      { do: "interrupted", id: 1 },
    );
    expect(m.lines).toMatchObject([{ shown: 8, cut: true, done: true }]);
    m = reduce(m, { do: "corrected", id: 1, text: "Good day to" });
    m = reduce(m, response(1, "Good day to you")); // too late
    expect(said(m)).toEqual(["agent: Good day to"]);
  });

  it("goes on where it was cut off when that was only noise", () => {
    const m = after(
      response(1, "Good day to you"),
      { do: "shown", id: 1, shown: 8, done: false },
      { do: "interrupted", id: 1 },
      { do: "resumed", id: 2 },
      { do: "shown", id: 2, shown: 11, done: false },
    );
    expect(m.lines).toMatchObject([{ id: 2, text: "Good day to you", shown: 11, cut: false, done: false, from: 8 }]);
    expect(said(reduce(m, { do: "corrected", id: 2, text: "Good day to" }))).toEqual(["agent: Good day to"]);
  });

  it("leaves nothing half shown when the next response begins", () => {
    const m = after(response(1, "One two"), response(2, "Three"));
    expect(m.lines.map((l) => l.done)).toEqual([true, false]);
  });

  it("takes away the choices when one answers, whichever way", () => {
    const choices: Change = { do: "choices", choices: ["a", "b"] };
    expect(after(choices).choices).toEqual(["a", "b"]);
    expect(after(choices, { do: "typed", text: "a" }).choices).toEqual([]);
    expect(after(choices, { do: "heard", text: "a", final: true }).choices).toEqual([]);
    expect(after(choices, { do: "heard", text: "a", final: false })).toMatchObject({
      choices: ["a", "b"],
      tentative: "a",
    });
  });

  it("is there once, when the server says what was typed here", () => {
    const m = after(
      { do: "typed", text: "hello" },
      { do: "turn", seq: 3, author: "visitor", text: "hello" },
      { do: "turn", seq: 3, author: "visitor", text: "hello" },
      { do: "turn", seq: 4, author: "teammate", name: "Ana", text: "hello" },
    );
    expect(said(m)).toEqual(["visitor: hello", "teammate: hello"]);
    expect(unsent(m)).toEqual([]);
  });

  it("is the server's after a reconnection, with what it does not have to be sent again", () => {
    const m = after(
      { do: "heard", text: "heard before", final: true },
      response(1, "half an ans", false),
      { do: "typed", text: "typed, and there" },
      { do: "typed", text: "typed, and lost" },
      {
        do: "reload",
        state: "bot",
        turns: [
          turn(1, "visitor", "heard before"),
          turn(2, "agent", "the whole answer"),
          turn(3, "visitor", "typed, and there"),
          turn(4, "system", "", { kind: "event" }),
          turn(5, "agent", "Which?", { choices: ["a"] }),
        ],
      },
    );
    expect(said(m)).toEqual([
      "visitor: heard before",
      "agent: the whole answer",
      "visitor: typed, and there",
      "agent: Which?",
      "visitor: typed, and lost",
    ]);
    expect(unsent(m)).toEqual(["typed, and lost"]);
    expect(m.choices).toEqual([]);
  });

  it("says how it ended and how long it took, and forgets it for the next", () => {
    let m = after({ do: "conversation", id: "c" }, response(1, "Goodbye"), { do: "ended", left: true, at: 61_400 });
    expect(m).toMatchObject({ screen: "ended", conversation: "c", seconds: 61, left: true });
    expect(duration(m.seconds)).toBe("1:01");
    m = reduce(reduce(m, { do: "again" }), { do: "begin", speaking: true, sound: false, at: 0 });
    expect(m).toMatchObject({ screen: "talk", conversation: "", lines: [], sound: false });
  });
});

describe("captions", () => {
  it("keep step with the voice by whole words, and learn its pace", () => {
    const c = new Captions();
    const text = "The parcel leaves tomorrow at nine in the morning";
    expect(c.spoken(text, 0)).toBe(0);
    expect(text.slice(0, c.spoken(text, 600))).toBe("The parcel leaves");
    expect(c.spoken(text, 60_000)).toBe(text.length);
    for (let i = 0; i < 8; i++) c.learn(text, (text.length / 10) * 1000); // ten characters a second
    expect(text.slice(0, c.spoken(text, 600))).toBe("The parcel");
    c.learn("short", 5000);
    c.learn(text, 100); // cannot be
    expect(text.slice(0, c.spoken(text, 600))).toBe("The parcel");
  });
});

describe("the browser's own voice", () => {
  class Utterance {
    voice = {};
    lang = "";
    onboundary = (_: unknown) => {};
    onend = () => {};
    constructor(readonly text: string) {}
  }
  const speech = (langs: string[]) => {
    const said: Utterance[] = [];
    return {
      said,
      getVoices: () => langs.map((lang) => ({ lang, localService: lang.endsWith("MX") })),
      speak: (u: Utterance) => said.push(u),
      cancel: () => {
        said.length = 0;
      },
    };
  };
  it("speaks where it has the language, and says how far it has come", () => {
    vi.stubGlobal("SpeechSynthesisUtterance", Utterance);
    const s = speech(["en-US", "es-ES", "es-MX"]);
    const steps: unknown[] = [];
    expect(
      new Aloud("es", s as unknown as SpeechSynthesis).say(
        "Hola a todos",
        (n) => steps.push(n),
        () => steps.push("over"),
      ),
    ).toBe(true);
    expect([s.said[0]!.text, s.said[0]!.lang]).toEqual(["Hola a todos", "es-MX"]);
    s.said[0]!.onboundary({ charIndex: 5, charLength: 1 });
    s.said[0]!.onend();
    expect(steps).toEqual([6, "over"]);
    expect(
      new Aloud("pt", s as unknown as SpeechSynthesis).say(
        "Olá",
        () => {},
        () => {},
      ),
    ).toBe(false);
    expect(
      new Aloud("es", undefined).say(
        "Hola",
        () => {},
        () => {},
      ),
    ).toBe(false);
    vi.unstubAllGlobals();
  });
});

describe("texts", () => {
  it.each(Object.keys(languages))("%s has every text, with the same values", (language) => {
    for (const [key, text] of Object.entries(en)) {
      const other = languages[language]![key as keyof typeof en];
      expect(other, key).toBeTruthy();
      expect(other.match(/\{\w+\}/g) ?? [], key).toEqual(text.match(/\{\w+\}/g) ?? []);
    }
  });
  it("of a widget replace the page's own", () => {
    expect(textsFor("es-MX", { talk: "Hablemos", other: "x" })).toMatchObject({ talk: "Hablemos", hangUp: "Colgar" });
  });
});

describe("colours", () => {
  const all = ["#0b6e4f", "#ffcc00", "#7f7f7f", "#e91e63", "#000000", "#ffffff", "#3fa7d6"];
  it.each(all)("%s can be read, whatever is written on it", (primary) => {
    for (const on of [...all, "no colour"])
      for (const dark of [true, false]) {
        const { properties } = lookOf({ primary, on_primary: on }, dark);
        expect(contrast(properties["--brand"]!, properties["--on-brand"]!)).toBeGreaterThanOrEqual(4.5);
      }
  });
  it("of the background are those of one theme", () => {
    expect(lookOf({ background: "#fffaf0", text: "#1a1a1a" }, false)).toMatchObject({
      theme: "light",
      properties: { "--surface": "#fffaf0", "--text": "#1a1a1a" },
    });
    expect(lookOf({ background: "#fffaf0", text: "#1a1a1a" }, true)).toEqual({ theme: "dark", properties: {} });
    expect(lookOf({ background: "#101820", text: "#f0f0f0" }, false)).toMatchObject({
      theme: "dark",
      properties: { "--surface": "#101820" },
    });
    expect(lookOf({ background: "#ffffff", text: "#dddddd" }, false).properties["--text"]).toBeUndefined();
    expect(lookOf({ primary: "url(x)", background: "red" }, false).properties).toEqual({});
  });
});

describe("failures", () => {
  it("have a sentence each", () => {
    const of = (status: number, code = "") => failureOf(new Refused(status, code, ""));
    expect([
      of(401),
      of(403),
      of(404),
      of(429),
      of(422, "limit_exceeded"),
      of(503),
      failureOf(new TypeError("network")),
    ]).toEqual(["refused", "refused", "gone", "busy", "busy", "unavailable", "lost"]);
    expect([new Refused(403, "", "").final, new Refused(429, "", "").final, new Refused(503, "", "").final]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
