import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { execFileSync } from "node:child_process";
import { chromium } from "playwright-core";
const dist = new URL("../dist/", import.meta.url);
const types = { js: "text/javascript", css: "text/css", html: "text/html" };
const config = (more = {}) => ({ widget_id: "0192d3a4-0000-7000-8000-000000000001", name: "Harbour voice", colors: { primary: "#0b6e4f", on_primary: "#ffffff", background: "#ffffff", text: "#1d1c1a" }, position: "bottom-right", animation: "pulse",
  language: "en", languages: ["en", "es", "pt"], agent: { name: "Marina" }, welcome: "Hello! Ask me about orders, shipping and returns. I answer aloud.", texts: {}, text_input: true, transcript: true, speech: true, hearing: true, talk_to_person: true, ...more });
let current = config();
const server = createServer(async (q, r) => {
  const u = new URL(q.url, "http://x");
  r.setHeader("Access-Control-Allow-Origin", "*"); r.setHeader("Access-Control-Allow-Headers", "*");
  if (q.method === "OPTIONS") return r.end();
  const json = (x) => { r.setHeader("Content-Type", "application/json"); r.end(JSON.stringify(x)); };
  if (u.pathname === "/functions/v1/voice-widget") return json({ ...current, language: u.searchParams.get("language")?.slice(0, 2) || "en" });
  if (u.pathname.endsWith("/signed-url")) { if (current.fail) { r.statusCode = current.fail; return json({ error: "x", message: "The widget takes no more talks now" }); } return json({ signed_url: "ws://widget.localhost:" + port + "/v1/convai/conversation?x=1", conversation_id: "0192d3a4-7c1e-7e3f-9a10-3b7f2c9d1e44", conversation_token: "t", sdk: {} }); }
  if (u.pathname.endsWith("/handoff")) return json({ state: "queued", position: 2 });
  if (u.pathname.endsWith("/feedback")) { r.statusCode = 204; return r.end(); }
  if (u.pathname === "/host") { r.setHeader("Content-Type", "text/html"); return r.end(`<!doctype html><html lang="en"><head><meta name=viewport content="width=device-width"><title>Shop</title></head><body style="font:16px system-ui;background:#f4f1ea"><h1>Harbour shop</h1><p>Things for boats.</p><script async src="http://widget.localhost:${port}/embed/voice.js" widget="w" customer="k" language-lovi="${current.language}"></script></body></html>`); }
  const path = u.pathname === "/" ? "voice/index.html" : u.pathname.startsWith("/voice-assets") ? "voice" + u.pathname : u.pathname.slice(1);
  try { const data = await readFile(new URL(path, dist)); r.setHeader("Content-Type", types[path.split(".").pop()] ?? "text/plain");
    if (path.endsWith("html")) r.setHeader("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' ws://widget.localhost:" + port + "; base-uri 'none'; form-action 'none'"); r.end(data); } catch { r.statusCode = 404; r.end(); }
});
await new Promise((ok) => server.listen(0, "127.0.0.1", ok));
const port = server.address().port;
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream", "--autoplay-policy=no-user-gesture-required"] });
function speech(text) { // 22050 to 16000, roughly: it is only looked at
  const wav = execFileSync("espeak-ng", ["-v", "en-us", "--stdout", text]); const pcm = new Int16Array(wav.buffer.slice(wav.byteOffset + 44, wav.byteOffset + 44 + ((wav.length - 44) & ~1)));
  const out = new Int16Array(Math.floor(pcm.length * 16000 / 22050)); for (let i = 0; i < out.length; i++) out[i] = pcm[Math.floor(i * 22050 / 16000)]; return out;
}
async function open(name, more, options = {}) {
  current = config(more);
  const c = await browser.newContext({ viewport: { width: 900, height: 760 }, ...options });
  const p = await c.newPage();
  p.on("console", (m) => console.log(name, "console:", m.text())); p.on("pageerror", (e) => console.log(name, "error", e));
  let socket; const got = [];
  await p.routeWebSocket(/convai/, (ws) => { socket = ws; ws.onMessage((m) => { const x = JSON.parse(m); got.push(x); if (x.type === "conversation_initiation_client_data") ws.send(JSON.stringify({ type: "conversation_initiation_metadata", conversation_initiation_metadata_event: { conversation_id: "c" } })); }); });
  await p.goto(`http://shop.localhost:${port}/host`);
  await p.waitForFunction(() => globalThis.carillonVoice?.on);
  await p.evaluate(() => carillonVoice("open"));
  await p.waitForTimeout(900);
  const frame = p.frames().find((f) => f.url().includes("vw_id"));
  const send = (m) => socket.send(JSON.stringify(m));
  const say = async (id, text, part = 1) => {
    send({ type: "agent_chat_response_part", text_response_part: { type: "start", text: "", event_id: id } }); send({ type: "agent_response", agent_response_event: { agent_response: text, event_id: id } });
    const pcm = speech(text); for (let at = 0; at < pcm.length * part; at += 1600) send({ type: "audio", audio_event: { audio_base_64: Buffer.from(pcm.slice(at, at + 1600).buffer).toString("base64"), event_id: id } });
  };
  return { c, p, frame, send, say, got, shot: (s) => p.screenshot({ path: `/tmp/wt/fake/${name}-${s}.png` }), el: (s) => p.locator("iframe") };
}
export { open, browser, server, port };
if (process.argv[1].endsWith("_look.mjs")) {
  for (const [name, more, options] of [["light", {}, {}], ["dark", {}, { colorScheme: "dark" }], ["phone", { terms: "We record this conversation and keep it for 30 days. A person of our team may listen to it. You can write instead at any time, and nothing is recorded then but what you write.\nMore: shop.test/privacy", colors: { primary: "#ffcc00", on_primary: "#1a1a1a" } }, { viewport: { width: 390, height: 780 } }]]) {
    const x = await open(name, more, options);
    await x.shot("1start");
    if (more.terms) await x.frame.getByRole("checkbox").check();
    await x.frame.getByRole("button", { name: "Start talking" }).click();
    await x.p.waitForTimeout(500);
    await x.say(1, "Hello, this is the assistant of the Harbour shop. How can I help you with your order today?");
    await x.p.waitForTimeout(2200);
    await x.shot("2speaking");
    await x.p.waitForTimeout(4500);
    x.send({ type: "user_transcript", user_transcription_event: { user_transcript: "How much does shipping cost?" } });
    await x.p.waitForTimeout(300);
    await x.shot("3thinking");
    await x.say(2, "Shipping costs 4.90 euros within the European Union. From 60 euros it is free.");
    x.send({ type: "rich_content", rich_content: { rich_content_id: "r", component: "sources", props: { sources: [{ title: "Shipping and delivery of shop orders", url: "https://harbour.test/en/shipping" }] }, event_id: 2 } });
    x.send({ type: "rich_content", rich_content: { rich_content_id: "r2", component: "choices", props: { choices: ["Track my order", "Return something", "Opening hours"] }, event_id: 2 } });
    await x.p.waitForTimeout(7000);
    await x.frame.getByRole("textbox").fill("Do you ship to Norway?");
    await x.shot("4choices");
    await x.frame.getByRole("button", { name: "Talk to a person" }).click();
    await x.p.waitForTimeout(300);
    await x.shot("5queued");
    x.send({ type: "external_agent_connected", external_agent_connected_event: { name: "Ana Pérez" } });
    x.send({ type: "turn", turn_event: { seq: 9, author: "teammate", name: "Ana Pérez", text: "Hello, I am Ana. We do ship to Norway, it takes a week." } });
    await x.p.waitForTimeout(400);
    await x.shot("6teammate");
    console.log(name, "audio chunks", x.got.filter((m) => m.user_audio_chunk).length, Buffer.from(x.got.find((m) => m.user_audio_chunk).user_audio_chunk, "base64").length);
    await x.frame.getByRole("button", { name: "Hang up" }).click();
    await x.frame.getByText("4 of 5").locator("..").click();
    await x.p.waitForTimeout(300);
    await x.shot("7ended");
    await x.c.close();
  }
  const y = await open("busy", { fail: 422, hearing: false });
  await y.shot("1start");
  await y.frame.getByRole("button", { name: "Start" }).click();
  await y.p.waitForTimeout(400);
  await y.shot("2failed");
  await browser.close(); server.close();
}
