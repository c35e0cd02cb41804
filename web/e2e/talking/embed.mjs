// The page of the guide docs/guides/embed.md, on a site with a policy of its own.
import assert from "node:assert/strict";
import { createHmac, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { beforeEach, describe, it } from "node:test";
import { png, shot, site } from "../browser.mjs";
import { call, direct, newCompany, stranger } from "../world.mjs";
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

  const tag = (kind, id) =>
    `<script async src="${company.widget_url}/embed/${kind}.js" widget="${id}" customer="${company.access_key}"></script>`;

  for (const width of [390, 1440])
    it(`has one button for chat and voice on ${width} pixels, and nothing covers the other`, async (t) => {
      const [chat, voice] = [tag("chat", company.chat_widget_id), tag("voice", company.voice_widget_id)];
      for (const [name, tags] of [
        ["chat-first", chat + voice],
        ["voice-first", voice + chat],
      ]) {
        const host = await site(name + width, page(tags));
        t.after(() => host.close());
        const { p } = await stranger(t, { viewport: { width, height: 780 } });
        // The roots are closed: the classes of their hosts tell what is shown.
        const hosts = () =>
          p.evaluate(() =>
            [...document.documentElement.children]
              .filter((x) => x.tagName === "DIV")
              .map((x) => x.className.split(" ").filter(Boolean).join("")),
          );
        const at = (x, y) =>
          p.evaluate(
            ([x, y]) => document.elementFromPoint(x, y)?.className.split(" ").filter(Boolean).join(""),
            [x, y],
          );
        const corner = [width - 48, 780 - 48];
        await p.goto(host.url);
        await p.waitForFunction(() =>
          [...document.documentElement.children].some((x) => x.tagName === "DIV" && /j/.test(x.className)),
        );
        assert.deepEqual((await hosts()).sort(), ["", "j"], `${name}: two buttons`);
        assert.equal(await at(width - 48 - 68, 780 - 48), "", `${name}: a second button`);

        const loaded = opening(p);
        await p.mouse.click(...corner);
        const frame = await loaded;
        await frame.locator("footer textarea").waitFor();
        assert.deepEqual((await hosts()).sort(), ["j", "ox"]);
        const row = await frame.evaluate(() => document.querySelector("footer").getBoundingClientRect().top);
        assert.equal(
          await at(width / 2 > 380 ? width - 200 : width / 2, width === 390 ? row + 10 : 780 - 88 - 30),
          "ox",
        );

        const other = opening(p, "vw_id=");
        await frame.getByRole("button", { name: /Talk instead|Hear the answers/ }).click();
        const spoken = await other;
        await spoken.getByRole("button", { name: "Type in the chat" }).waitFor();
        assert.deepEqual((await hosts()).sort(), ["oxj", "x"]);
        await spoken.getByRole("button", { name: "Type in the chat" }).click();
        await frame.locator("footer textarea").waitFor();
        assert.deepEqual((await hosts()).sort(), ["j", "ox"]);

        await frame.locator("footer textarea").press("Escape");
        await p.waitForFunction(() => ![...document.documentElement.children].some((x) => /[ox]/.test(x.className)));
        const focused = () =>
          p.evaluate(() => document.activeElement.tagName + document.activeElement.className.trim());
        assert.equal(await focused(), "DIV", `${name}: the focus is not on the button`);
        await p.keyboard.press("Enter");
        await p.waitForFunction(() => [...document.documentElement.children].some((x) => /o/.test(x.className)));
        if (width > 480) {
          await p.mouse.click(...corner); // ×
          await p.waitForFunction(() => ![...document.documentElement.children].some((x) => /[ox]/.test(x.className)));
        }
      }
    });

  it("offers questions in the empty chat, shows the logo, and is seen on its site", async (t) => {
    const body = new FormData();
    body.append("file", new Blob([png()], { type: "image/png" }), "logo.png");
    const r = await fetch(direct() + "/panel/v1/widget-logos", {
      method: "POST",
      headers: { Authorization: "Bearer " + token },
      body,
    });
    assert.equal(r.status, 200);
    const { logo } = await r.json();
    const made = await call("POST", "/panel/v1/widgets", token, {
      kind: "chat",
      name: "Starting",
      welcome: "Hello",
      starters: { en: ["When are you open?", "How much does shipping cost?"] },
      appearance: { logo },
      texts: { en: { launcher: "Ask us" } },
    });
    const seen = () => call("GET", `/panel/v1/widgets/${made.id}/seen`, token);
    assert.deepEqual((await seen()).data, []);
    const host = await site("started", filled(made.id));
    t.after(() => host.close());
    const { p } = await stranger(t);
    await p.goto(host.url);
    const frame = await opened(p);
    await frame.waitForFunction(() => document.querySelector("header img.logo")?.naturalWidth > 0);
    const questions = frame.getByRole("group", { name: "Suggested questions" });
    await questions.getByRole("button", { name: "How much does shipping cost?" }).waitFor();
    await shot(p, "widget-starters");
    await questions.getByRole("button", { name: "When are you open?" }).click();
    await frame.locator(".row.me .bubble", { hasText: "When are you open?" }).waitFor();
    await questions.waitFor({ state: "detached" });
    const { data } = await seen();
    assert.deepEqual(
      data.map((x) => x.origin),
      [new URL(host.url).origin],
    );
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
