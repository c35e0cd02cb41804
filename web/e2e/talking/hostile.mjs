// What visitors, teammates and administrators may type, typed by somebody who wants a page to run it.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { fits, site, visit } from "../browser.mjs";
import { call, direct, fillIn, newCompany, open, stranger } from "../world.mjs";
import { chatOf, say } from "../widgets.mjs";

let company;
let token;

const hostile = (n) =>
  `</script><script>top.hacked=${n}</script><img src=x onerror="top.hacked=${n}">"'\`\${hacked=${n}}{{${n}}}\u2028\u202e<!--`;

async function unhacked(page) {
  for (const frame of page.frames()) {
    assert.equal(
      await frame.evaluate(() => {
        try {
          return globalThis.hacked ?? top.hacked;
        } catch {
          return globalThis.hacked;
        }
      }),
      undefined,
      "ran in " + frame.url(),
    );
    assert.equal(
      await frame.evaluate(() => document.querySelectorAll("img[src=x]").length),
      0,
      "an element in " + frame.url(),
    );
  }
}

describe("hostile texts", () => {
  beforeEach(async () => {
    company = await newCompany();
    token = company.token;
  });

  it("are shown as they are, in the wrapper, on a customer's page and in the chat", async (t) => {
    const name = `<img src=x onerror="top.hacked=1">`;
    const agent = await call("POST", "/panel/v1/agents", token, { name, language: "en", greeting: hostile(2) });
    const widget = await call("POST", "/panel/v1/widgets", token, {
      kind: "chat",
      name: name + "w",
      agent: agent.id,
      welcome: hostile(3),
      language: "en",
      translations: { es: hostile(4) },
      appearance: { title: hostile(5), primary_color: "#0b6e4f", animation: "pulse" },
      texts: { en: { placeholder: hostile(6), person: hostile(7) } },
    });
    const { p } = await stranger(t);
    for (const query of [
      "",
      `&lang=${encodeURIComponent(hostile(8))}&showClose=${encodeURIComponent(hostile(9))}`,
      "&lang=es",
    ]) {
      await p.goto(
        `${company.base_url}/functions/v1/widgetWebView?customer_id=${company.access_key}&widget_id=${widget.id}${query}`,
      );
      const frame = p.frames()[1];
      await frame.locator("footer textarea").waitFor();
      await frame.locator(".bubble").first().waitFor();
      assert.equal(await frame.locator(".bubble").first().textContent(), hostile(query === "&lang=es" ? 4 : 3));
      await unhacked(p);
    }
    const host = await site(
      "hostile",
      `<!doctype html><html lang="en"><head><title>Shop</title></head><body><script async src="${company.widget_url}/embed/chat.js" widget="${widget.id}" customer="${company.access_key}"></script></body></html>`,
    );
    t.after(() => host.close());
    await p.goto(host.url + "?" + encodeURIComponent(hostile(10)) + "#" + encodeURIComponent(hostile(11)));
    const frame = await chatOf(p);
    await say(frame, hostile(12));
    await frame.getByText("Sent").first().waitFor();
    assert.equal(await frame.locator(".me .bubble").first().textContent(), hostile(12).trim());
    await frame
      .locator("input[type=file]")
      .setInputFiles({ name: `${hostile(13)}.txt`, mimeType: "text/plain", buffer: Buffer.from("text") });
    await frame.locator(".me .file").waitFor();
    await unhacked(p);

    const { data } = await call("GET", "/panel/v1/conversations?folder=all&limit=100", token);
    const mine = data.find((x) => (x.conversation ?? x).widget_id === widget.id);
    const id = (mine.conversation ?? mine).id;
    await call("POST", `/panel/v1/conversations/${id}/answers`, token, {
      client_id: "1",
      text: hostile(14) + ' javascript:alert(1) https://shop.test/"onmouseover=alert(1)',
    });
    await frame.locator(".bubble", { hasText: "javascript:alert(1)" }).waitFor();
    const links = await frame.evaluate(() =>
      [...document.querySelectorAll(".bubble a")].map((a) => a.getAttribute("href")),
    );
    assert.deepEqual(links, ["https://shop.test/"]);
    await p.reload();
    await p.waitForFunction(() => globalThis.carillon?.on);
    await unhacked(p);
  });

  it("are shown as they are where a person writes them over a channel", async (t) => {
    const number = "34600123456";
    const name = `<img src=x onerror="top.hacked=20">${number}`;
    let n = 0;
    const write = (more) =>
      call("POST", "/panel/v1/sandbox/phone/messages", token, {
        sender: "demo",
        number,
        client_id: String(n++),
        name,
        ...more,
      });
    const { id } = await write({ kind: "text", text: hostile(21) });
    await write({ kind: "choice", text: hostile(22), payload: hostile(23), reply_to: id });
    await write({ kind: "text", text: "{{number}} {{name}} " + "\u202e\u2066" + "x".repeat(4000) });
    await write({ kind: "reaction", text: "<img src=x>", reply_to: id });
    for (const path of [`/inbox?folder=all&search=${number}`, `/sandbox/messages?number=${number}`]) {
      const p = await open(t, company, path);
      if (path.startsWith("/inbox")) {
        await p.getByRole("searchbox").or(p.getByPlaceholder("Search conversations")).first().fill(number);
        await p.locator(".inbox-row", { hasText: number }).first().click();
        await p.locator(".inbox-bubble", { hasText: "hacked=21" }).waitFor();
        assert.equal(await p.locator(".inbox-bubble").first().textContent(), hostile(21).trim());
        await p
          .locator(".inbox-event", { hasText: "<img src=x>" })
          .locator(".inbox-about", { hasText: "hacked=21" })
          .waitFor();
        await p
          .locator(".inbox-turn", { hasText: "hacked=22" })
          .locator(".inbox-about", { hasText: "hacked=21" })
          .waitFor();
      } else {
        await p.locator(".handset-text", { hasText: "hacked=21" }).waitFor();
        await p.getByText("You reacted <img src=x> to").waitFor();
        await fits(p, "the phone");
      }
      await unhacked(p);
    }
  });

  it("are shown as they are on the pages of what is sent and who works here", async (t) => {
    const bad = (n) => `"><img src=x onerror="top.hacked=${n}"><script>top.hacked=${n}</script>'${n}`;
    const number = "34600123456",
      stamp = "1";
    const template = await call("POST", "/panel/v1/templates", token, {
      name: "hostile_" + stamp,
      language: "en",
      category: "UTILITY",
      content: "Dear " + bad(31) + " {{1}}, goodbye.",
      variables: ["1"],
      samples: { 1: bad(32) },
      submit: true,
    });
    const { notification_id: id } = await call("POST", `/functions/v1/notify?access_key=${company.access_key}`, "", {
      contact: { number, name: bad(33), shoe: bad(34) },
      recipient_id: bad(35),
      notification_type: "utility",
      campaign_name: bad(36),
      name_event: bad(37),
      name_template: "hello",
      language_template: "en",
      components_push: { body_text_0: bad(38) },
    });
    await call("POST", "/panel/v1/suppressions", token, { numbers: [number.replace(/^346/, "347")], reason: bad(39) });
    await call("POST", "/panel/v1/keys", token, { label: bad(40), scopes: ["notify:read"] });
    await call("POST", "/panel/v1/users", token, {
      email: company.email.replace("owner", "hostile"),
      password: "correct-horse-battery",
      name: bad(41),
      role: "viewer",
    });
    const csv = new FormData();
    const cell = (n) => `"${bad(n).replaceAll('"', '""')}"`;
    csv.set(
      "file",
      new Blob([`number,${cell(42)}\n${number},${cell(43)}\n${cell(44)},x\n`], { type: "text/csv" }),
      `${bad(45)}.csv`.replaceAll('"', ""),
    );
    const uploaded = await fetch(direct() + "/panel/v1/send/jobs", {
      method: "POST",
      headers: { Authorization: "Bearer " + token, "Idempotency-Key": stamp },
      body: csv,
    });
    assert.equal(uploaded.status, 201, await uploaded.clone().text());
    const job = await uploaded.json();

    const { c, p } = await stranger(t, { viewport: { width: 1440, height: 900 } });
    // After the sign-in no address that was planted is followed.
    for (const next of ["//evil.test", "\\\\evil.test", "javascript:top.hacked=46"]) {
      await p.goto(`${company.panel_url}/sign-in?next=${encodeURIComponent(next)}`);
      await fillIn(p, company);
      await p.locator(".nav-links").waitFor();
      assert.equal(new URL(p.url()).origin, new URL(company.panel_url).origin, next);
      await unhacked(p);
      await c.clearCookies();
    }
    await p.goto(company.panel_url + "/sign-in");
    await fillIn(p, company);
    await p.locator(".nav-links").waitFor();
    for (const [path, shown] of [
      ["/notifications", 36],
      ["/notifications/" + id, 38],
      ["/campaigns", 36],
      ["/campaigns/" + encodeURIComponent(bad(36)), 36],
      ["/templates/" + template.id, 31],
      ["/suppressions", 39],
      ["/keys", 40],
      ["/users", 41],
      ["/send/" + job.id, 43],
      ["/", 0],
      ["/usage", 0],
    ]) {
      await visit(p, "/panel" + path);
      if (shown) await p.getByText(`top.hacked=${shown}"`).filter({ visible: true }).first().waitFor();
      else await p.locator("h1").first().waitFor();
      await unhacked(p);
    }
  });

  it("a page that is no host of the chat learns nothing from it", async (t) => {
    const { c, p } = await stranger(t);
    await c.addInitScript(() => {
      globalThis.received = [];
      addEventListener("message", (e) => globalThis.received.push(e.data?.type));
    });
    // A frame beside the chat's answers in the host's place.
    const host = await site(
      "stranger",
      `<!doctype html><html lang="en"><head><title>Shop</title></head><body>
      <iframe id="chat" src="${company.widget_url}/?cw_id=${company.chat_widget_id}"></iframe>
      <iframe srcdoc="<script>setInterval(() => parent.frames[0].postMessage({ type: 'get_widget', widgetData: { id: '${company.chat_widget_id}', appearance: { title: 'stolen' }, welcome: 'stolen' } }, '*'), 20)</script>"></iframe></body></html>`,
    );
    t.after(() => host.close());
    await p.goto(host.url);
    await p.waitForFunction(() => globalThis.received.length > 0); // the chat asks its host
    const chat = p.frames().find((f) => f.url().includes("cw_id="));
    const already = await chat.evaluate(() => globalThis.received.length);
    await chat.waitForFunction(
      (n) => globalThis.received.filter((type) => type === "get_widget").length > n + 5,
      already,
    ); // and hears others
    assert.equal(await chat.getByText("stolen").count(), 0);
    await p.goto("about:blank");
  });
});
