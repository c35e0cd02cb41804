// The clients that others have built for ElevenLabs' agents, unchanged, against a signed address of ours.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import { context, ready, shot } from "../browser.mjs";
import { browser, call, newCompany, until } from "../world.mjs";
import { instrument, joined, likeness, samplesOf, talker, utterance } from "../voice.mjs";

let company;
let token;
let marina; // an agent and its widget

const modules = join(dirname(createRequire(import.meta.url).resolve("axe-core/package.json")), "../@elevenlabs");
const files = {
  "/client.js": join(modules, "client/dist/lib.iife.js"),
  "/embed.js": join(modules, "convai-widget-embed/dist/index.js"),
  "/rawAudioProcessor.js": join(modules, "client/worklets/rawAudioProcessor.js"),
  "/audioConcatProcessor.js": join(modules, "client/worklets/audioConcatProcessor.js"),
};
const greeting = "Hello, this is Harbour Tours. What can I do for you?";

let site; // with the clients' files, and a policy that allows no script from elsewhere
before(async () => {
  const server = createServer(async (q, r) => {
    const path = new URL(q.url, "http://x").pathname;
    r.setHeader("Content-Type", files[path] ? "text/javascript" : "text/html; charset=utf-8");
    r.setHeader(
      "Content-Security-Policy",
      `default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; media-src data:; connect-src ${new URL(ready.base_url).origin} ${new URL(ready.base_url).origin.replace("http", "ws")}`,
    );
    r.end(
      files[path]
        ? await readFile(files[path])
        : `<!doctype html><html lang="en"><head><title>Shop</title></head><body><h1>Shop</h1><script src="${path === "/embed" ? "/embed.js" : "/client.js"}"></script></body></html>`,
    );
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  site = {
    url: `http://other.localhost:${server.address().port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
});
after(() => site?.close());

/** opened is a page of the site, with what goes over its sockets. */
async function opened(t, path) {
  const c = await context(browser, { locale: "en-GB" });
  t.after(() => c.close());
  await c.grantPermissions(["microphone"]);
  await c.addInitScript(instrument, { script: true, real: true });
  const p = await c.newPage();
  const sent = [];
  const got = [];
  const logged = [];
  const closed = [];
  p.on("console", (m) => {
    if (m.type() === "error") logged.push(m.text());
  });
  p.on("websocket", (s) => {
    s.on("framesent", (f) => sent.push({ at: performance.now(), ...JSON.parse(f.payload) }));
    s.on("framereceived", (f) => got.push(JSON.parse(f.payload)));
    s.on("close", () => closed.push(s.url()));
  });
  await p.goto(site.url + path);
  const say = async (pcm) => {
    await p.evaluate((x) => globalThis.utter(Int16Array.from(x)), [...pcm]);
  };
  /** understood says something, and waits until it is understood. */
  const understood = async (text, already = 0) => {
    await say(await utterance(text));
    return until(() => got.find((m, i) => i >= already && m.user_transcription_event?.user_transcript === text), text);
  };
  const sound = (id) =>
    joined(
      ...got
        .filter((m) => m.type === "audio" && (id === undefined || m.audio_event.event_id === id))
        .map((m) => samplesOf(Buffer.from(m.audio_event.audio_base_64, "base64"))),
    );
  return { c, p, sent, got, logged, closed, say, understood, sound };
}

/** signed is an address, which the page asks for itself: it is bound to the page's origin. */
const signed = (p) =>
  p.evaluate(
    async ([base, widget, key]) => {
      const r = await fetch(`${base}/functions/v1/voice-widget/signed-url?id_widget=${widget}&access_key=${key}`);
      const body = await r.json();
      if (!r.ok) throw new Error(JSON.stringify(body));
      return body;
    },
    [ready.base_url, marina.widget.id, company.access_key],
  );

/** greeted waits until what came is the greeting as it is synthesised. */
async function greeted(x) {
  for (const sentence of greeting.match(/[^.?]+[.?]/g)) {
    const pcm = await utterance(sentence.trim());
    await until(() => likeness(pcm, x.sound()) >= 0.95, sentence);
  }
}

const over = (session) => async () => {
  const c = await call("GET", `/panel/v1/conversations/${session.conversation_id}`, token);
  return (c.conversation ?? c).state === "resolved";
};
const answer = (got, pattern) =>
  got.find((m) => m.type === "agent_response" && pattern.test(m.agent_response_event.agent_response));

describe("@elevenlabs/client", () => {
  beforeEach(async () => {
    company = await newCompany();
    token = company.token;
    marina = await talker(company);
  });

  it("holds a session: sound both ways, interruption, tool, text, feedback, end", async (t) => {
    const x = await opened(t, "/");
    const session = await signed(x.p);
    await x.p.evaluate(async (signedUrl) => {
      const seen = (globalThis.seen = {
        messages: [],
        audio: 0,
        interruptions: 0,
        tools: [],
        modes: [],
        errors: [],
        corrections: [],
        scores: 0,
        loud: 0,
        parts: [],
        state: "",
      });
      globalThis.conversation = await globalThis.ElevenLabsClient.Conversation.startSession({
        signedUrl,
        connectionType: "websocket",
        useWakeLock: false,
        workletPaths: { rawAudioProcessor: "/rawAudioProcessor.js", audioConcatProcessor: "/audioConcatProcessor.js" },
        clientTools: {
          show_map: (parameters) => {
            seen.tools.push(parameters);
            return "The map is open";
          },
        },
        onMessage: (m) => seen.messages.push([m.source, m.message]),
        onAudio: () => seen.audio++,
        onInterruption: () => seen.interruptions++,
        onModeChange: ({ mode }) => seen.modes.push(mode),
        onVadScore: () => seen.scores++,
        onAgentResponseCorrection: (c) => seen.corrections.push(c),
        onAgentChatResponsePart: (part) => seen.parts.push(part.type),
        onError: (e) => seen.errors.push(String(e)),
        onDisconnect: (d) => {
          seen.ended = d.reason;
        },
      });
      setInterval(() => {
        seen.loud = Math.max(seen.loud, globalThis.conversation.getOutputVolume());
      }, 50);
    }, session.signed_url);
    const seen = () => x.p.evaluate(() => globalThis.seen);
    assert.equal(await x.p.evaluate(() => globalThis.conversation.getId()), session.conversation_id);

    await until(
      async () => (await seen()).messages.some(([who, text]) => who === "ai" && text === greeting),
      "the greeting",
    );
    await until(async () => (await seen()).modes.includes("speaking"), "it plays");
    await until(async () => (await seen()).modes.at(-1) === "listening", "the greeting is over");
    assert.ok((await seen()).loud > 0.02, "it is heard");
    await greeted(x);

    await x.understood("When are you open?");
    await until(
      async () => (await seen()).messages.some(([who, text]) => who === "user" && text === "When are you open?"),
      "what was said",
    );
    await until(() => answer(x.got, /opens at 9:00/), "the answer");
    await until(async () => (await seen()).modes.at(-1) === "speaking", "the answer is spoken");
    await x.p.evaluate(() => {
      globalThis.seen.loud = 0;
    });
    await until(async () => (await seen()).loud > 0.02, "the answer is heard");
    await x.understood("Please show me the map", x.got.length);
    assert.ok((await seen()).interruptions >= 1, "it is interrupted");
    await until(async () => (await seen()).corrections.length >= 1, "what was heard of the answer");
    await until(async () => (await seen()).tools.length === 1, "the tool is run");
    const result = await until(() => x.sent.find((m) => m.type === "client_tool_result"), "its result");
    assert.deepEqual([result.result, result.is_error], ["The map is open", false]);

    await x.p.evaluate(() => {
      globalThis.conversation.sendContextualUpdate("The visitor looks at page 3");
      globalThis.conversation.sendUserActivity();
      globalThis.conversation.sendUserMessage("How much does shipping cost?");
    });
    await until(() => answer(x.got, /Shipping costs 4.90 euros/), "the answer to what was typed");
    await x.p.evaluate(() => globalThis.conversation.sendFeedback(true));
    await until(() => x.sent.find((m) => m.type === "feedback" && m.score === "like"), "the feedback");
    assert.ok(
      x.sent.some((m) => m.user_audio_chunk),
      "the microphone is sent",
    );
    const after = await seen();
    assert.ok(
      after.audio > 20 && after.scores > 5 && after.parts.includes("delta") && x.sent.some((m) => m.type === "pong"),
      JSON.stringify(after),
    );
    assert.deepEqual([after.errors, x.got.filter((m) => m.type === "error"), x.logged], [[], [], []]);

    await x.p.evaluate(() => globalThis.conversation.endSession());
    await until(async () => (await seen()).ended === "user", "it ends");
    await until(() => x.closed.length === 1, "the socket is closed");
    await until(over(session), "the conversation is over"); // a socket that was cut may come back for a while
    x.c.check();
  });

  it("holds a session in writing, which the company ends", async (t) => {
    const x = await opened(t, "/");
    const session = await signed(x.p);
    await x.p.evaluate(async (signedUrl) => {
      const seen = (globalThis.seen = { messages: [], errors: [] });
      globalThis.conversation = await globalThis.ElevenLabsClient.Conversation.startSession({
        signedUrl,
        textOnly: true,
        onMessage: (m) => seen.messages.push([m.source, m.message]),
        onError: (e) => seen.errors.push(String(e)),
        onDisconnect: (d) => {
          seen.ended = d.reason;
        },
      });
    }, session.signed_url);
    const seen = () => x.p.evaluate(() => globalThis.seen);
    await until(
      async () => (await seen()).messages.some(([who, text]) => who === "ai" && text === greeting),
      "the greeting",
    );
    await x.p.evaluate(() => globalThis.conversation.sendUserMessage("How much does shipping cost?"));
    await until(() => answer(x.got, /Shipping costs 4.90 euros/), "the answer");
    assert.equal(await x.p.evaluate(() => globalThis.voiceSeen.asked), 0, "no microphone is asked for");
    assert.equal(x.got.filter((m) => m.type === "audio").length, 0, "nothing is spoken");
    await call("POST", `/panel/v1/conversations/${session.conversation_id}/resolve`, token, {});
    await until(async () => (await seen()).ended !== undefined, "it ends");
    assert.deepEqual([(await seen()).ended, (await seen()).errors], ["agent", []]);
    x.c.check();
  });
});

describe("@elevenlabs/convai-widget-embed", () => {
  beforeEach(async () => {
    company = await newCompany();
    token = company.token;
    marina = await talker(company);
  });

  it("holds a session: sound both ways, interruption, tool, text, end", async (t) => {
    const x = await opened(t, "/embed");
    const session = await signed(x.p);
    await x.p.evaluate((signedUrl) => {
      globalThis.tools = [];
      addEventListener("elevenlabs-convai:call", (e) => {
        e.detail.config.clientTools = {
          show_map: (p) => {
            globalThis.tools.push(p);
            return "The map is open";
          },
        };
      });
      const w = document.createElement("elevenlabs-convai");
      w.setAttribute("signed-url", signedUrl);
      w.setAttribute("worklet-path-raw-audio-processor", "/rawAudioProcessor.js");
      w.setAttribute("worklet-path-audio-concat-processor", "/audioConcatProcessor.js");
      w.setAttribute(
        "override-config",
        JSON.stringify({
          variant: "full",
          placement: "bottom-right",
          avatar: { type: "url", custom_url: "data:image/gif;base64,R0lGODlhAQABAAAAACw=" },
          feedback_mode: "none",
          language: "en",
          supported_language_overrides: [],
          language_presets: {},
          text_contents: {},
          styles: {},
          mic_muting_enabled: true,
          transcript_enabled: true,
          text_input_enabled: true,
          default_expanded: true,
          always_expanded: true,
          text_only: false,
          supports_text_only: true,
          disable_banner: true,
          use_rtc: false,
        }),
      );
      document.body.append(w);
    }, session.signed_url);
    await x.p.getByRole("button", { name: /call/i }).first().click();
    await x.p.getByText(greeting).waitFor();
    await greeted(x);
    await until(() => x.sent.filter((m) => m.user_audio_chunk).length > 10, "the microphone is sent");
    await x.understood("When are you open?");
    await x.p.getByText("When are you open?").waitFor();
    await x.p.getByText("opens at 9:00").waitFor();
    await until(() => x.got.at(-1).type === "audio", "the answer is spoken");
    const before = x.got.length;
    await x.understood("Please show me the map", before);
    assert.ok(
      x.got.slice(before).some((m) => m.type === "interruption"),
      "it is interrupted",
    );
    await until(() => x.p.evaluate(() => globalThis.tools.length === 1), "the tool is run");
    await until(() => x.sent.find((m) => m.type === "client_tool_result" && !m.is_error), "its result");
    await x.p.getByRole("textbox").fill("How much does shipping cost?");
    await x.p.getByRole("textbox").press("Enter");
    await until(() => answer(x.got, /Shipping costs 4.90 euros/), "the answer to what was typed");
    await shot(x.p, "elevenlabs-embed");
    assert.deepEqual(
      x.got.filter((m) => m.type === "error"),
      [],
    );
    await x.p.getByRole("button", { name: /^end/i }).first().click();
    await until(() => x.closed.length === 1, "the socket is closed");
    await until(over(session), "the conversation is over"); // a socket that was cut may come back for a while
  });
});
