// The page of the guide docs/guides/embed.md, on a site with a policy of its own.
import assert from "node:assert/strict";
import { createHmac, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { beforeEach, describe, it } from "node:test";
import { site } from "../browser.mjs";
import { call, newCompany, stranger } from "../world.mjs";
import { opening, page, say } from "../widgets.mjs";

let company;
let token;

const guide = await readFile(new URL("../../../docs/guides/embed.md", import.meta.url), "utf8");
const block = (language) => new RegExp("```" + language + "\\n([^]*?)```").exec(guide)[1];

const filled = (widget = company.chat_widget_id) =>
  block("html").replaceAll("CARILLON", company.widget_url).replace("WIDGET", widget).replace("KEY", company.access_key);

const opened = async (p) => {
  const loaded = opening(p);
  await p.getByRole("link", { name: "Ask us" }).click();
  const frame = await loaded;
  await frame.locator("footer textarea").waitFor();
  return frame;
};

/** write has a visitor write something, and waits until it is sent. */
async function write(frame, text) {
  await say(frame, text);
  await frame.getByText("Sent").last().waitFor();
}

describe("the guide to embedding", () => {
  beforeEach(async () => {
    company = await newCompany();
    token = company.token;
  });

  it("has a page that works under its policy, and counts what was not seen", async (t) => {
    const host = await site("guide", filled());
    t.after(() => host.close());
    const { p } = await stranger(t);
    const logged = [];
    p.on("console", (m) => {
      if (m.type() === "error") logged.push(m.text());
    });
    await p.goto(host.url);
    const frame = await opened(p);
    const mark = "marked " + randomUUID();
    await write(frame, mark);
    await p.evaluate(() => globalThis.carillon("close"));
    const {
      data: [first],
    } = await call("GET", "/panel/v1/conversations?folder=all", token);
    const { id } = first.conversation ?? first;
    await call("POST", `/panel/v1/conversations/${id}/answers`, token, { client_id: randomUUID(), text: "an answer" });
    await p.waitForFunction(() => /^[1-9]\d* new$/.test(document.getElementById("unread").textContent));
    await p.evaluate(() => globalThis.carillon("open"));
    await p.waitForFunction(() => document.getElementById("unread").textContent === "");
    assert.deepEqual(logged, [], "errors of the console");
  });

  it("opens both widgets on the page of the quick start", async (t) => {
    const start = await readFile(new URL("../../../docs/guides/quick-start.md", import.meta.url), "utf8");
    const text = /```html\n([^]*?)```/
      .exec(start)[1]
      .replaceAll("http://127.0.0.1:8080", company.widget_url)
      .replace("CHAT", company.chat_widget_id)
      .replace("VOICE", company.voice_widget_id)
      .replaceAll("ck_demo_4Hq7vT2mZc9LwXs1KdYb8RnE", company.access_key);
    const host = await site("start", text);
    t.after(() => host.close());
    const { p } = await stranger(t);
    await p.goto(host.url);
    for (const [widget, id] of [
      ["carillon", "cw_id="],
      ["carillonVoice", "vw_id="],
    ]) {
      const loaded = opening(p, id);
      await p.waitForFunction((name) => globalThis[name]?.on, widget);
      await p.evaluate((name) => globalThis[name]("open"), widget);
      await (await loaded).getByRole("button").first().waitFor();
      await p.evaluate((name) => globalThis[name]("close"), widget);
    }
  });

  it("has the chat on a phone, not under the button for voice", async (t) => {
    const tag = (kind, id) =>
      `<script async src="${company.widget_url}/embed/${kind}.js" widget="${id}" customer="${company.access_key}"></script>`;
    const chat = tag("chat", company.chat_widget_id);
    const voice = tag("voice", company.voice_widget_id);
    for (const [name, tags] of [
      ["chat-first", chat + voice],
      ["voice-first", voice + chat],
    ]) {
      const host = await site(name, page(tags));
      t.after(() => host.close());
      const { p } = await stranger(t, { viewport: { width: 390, height: 780 } });
      await p.goto(host.url);
      await p.waitForFunction(() => globalThis.carillonVoice?.on && globalThis.carillon?.on);
      const top = () =>
        p.evaluate(() => {
          const at = (x, y) => document.elementFromPoint(x, y);
          // the corner of the buttons and the row of the chat's text field; roots are closed, so hosts are found
          const found = [at(350, 740), at(274, 740), at(190, 740), at(20, 20)];
          return { one: new Set(found).size === 1, open: found[0].className === "o" };
        });
      for (const [widget, id] of [
        ["carillon", "cw_id="],
        ["carillonVoice", "vw_id="],
      ]) {
        const loaded = opening(p, id);
        await p.evaluate((w) => globalThis[w]("open"), widget);
        await (await loaded).getByRole("button").first().waitFor();
        assert.deepEqual(await top(), { one: true, open: true }, `${name}: ${widget} is covered`);
        await p.evaluate((w) => globalThis[w]("close"), widget);
      }
    }
  });

  it("signs visitors so that they have one history, apart from others", async (t) => {
    const secret = randomUUID();
    const widget = await call("POST", "/panel/v1/widgets", token, {
      kind: "chat",
      name: "Signed " + secret,
      welcome: "Hello",
      identity_secret: secret,
    });
    const identity = new Function("createHmac", block("js").replace(/^import.*$/m, "") + "; return identity;")(
      createHmac,
    );
    const signed = identity({ id: "customer-1", name: "Ana", email: "ana@example.com" }, secret);
    const host = await site("signed", filled(widget.id));
    t.after(() => host.close());
    const arrive = async (as) => {
      const { p } = await stranger(t);
      await p.goto(host.url);
      await p.waitForFunction(() => globalThis.carillon?.on);
      if (as) await p.evaluate((jwt) => globalThis.carillon("setUser", jwt), as);
      return { p, frame: await opened(p) };
    };
    const first = await arrive(signed);
    await write(first.frame, "said when signed in");
    const second = await arrive(signed);
    await second.frame.getByText("said when signed in").waitFor();
    const other = await arrive();
    await write(other.frame, "said by a stranger");
    assert.equal(await other.frame.getByText("said when signed in").count(), 0);
    await second.p.evaluate(() => globalThis.carillon("setUser", ""));
    await second.frame.getByText("said when signed in").waitFor({ state: "detached" });
    const asked = second.p.evaluate(
      () => new Promise((resolve) => globalThis.carillon("on", "identity", () => resolve("asked"))),
    );
    await second.p.evaluate(() => globalThis.carillon("setUser", "no.good.token"));
    assert.equal(await asked, "asked");
    await second.p.evaluate((jwt) => globalThis.carillon("setUser", jwt), signed);
    await second.frame.getByText("said when signed in").waitFor();
  });
});
