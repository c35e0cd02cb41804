import { afterEach, describe, expect, it, vi } from "vitest";
import { Api, Away, eventParser, type StreamEvent } from "./api";
import { dayName, links, size } from "./format";
import { direction, en, fill, languages, textsFor } from "./texts";

describe("the stream of events", () => {
  const text =
    ': hello\n\nid: 7\nevent: turn\ndata: {"a":\ndata: 1}\n\nevent: delta\r\ndata: {}\r\n\r\n: beat\n\ndata: x\n\n';
  const want: StreamEvent[] = [
    { id: "7", event: "turn", data: '{"a":\n1}' },
    { id: "", event: "delta", data: "{}" },
    { id: "", event: "message", data: "x" },
  ];
  it.each([1, 2, 3, 7, 1000])("is read in pieces of %d characters", (n) => {
    const got: StreamEvent[] = [];
    const parse = eventParser((e) => got.push(e));
    for (let at = 0; at < text.length; at += n) parse(text.slice(at, at + n));
    expect(got).toEqual(want);
  });
});

describe("a stream that cannot go on now", () => {
  afterEach(() => vi.unstubAllGlobals());
  const end = (r: Response): Promise<unknown> => {
    vi.stubGlobal("fetch", () => Promise.resolve(r));
    return new Api("")
      .stream(
        "/functions/v1/chat/stream",
        0,
        new AbortController().signal,
        () => {},
        () => {},
      )
      .then(
        () => "ended",
        (e: unknown) => (e instanceof Away ? e.wait : e),
      );
  };
  it("waits as long as the server says before it is opened again", async () => {
    expect(await end(new Response(": open\n\nretry: 30000\n\n"))).toBe(30_000); // another page of the visitor has it
    expect(await end(new Response(JSON.stringify({ retry_after: 5 }), { status: 429 }))).toBe(5_000);
    expect(await end(new Response("", { status: 503 }))).toBe(0);
    expect(await end(new Response(": open\n\n"))).toBe("ended");
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
    expect(textsFor("es-MX", { send: "Mandar", unknown: "x", close: "" })).toMatchObject({
      send: "Mandar",
      close: "Cerrar",
    });
    expect(textsFor("xx").send).toBe("Send");
    expect(fill("{n} of {m}", { n: 2 })).toBe("2 of {m}");
  });
  it("are written from right to left where the language is", () => {
    expect(["ar", "he-IL", "fa", "es", "arn"].map(direction)).toEqual(["rtl", "rtl", "rtl", "ltr", "ltr"]);
  });
});

describe("formats", () => {
  it("finds web addresses and nothing else", () => {
    expect(
      links("See https://a.test/x?y=1. Or (http://b.test), javascript:alert(1)")
        .filter((p) => p.href)
        .map((p) => p.href),
    ).toEqual(["https://a.test/x?y=1", "http://b.test"]);
    expect(
      links("a https://a.test/<b>")
        .map((p) => p.text)
        .join(""),
    ).toBe("a https://a.test/<b>");
  });
  it("names days as people do", () => {
    const now = new Date(2026, 10, 24, 9);
    expect([0, 1, 2].map((d) => dayName(new Date(2026, 10, 24 - d, 23).toISOString(), "en", en, now))).toEqual([
      "Today",
      "Yesterday",
      "Sunday, November 22",
    ]);
  });
  it("says sizes in the unit that fits", () => {
    expect([5, 2048, 3 << 20].map(size)).toEqual(["5 B", "2 kB", "3.0 MB"]);
  });
});
