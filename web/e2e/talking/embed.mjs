// The page of the guide docs/guides/embed.md, on a site with a policy of its own.
import assert from "node:assert/strict";
import { createHmac, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { context, launch, ready, site } from "./browser.mjs";

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

const guide = await readFile(new URL("../../docs/guides/embed.md", import.meta.url), "utf8");
const block = (language) => new RegExp("```" + language + "\\n([^]*?)```").exec(guide)[1];

function filled(widget = ready.chat_widget_id) {
  return block("html").replaceAll("CARILLON", ready.widget_url).replace("WIDGET", widget).replace("KEY", ready.access_key);
}

async function call(method, path, token, body) {
  const r = await fetch(ready.base_url.replace("panel.localhost", "127.0.0.1") + path, { method, headers: { "Content-Type": "application/json", ...(token && { Authorization: "Bearer " + token }) }, body: body && JSON.stringify(body) });
  assert.ok(r.ok, `${method} ${path}: ${r.status}`);
  return r.status === 204 ? undefined : r.json();
}

const opened = async (p) => {
  const loaded = p.waitForEvent("framenavigated", (f) => f !== p.mainFrame() && f.url().includes("cw_id="));
  await p.getByRole("link", { name: "Ask us" }).click();
  const frame = await loaded;
  await frame.locator("footer textarea").waitFor();
  return frame;
};

async function say(frame, text) {
  await frame.locator("footer textarea").fill(text);
  await frame.locator("footer textarea").press("Enter");
  await frame.getByText("Sent").last().waitFor();
}

describe("the guide to embedding", () => {
  it("has a page that works under its policy, and counts what was not seen", async (t) => {
    const host = await site("guide", filled());
    t.after(() => host.close());
    const c = await context(browser);
    t.after(() => c.close());
    const p = await c.newPage();
    const logged = [];
    p.on("console", (m) => { if (m.type() === "error") logged.push(m.text()); });
    await p.goto(host.url);
    const frame = await opened(p);
    const mark = "marked " + randomUUID();
    await say(frame, mark);
    await p.evaluate(() => globalThis.carillon("close"));
    const token = (await call("POST", "/functions/v1/auth?grant_type=password", "", { email: ready.email, password: ready.password })).access_token;
    let id;
    for (let i = 0; !id && i < 50; i++) {
      const { data } = await call("GET", `/panel/v1/conversations?folder=all&limit=100`, token);
      for (const x of data.map((y) => y.conversation ?? y)) {
        if (x.state === "resolved") continue;
        const { turns } = await call("GET", `/panel/v1/conversations/${x.id}/turns?after=0`, token);
        if (turns.some((turn) => turn.text === mark)) id = x.id;
      }
    }
    await call("POST", `/panel/v1/conversations/${id}/answers`, token, { client_id: randomUUID(), text: "an answer" });
    await p.waitForFunction(() => /^[1-9]\d* new$/.test(document.getElementById("unread").textContent));
    await p.evaluate(() => globalThis.carillon("open"));
    await p.waitForFunction(() => document.getElementById("unread").textContent === "");
    assert.deepEqual(logged, [], "errors of the console");
    c.check();
  });

  it("opens both widgets on the page of the quick start", async (t) => {
    const start = await readFile(new URL("../../docs/guides/quick-start.md", import.meta.url), "utf8");
    const page = /```html\n([^]*?)```/.exec(start)[1].replaceAll("http://127.0.0.1:8080", ready.widget_url).replace("CHAT", ready.chat_widget_id).replace("VOICE", ready.voice_widget_id).replaceAll("ck_demo_4Hq7vT2mZc9LwXs1KdYb8RnE", ready.access_key);
    const host = await site("start", page);
    t.after(() => host.close());
    const c = await context(browser);
    t.after(() => c.close());
    const p = await c.newPage();
    await p.goto(host.url);
    for (const [widget, id] of [["carillon", "cw_id="], ["carillonVoice", "vw_id="]]) {
      const loaded = p.waitForEvent("framenavigated", (f) => f.url().includes(id));
      await p.waitForFunction((name) => globalThis[name]?.on, widget);
      await p.evaluate((name) => globalThis[name]("open"), widget);
      await (await loaded).getByRole("button").first().waitFor();
      await p.evaluate((name) => globalThis[name]("close"), widget);
    }
    c.check();
  });

  it("signs visitors so that they have one history, apart from others", async (t) => {
    const token = (await call("POST", "/functions/v1/auth?grant_type=password", "", { email: ready.email, password: ready.password })).access_token;
    const secret = randomUUID();
    const widget = await call("POST", "/panel/v1/widgets", token, { kind: "chat", name: "Signed " + secret, welcome: "Hello", identity_secret: secret });
    const identity = new Function("createHmac", block("js").replace(/^import.*$/m, "") + "; return identity;")(createHmac);
    const signed = identity({ id: "customer-1", name: "Ana", email: "ana@example.com" }, secret);
    const host = await site("signed", filled(widget.id));
    t.after(() => host.close());
    const visit = async (as) => {
      const c = await context(browser);
      t.after(() => c.close());
      const p = await c.newPage();
      await p.goto(host.url);
      await p.waitForFunction(() => globalThis.carillon?.on);
      if (as) await p.evaluate((jwt) => globalThis.carillon("setUser", jwt), as);
      return { p, frame: await opened(p) };
    };
    const first = await visit(signed);
    await say(first.frame, "said when signed in");
    const second = await visit(signed);
    await second.frame.getByText("said when signed in").waitFor();
    const stranger = await visit();
    await say(stranger.frame, "said by a stranger");
    assert.equal(await stranger.frame.getByText("said when signed in").count(), 0);
    await second.p.evaluate(() => globalThis.carillon("setUser", ""));
    await second.frame.getByText("said when signed in").waitFor({ state: "detached" });
    const asked = second.p.evaluate(() => new Promise((resolve) => globalThis.carillon("on", "identity", () => resolve("asked"))));
    await second.p.evaluate(() => globalThis.carillon("setUser", "no.good.token"));
    assert.equal(await asked, "asked");
    await second.p.evaluate((jwt) => globalThis.carillon("setUser", jwt), signed);
    await second.frame.getByText("said when signed in").waitFor();
  });
});
