import { afterEach, describe, expect, it, vi } from "vitest";

const launcher = { css: "button{}", name: "Talk to us", close: "Close" };

/** element stands in for an element that a script makes. */
function element(): Record<string, unknown> {
  const x: Record<string, unknown> = { style: {}, classList: { toggle: vi.fn() }, append: vi.fn(), focus: vi.fn() };
  x.attachShadow = () => ({ append: vi.fn() });
  return x;
}

type Script = "chat" | "voice";
type Name = "carillon" | "carillonVoice";

/** page makes a page on which a script can be loaded, and returns what the frame gets, and how an event comes in. */
function page(script: Script, own: Record<string, unknown> = {}) {
  const inside = { postMessage: vi.fn() };
  const listeners: Record<string, (e: unknown) => void> = {};
  const tag = {
    src: `https://widgets.test/embed/${script}.js`,
    getAttribute: (a: string) => (a === "widget" ? "one" : null),
  };
  vi.stubGlobal("window", globalThis);
  vi.stubGlobal("navigator", { language: "en" });
  vi.stubGlobal("location", { origin: "https://shop.test", pathname: "/a" });
  vi.stubGlobal("origin", "https://shop.test");
  vi.stubGlobal("localStorage", {});
  vi.stubGlobal(
    "CSSStyleSheet",
    class {
      replaceSync() {}
    },
  );
  vi.stubGlobal(
    "MutationObserver",
    class {
      observe() {}
    },
  );
  vi.stubGlobal("addEventListener", (type: string, f: (e: unknown) => void) => {
    listeners[type] = f;
  });
  vi.stubGlobal("fetch", async () => ({ ok: true, json: async () => ({ name: "Shop", launcher }) }));
  vi.stubGlobal("document", {
    currentScript: tag,
    documentElement: { lang: "en", append: vi.fn() },
    querySelector: () => null,
    createElement: (name: string) => (name === "iframe" ? { ...element(), contentWindow: inside } : element()),
    ...own,
  });
  return { inside, tag, happen: (type: string, e: unknown) => listeners[type]?.(e) };
}

const load = (script: Script) => (script === "chat" ? import("./chat") : import("./voice"));
const call = (name: Name, ...call: unknown[]) =>
  (globalThis as unknown as Record<string, (...call: unknown[]) => void>)[name]!(...call);

/** opened loads a script on a page whose frame's page has an origin, and opens it. */
async function opened(script: Script, name: Name, x: ReturnType<typeof page>, origin = "https://widgets.test") {
  const heard: string[] = [];
  await load(script);
  for (const what of ["ready", "close"]) call(name, "on", what, () => heard.push(what));
  call(name, "open");
  await vi.waitFor(() => {
    x.happen("message", { source: x.inside, origin, data: { type: "ready" } });
    expect(heard).toEqual(["ready"]);
  }, 25_000);
  x.inside.postMessage.mockClear();
  return heard;
}

describe.each([
  ["chat", "carillon"],
  ["voice", "carillonVoice"],
] as const)("the script of the %s", (script, name) => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
    vi.resetModules();
    delete (globalThis as Record<string, unknown>)[name];
  });

  it("heeds its own page in its own frame alone", async () => {
    const x = page(script);
    const heard = await opened(script, name, x);
    for (const [source, origin] of [
      [x.inside, "https://evil.test"],
      [x.inside, "https://widgets.test.evil.test"],
      [x.inside, "null"],
      [{}, "https://widgets.test"],
      [null, "https://shop.test"],
    ]) {
      x.happen("message", { source, origin, data: { type: "close" } });
      x.happen("message", { source, origin, data: { type: "get_customer" } });
    }
    expect(heard).toEqual(["ready"]);
    expect(x.inside.postMessage).not.toHaveBeenCalled();
    x.happen("message", { source: x.inside, origin: "https://widgets.test", data: { type: "get_customer" } });
    expect(x.inside.postMessage).toHaveBeenCalledWith(
      expect.objectContaining({
        type: "get_customer",
        customer: expect.objectContaining({ page: "https://shop.test/a" }),
      }),
      "https://widgets.test",
    );
    x.happen("message", { source: x.inside, origin: "https://widgets.test", data: { type: "close" } });
    expect(heard).toEqual(["ready", "close"]);
  });

  it("heeds a frame without an origin where the page has none either, as in a sandbox", async () => {
    const x = page(script);
    vi.stubGlobal("origin", "null");
    await opened(script, name, x, "null");
    x.happen("message", { source: x.inside, origin: "null", data: { type: "get_widget" } });
    x.happen("message", { source: x.inside, origin: "https://evil.test", data: { type: "get_customer" } });
    expect(x.inside.postMessage.mock.calls).toEqual([[expect.objectContaining({ type: "get_widget" }), "*"]]);
  });

  it("is found by its address as a module, and says so where it is not found", async () => {
    const x = page(script, {
      currentScript: null,
      querySelector: (selector: string) => (selector === `script[src*="/embed/${script}.js"]` ? x.tag : null),
    });
    await opened(script, name, x);
    vi.resetModules();
    delete (globalThis as Record<string, unknown>)[name];
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    page(script, { currentScript: null });
    await load(script);
    expect(warn).toHaveBeenCalledWith("carillon:", `no script[src*="/embed/${script}.js"]`);
    expect(name in globalThis).toBe(false);
  });

  it("says what the page's policy lacks, and nothing of others' requests", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const x = page(script);
    await load(script);
    x.happen("securitypolicyviolation", {
      blockedURI: "https://other.test/x.js",
      effectiveDirective: "script-src-elem",
    });
    expect(warn).not.toHaveBeenCalled();
    x.happen("securitypolicyviolation", { blockedURI: "https://widgets.test", effectiveDirective: "frame-src" });
    expect(warn.mock.calls).toEqual([["carillon:", "CSP lacks frame-src https://widgets.test"]]);
  });
});
