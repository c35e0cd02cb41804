// What visitors, teammates and administrators may type, typed by somebody who wants a page to run it.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { context, launch, ready, site, visit } from "./browser.mjs";

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

const hostile = (n) => `</script><script>top.hacked=${n}</script><img src=x onerror="top.hacked=${n}">"'\`\${hacked=${n}}{{${n}}}\u2028\u202e<!--`;

async function call(method, path, token, body) {
  const r = await fetch(ready.base_url.replace("panel.localhost", "127.0.0.1") + path, { method, headers: { "Content-Type": "application/json", Host: "panel.localhost", ...(token && { Authorization: "Bearer " + token }) }, body: body && JSON.stringify(body) });
  const text = await r.text();
  assert.ok(r.ok, `${method} ${path}: ${r.status} ${text}`);
  return text ? JSON.parse(text) : undefined;
}

async function unhacked(page) {
  for (const frame of page.frames()) {
    assert.equal(await frame.evaluate(() => { try { return globalThis.hacked ?? top.hacked; } catch { return globalThis.hacked; } }), undefined, "ran in " + frame.url());
    assert.equal(await frame.evaluate(() => document.querySelectorAll("img[src=x]").length), 0, "an element in " + frame.url());
  }
}

describe("hostile texts", () => {
  it("are shown as they are, in the wrapper, on a customer's page and in the chat", async (t) => {
    const token = (await call("POST", "/functions/v1/auth?grant_type=password", "", { email: ready.email, password: ready.password })).access_token;
    const name = `<img src=x onerror="top.hacked=1">${Date.now()}`;
    const agent = await call("POST", "/panel/v1/agents", token, { name, language: "en", greeting: hostile(2) });
    const widget = await call("POST", "/panel/v1/widgets", token, {
      kind: "chat", name: name + "w", agent: agent.id, welcome: hostile(3), language: "en", translations: { es: hostile(4) },
      appearance: { title: hostile(5), primary_color: "#0b6e4f", animation: "pulse" }, texts: { en: { placeholder: hostile(6), person: hostile(7) } },
    });
    const c = await context(browser);
    t.after(() => c.close());
    c.on("page", (p) => p.on("dialog", () => assert.fail("a dialog opened")));
    const p = await c.newPage();
    for (const query of ["", `&lang=${encodeURIComponent(hostile(8))}&showClose=${encodeURIComponent(hostile(9))}`, "&lang=es"]) {
      await p.goto(`${ready.base_url}/functions/v1/widgetWebView?customer_id=${ready.access_key}&widget_id=${widget.id}${query}`);
      const frame = p.frames()[1];
      await frame.locator("footer textarea").waitFor();
      await frame.locator(".bubble").first().waitFor();
      assert.equal(await frame.locator(".bubble").first().textContent(), hostile(query === "&lang=es" ? 4 : 3));
      await unhacked(p);
    }
    const host = await site("hostile", `<!doctype html><html lang="en"><head><title>Shop</title></head><body><script async src="${ready.widget_url}/embed/chat.js" widget="${widget.id}" customer="${ready.access_key}"></script></body></html>`);
    t.after(() => host.close());
    await p.goto(host.url + "?" + encodeURIComponent(hostile(10)) + "#" + encodeURIComponent(hostile(11)));
    await p.waitForFunction(() => globalThis.carillon?.on);
    const loaded = p.waitForEvent("framenavigated", (f) => f !== p.mainFrame() && f.url().includes("cw_id="));
    await p.waitForFunction(() => { globalThis.carillon("open"); return document.activeElement !== document.body; });
    const frame = await loaded;
    const box = frame.locator("footer textarea");
    await box.fill(hostile(12));
    await box.press("Enter");
    await frame.getByText("Sent").first().waitFor();
    assert.equal(await frame.locator(".me .bubble").first().textContent(), hostile(12).trim());
    await frame.locator("input[type=file]").setInputFiles({ name: `${hostile(13)}.txt`, mimeType: "text/plain", buffer: Buffer.from("text") });
    await frame.locator(".me .file").waitFor();
    await unhacked(p);

    const { data } = await call("GET", "/panel/v1/conversations?folder=all&limit=100", token);
    const mine = data.find((x) => (x.conversation ?? x).widget_id === widget.id);
    const id = (mine.conversation ?? mine).id;
    await call("POST", `/panel/v1/conversations/${id}/answers`, token, { client_id: "1", text: hostile(14) + " javascript:alert(1) https://shop.test/\"onmouseover=alert(1)" });
    await frame.locator(".bubble", { hasText: "javascript:alert(1)" }).waitFor();
    const links = await frame.evaluate(() => [...document.querySelectorAll(".bubble a")].map((a) => a.getAttribute("href")));
    assert.deepEqual(links, ["https://shop.test/"]);
    await p.reload();
    await p.waitForFunction(() => globalThis.carillon?.on);
    await unhacked(p);
    c.check();
  });

  it("are shown as they are where a person writes them over a channel", { timeout: 60_000 }, async (t) => {
    const token = (await call("POST", "/functions/v1/auth?grant_type=password", "", { email: ready.email, password: ready.password })).access_token;
    const number = "346" + String(Date.now()).slice(-8);
    const name = `<img src=x onerror="top.hacked=20">${number}`;
    let n = 0;
    const write = (more) => call("POST", "/panel/v1/sandbox/phone/messages", token, { sender: "demo", number, client_id: String(n++), name, ...more });
    const { id } = await write({ kind: "text", text: hostile(21) });
    await write({ kind: "choice", text: hostile(22), payload: hostile(23), reply_to: id });
    await write({ kind: "text", text: "{{number}} {{name}} " + "\u202e\u2066" + "x".repeat(4000) });
    await write({ kind: "reaction", text: "<img src=x>", reply_to: id });
    const c = await context(browser, { locale: "en-GB", viewport: { width: 1440, height: 900 } });
    t.after(() => c.close());
    c.on("page", (p) => p.on("dialog", () => assert.fail("a dialog opened")));
    for (const path of [`/inbox?folder=all&search=${number}`, `/sandbox/messages?number=${number}`]) {
      const p = await c.newPage();
      await p.goto(ready.panel_url + path);
      if (await p.locator("input[type=password]").waitFor({ timeout: 3_000 }).then(() => true, () => false)) {
        await p.locator("input").nth(0).fill(ready.email);
        await p.locator("input").nth(1).fill(ready.password);
        await p.keyboard.press("Enter");
      }
      await p.locator("h1").first().waitFor();
      if (path.startsWith("/inbox")) {
        await p.getByRole("searchbox").or(p.getByPlaceholder("Search conversations")).first().fill(number);
        await p.locator(".inbox-row", { hasText: number }).first().click();
        await p.locator(".inbox-bubble", { hasText: "hacked=21" }).waitFor();
        assert.equal(await p.locator(".inbox-bubble").first().textContent(), hostile(21).trim());
        await p.locator(".inbox-event", { hasText: "<img src=x>" }).locator(".inbox-about", { hasText: "hacked=21" }).waitFor();
        await p.locator(".inbox-turn", { hasText: "hacked=22" }).locator(".inbox-about", { hasText: "hacked=21" }).waitFor();
      } else {
        await p.locator(".handset-text", { hasText: "hacked=21" }).waitFor();
        await p.getByText("You reacted <img src=x> to").waitFor();
        assert.ok(await p.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "it is wider than the screen");
      }
      await unhacked(p);
    }
    c.check();
  });

  it("are shown as they are on the pages of what is sent and who works here", { timeout: 180_000 }, async (t) => {
    const token = (await call("POST", "/functions/v1/auth?grant_type=password", "", { email: ready.email, password: ready.password })).access_token;
    const bad = (n) => `"><img src=x onerror="top.hacked=${n}"><script>top.hacked=${n}</script>'${n}`;
    const number = "346" + String(Date.now()).slice(-8), stamp = String(Date.now());
    const template = await call("POST", "/panel/v1/templates", token, { name: "hostile_" + stamp, language: "en", category: "UTILITY", content: "Dear " + bad(31) + " {{1}}, goodbye.", variables: ["1"], samples: { 1: bad(32) }, submit: true });
    const { notification_id: id } = await call("POST", `/functions/v1/notify?access_key=${ready.access_key}`, "", {
      contact: { number, name: bad(33), shoe: bad(34) }, recipient_id: bad(35), notification_type: "utility", campaign_name: bad(36), name_event: bad(37), name_template: "hello", language_template: "en", components_push: { body_text_0: bad(38) },
    });
    await call("POST", "/panel/v1/suppressions", token, { numbers: [number.replace(/^346/, "347")], reason: bad(39) });
    await call("POST", "/panel/v1/keys", token, { label: bad(40), scopes: ["notify:read"] });
    await call("POST", "/panel/v1/users", token, { email: `hostile-${stamp}@demo.test`, password: "correct-horse-battery", name: bad(41), role: "viewer" });
    const csv = new FormData();
    const cell = (n) => `"${bad(n).replaceAll('"', '""')}"`;
    csv.set("file", new Blob([`number,${cell(42)}\n${number},${cell(43)}\n${cell(44)},x\n`], { type: "text/csv" }), `${bad(45)}.csv`.replaceAll('"', ""));
    const uploaded = await fetch(ready.base_url.replace("panel.localhost", "127.0.0.1") + "/panel/v1/send/jobs", { method: "POST", headers: { Authorization: "Bearer " + token, "Idempotency-Key": stamp }, body: csv });
    assert.equal(uploaded.status, 201, await uploaded.clone().text());
    const job = await uploaded.json();

    const c = await context(browser, { locale: "en-GB", viewport: { width: 1440, height: 900 } });
    t.after(() => c.close());
    const p = await c.newPage();
    p.on("dialog", () => assert.fail("a dialog opened"));
    // After the sign-in no address that was planted is followed.
    for (const next of ["//evil.test", "\\\\evil.test", "javascript:top.hacked=46"]) {
      await p.goto(`${ready.panel_url}/sign-in?next=${encodeURIComponent(next)}`);
      await p.getByLabel("E-mail").fill(ready.email);
      await p.getByLabel("Password", { exact: true }).fill(ready.password);
      await p.keyboard.press("Enter");
      await p.locator(".nav-links").waitFor();
      assert.equal(new URL(p.url()).origin, new URL(ready.panel_url).origin, next);
      await unhacked(p);
      await c.clearCookies();
    }
    await p.goto(ready.panel_url + "/sign-in");
    await p.getByLabel("E-mail").fill(ready.email);
    await p.getByLabel("Password", { exact: true }).fill(ready.password);
    await p.keyboard.press("Enter");
    await p.locator(".nav-links").waitFor();
    for (const [path, shown] of [
      ["/notifications", 36], ["/notifications/" + id, 38], ["/campaigns", 36], ["/campaigns/" + encodeURIComponent(bad(36)), 36], ["/templates/" + template.id, 31],
      ["/suppressions", 39], ["/keys", 40], ["/users", 41], ["/send/" + job.id, 43], ["/", 0], ["/usage", 0],
    ]) {
      await visit(p, "/panel" + path);
      if (shown) await p.getByText(`top.hacked=${shown}"`).filter({ visible: true }).first().waitFor();
      else await p.locator("h1").first().waitFor();
      await unhacked(p);
    }
    c.check();
  });

  it("a page that is no host of the chat learns nothing from it", async (t) => {
    const c = await context(browser);
    t.after(() => c.close());
    const p = await c.newPage();
    // A frame beside the chat's answers in the host's place.
    const host = await site("stranger", `<!doctype html><html lang="en"><head><title>Shop</title></head><body>
      <iframe id="chat" src="${ready.widget_url}/?cw_id=${ready.chat_widget_id}"></iframe>
      <iframe srcdoc="<script>setInterval(() => parent.frames[0].postMessage({ type: 'get_widget', widgetData: { id: '${ready.chat_widget_id}', appearance: { title: 'stolen' }, welcome: 'stolen' } }, '*'), 20)</script>"></iframe></body></html>`);
    t.after(() => host.close());
    await p.goto(host.url);
    await p.waitForTimeout(1500);
    const chat = p.frames().find((f) => f.url().includes("cw_id="));
    assert.equal(await chat.getByText("stolen").count(), 0);
    await p.goto("about:blank");
    c.check();
  });
});
