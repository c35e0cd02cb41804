import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ears } from "./ears";

let made: { lang: string; onstart?: () => void; onresult?: (e: object) => void; onend?: () => void }[];
let said: unknown[];
const post = (m: unknown) => said.push(m);

class Recognition {
  lang = "";
  onstart?: () => void;
  onend?: () => void;
  constructor() {
    made.push(this);
  }
  start() {
    this.onstart?.();
  }
  abort() {
    this.onend?.();
  }
  static available = async () => "downloadable";
  static install = async () => true;
}

beforeEach(() => {
  made = [];
  said = [];
  vi.stubGlobal("SpeechRecognition", Recognition);
});
afterEach(() => vi.unstubAllGlobals());

describe("the ears of a page", () => {
  it("say what the browser can, and pass on what it understands", async () => {
    await ears({ do: "look", lang: "en" }, post);
    await ears({ do: "fetch", lang: "en" }, post);
    await ears({ do: "stop", lang: "" }, post);
    await ears({ do: "start", lang: "en" }, post);
    made[0]!.onresult!({ resultIndex: 0, results: [{ isFinal: true, 0: { transcript: "hello", confidence: 1 } }] });
    await ears({ do: "stop", lang: "" }, post);
    await ears({ do: "start", lang: "en" }, post);
    made[1]!.onresult!({ resultIndex: 0, results: [{ isFinal: true, 0: { transcript: "again", confidence: 1 } }] });
    await ears({ do: "start", lang: "es" }, post);
    const ear = (m: object) => ({ type: "ears", ...m });
    expect(said).toEqual([
      ear({ local: "downloadable" }),
      ear({ local: "available" }),
      ear({ state: "on", error: undefined }),
      ear({ heard: { utterance: 0, text: "hello", final: true, confidence: 1 } }),
      ear({ state: "off", error: undefined }),
      ear({ state: "on", error: undefined }),
      ear({ heard: { utterance: 1, text: "again", final: true, confidence: 1 } }), // the count goes on
      ear({ state: "off", error: undefined }),
      ear({ state: "on", error: undefined }),
    ]);
    expect(made.map((r) => r.lang)).toEqual(["en", "en", "es"]);
    await ears({ do: "stop", lang: "" }, post);
  });
});
