import { afterEach, describe, expect, it, vi } from "vitest";
import { hex, onColour, styleOf } from "./parts";

describe("a colour of a widget", () => {
  it("is six digits and nothing besides, since it becomes a part of a style sheet", () => {
    for (const good of ["#2f5bd7", "#2F5BD7"]) expect(hex(good, "#000000")).toBe(good);
    for (const bad of ["#2f5bd7}button{display:none", "x#2f5bd7", "#2f5bd", "#2f5bdg", "2f5bd7", "red", "", "#2f5bd7\n", undefined, null, 7, ["#2f5bd7;"]]) {
      expect(hex(bad, "#000000"), JSON.stringify(bad)).toBe("#000000");
    }
  });
  it("has what is drawn on it stand out", () => {
    expect(["#ffffff", "#ffee00", "#000000", "#2f5bd7"].map(onColour)).toEqual(["#15130f", "#15130f", "#fff", "#fff"]);
  });
  it("and its place are all that a style takes from the configuration", () => {
    expect(styleOf("};top-left", "#2f5bd7", "#fff", 20)).toBe(styleOf("top-left", "#2f5bd7", "#fff", 20));
  });
});

/** element stands in for an element that a script makes. */
function element(): Record<string, unknown> {
  const x: Record<string, unknown> = { style: {}, classList: { toggle: vi.fn() }, append: vi.fn(), focus: vi.fn() };
  x.attachShadow = () => ({ append: vi.fn() });
  return x;
}

/** embed loads a script on a page, opens its frame, and returns what the page and the frame get, and how a message comes in. */
async function embed(script: "chat" | "voice", name: "carillon" | "carillonVoice") {
  const inside = { postMessage: vi.fn() };
  const heard: string[] = [];
  let receive: (e: unknown) => void = () => {};
  vi.stubGlobal("window", globalThis);
  vi.stubGlobal("navigator", { language: "en" });
  vi.stubGlobal("location", { href: "https://shop.test/a?b" });
  vi.stubGlobal("localStorage", { getItem: () => null, setItem: () => {} });
  vi.stubGlobal("CSSStyleSheet", class { replaceSync() {} });
  vi.stubGlobal("MutationObserver", class { observe() {} });
  vi.stubGlobal("addEventListener", (_: string, f: typeof receive) => { receive = f; });
  vi.stubGlobal("fetch", async () => ({ ok: true, json: async () => ({ name: "Shop" }) }));
  vi.stubGlobal("document", {
    currentScript: { src: `https://widgets.test/embed/${script}.js`, getAttribute: (a: string) => (a === "widget" ? "one" : null) },
    documentElement: { lang: "en", append: vi.fn() }, querySelector: () => null,
    createElement: (tag: string) => (tag === "iframe" ? { ...element(), contentWindow: inside } : element()),
  });
  await (script === "chat" ? import("./chat") : import("./voice"));
  const api = (globalThis as unknown as Record<string, (...call: unknown[]) => void>)[name]!;
  for (const what of ["ready", "close"]) api("on", what, () => heard.push(what));
  api("open");
  await vi.waitFor(() => { receive({ source: inside, origin: "https://widgets.test", data: { type: "ready" } }); expect(heard).toEqual(["ready"]); }, 25_000);
  inside.postMessage.mockClear();
  return { inside, heard, receive: (e: unknown) => receive(e) };
}

describe.each([["chat", "carillon"], ["voice", "carillonVoice"]] as const)("the script of the %s", (script, name) => {
  afterEach(() => { vi.unstubAllGlobals(); vi.resetModules(); delete (globalThis as Record<string, unknown>)[name]; });

  it("heeds its own page in its own frame alone", async () => {
    const x = await embed(script, name);
    for (const [source, origin] of [[x.inside, "https://evil.test"], [x.inside, "https://widgets.test.evil.test"], [{}, "https://widgets.test"], [null, "https://shop.test"]]) {
      x.receive({ source, origin, data: { type: "close" } });
      x.receive({ source, origin, data: { type: "get_customer" } });
    }
    expect(x.heard).toEqual(["ready"]);
    expect(x.inside.postMessage).not.toHaveBeenCalled();
    x.receive({ source: x.inside, origin: "https://widgets.test", data: { type: "get_customer" } });
    expect(x.inside.postMessage).toHaveBeenCalledWith(expect.objectContaining({ type: "get_customer" }), "https://widgets.test");
    x.receive({ source: x.inside, origin: "https://widgets.test", data: { type: "close" } });
    expect(x.heard).toEqual(["ready", "close"]);
  });
});
