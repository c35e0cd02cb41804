// Every page of the panel, wide and on a phone, light and dark, in each language. What axe does not say of a page itself but of a state of
// it, such as an open dialog, is asked where a test brings that state about.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { before, describe, it } from "node:test";
import { accessible, context, dye, fits, shot, visit } from "../browser.mjs";
import { ask, browser, call, direct, newCompany, open, until } from "../world.mjs";
import { find, send, withKey } from "../sent.mjs";

// e2e/browser holds this table to the router. at: the addresses of a route's page, each with what says that it is there. title: its heading
// in each language, where it is no name.
const table = JSON.parse(await readFile(new URL("table.json", import.meta.url), "utf8"));
const languages = ["en", "es", "pt-BR"];
const widths = [1280, 390];

let facts; // what the addresses name
let first; // an installation that nobody has signed in to

/** seed fills a company, so that each page has something to show. */
async function seed() {
  const company = await newCompany();
  const { token } = company;
  const hook = createServer((_, r) => r.writeHead(204).end());
  await new Promise((resolve) => hook.listen(0, "127.0.0.1", resolve));
  hook.unref();
  const { id: webhook } = await call("POST", "/panel/v1/webhooks", token, {
    url: `http://127.0.0.1:${hook.address().port}/hook`,
  });
  const notification = await send(
    company,
    ["34600200001", "34600200005", "34600200006", "34600200099", "34600200098", "34600200098"],
    { name_event: "after-sale" },
  );
  const scheduled = await send(company, ["34600400099"], {
    datetime_sending: "2098-01-01T10:00:00",
    timezone: "UTC",
    campaign_name: "later",
  });
  const number = "34600701234";
  await send(company, [number], { campaign_name: "phone" });
  await call("POST", "/panel/v1/suppressions", token, { numbers: ["34600111222"], reason: "asked for it" });
  const { notification_id: phoned } = await call("POST", withKey(company, "/functions/v1/notify/voice"), "", {
    contact: { number: "34600300011", first_name: "Jorge" },
    recipient_id: "demo-line",
    agent_id: company.agent_id,
    notification_type: "transactional",
    campaign_name: "calls",
  });
  await call("POST", "/panel/v1/secrets", token, {
    name: "shop_key",
    hosts: ["shop.example.com"],
    value: "a-key-of-the-shop",
  });
  const { id: tool } = await call("POST", "/panel/v1/tools", token, {
    name: "order_status",
    description: "Finds the state of an order by its number.",
    http: { url: "https://shop.example.com/orders/{{order_id}}" },
    parameters: [{ name: "order_id", type: "text", required: true, question: { en: "Which order?" } }],
  });
  const { id: flow } = await call("POST", "/panel/v1/flows/drafts", token, {
    flow: {
      name: "Boat trip",
      trigger: { keywords: ["boat"] },
      steps: [{ say: "Ahoy, shall we sail?" }, { ask: "sail", choices: ["Yes", "No"] }],
    },
  });
  await call("POST", `/panel/v1/flows/${flow}/publish`, token);
  const visitor = await call("POST", "/functions/v1/chat/session", "", {
    widget_id: company.chat_widget_id,
    customer_id: randomUUID(),
    lang: "en",
    page: "http://shop.localhost/",
  });
  await call("POST", "/functions/v1/chat/turns", visitor.token, { client_id: "1", text: "boat" });
  await call("POST", "/panel/v1/sandbox/phone/messages", token, {
    sender: "demo",
    number,
    client_id: "1",
    name: "Ana",
    kind: "text",
    text: "May I bring a dog?",
  });
  const csv = new FormData();
  csv.set("file", new Blob(["phone,first_name\n34600300100,Ana\n"], { type: "text/csv" }), "people.csv");
  const { id: job } = await (
    await fetch(direct() + "/panel/v1/send/jobs", {
      method: "POST",
      headers: { Authorization: "Bearer " + token, "Idempotency-Key": "1" },
      body: csv,
    })
  ).json();
  await call("POST", "/panel/v1/senders", token, {
    id: "clinic",
    number: "15555550100",
    channel: "messaging",
    provider: "whatsapp",
    settings: {
      phone_number_id: "1000001",
      waba_id: "2000001",
      access_token: "provider-token",
      app_secret: "provider-app-secret",
      verify_token: "a-verify-token-of-24-char",
      base_url: await ask("graph"),
    },
  });
  const { data: templates } = await call("GET", "/panel/v1/templates", token);
  const { link: invitation } = await call("POST", "/panel/v1/invitations", token, {
    email: company.email.replace("owner", "vera"),
    role: "viewer",
  });
  const { data: users } = await call("GET", "/panel/v1/users", token);
  const { link: forgotten } = await call(
    "POST",
    `/panel/v1/users/${users.find((u) => u.email !== company.email).id}/password-link`,
    token,
    {},
  );
  await assert.rejects(send(company, ["34600000001"], { name_template: "nowhere" })); // a refused call
  const { id: run } = await until(
    async () => (await call("GET", "/panel/v1/flow-runs", token)).data[0],
    "the flow runs",
  );
  const conversations = await until(async () => {
    const all = (await call("GET", "/panel/v1/conversations?folder=all", token)).data.map((x) => x.conversation ?? x);
    return all.length === 2 && all;
  }, "there are a chat and a conversation over a channel");
  const conversation = conversations.find((x) => x.widget_id).id,
    channelled = conversations.find((x) => !x.widget_id).id;
  await until(async () => (await find(company, notification)).counts.failed === 2, "messages have failed");
  await until(
    async () =>
      (await call("GET", "/panel/v1/campaigns", token)).data.some((x) => x.name === "tours" && x.failed === 2),
    "campaigns are counted",
  );
  await until(
    async () => (await call("GET", `/panel/v1/webhooks/${webhook}/deliveries`, token)).data.length > 0,
    "events are delivered",
  );
  await until(
    async () => (await call("GET", "/panel/v1/activity/calls", token)).data.length > 0,
    "the refused call is kept",
  );
  return {
    ...company,
    tool,
    company,
    webhook,
    notification,
    scheduled,
    number,
    call: phoned,
    flow,
    run,
    conversation,
    channelled,
    job,
    template: templates.find((x) => x.name === "autumn_preview").id,
    invitation: new URL(invitation).hash,
    forgotten: new URL(forgotten).hash,
  };
}

/** opened is a page of the panel for who the row is for. */
async function opened(t, who, options) {
  if (!who) return open(t, facts.company, "/usage", options);
  const c = await context(browser, { reducedMotion: "reduce", ...options });
  t.after(async () => {
    c.check();
    await c.close();
  });
  return c.newPage();
}

const filled = (path) =>
  path.replace(/\{(\w+)\}/g, (_, name) => {
    assert.ok(facts[name], name);
    return facts[name];
  });

/**
 * goTo shows the page at an address. The page before stays until the next one is loaded, and what says that one is there may be on the other
 * too: in between there is none.
 */
async function goTo(p, who, path, there) {
  if (who) {
    await p.goto((who === "nobody" ? facts.panel_url : first.panel_url) + filled(path));
  } else {
    await visit(p, "/panel/between");
    if (path !== "/nowhere") await p.locator(there).first().waitFor({ state: "detached" });
    await visit(p, "/panel" + filled(path));
  }
  await p.locator(there).first().waitFor({ state: "attached" });
  await p.locator(".mantine-Skeleton-root").first().waitFor({ state: "detached" });
}

/** through goes through the pages of a table, and fails with all that is wrong with any. */
async function through(p, rows, look) {
  const faults = [];
  for (const row of rows)
    for (const [path, there] of Object.entries(row.at)) {
      await goTo(p, row.who, path, there)
        .then(() => look(path, row))
        .catch((e) => faults.push(`${path}: ${e.message}`));
    }
  assert.deepEqual(faults, []);
}

/** unnamed are what a dictionary left open in the texts of a page: places without a value, and values that are none. */
const unnamed = (p) =>
  p.evaluate(
    () =>
      document.body.innerText
        .replace(/\{\{[^}]*\}\}/g, "")
        .match(/\{[a-z]\w*\}|\bundefined\b|\[object Object\]|\bNaN\b/g) ?? [],
  );

/** written says whether a page is written in a language, and fits the screen. */
async function written(p, path, title, locale) {
  if (title)
    await p
      .getByRole("heading", { name: title[languages.indexOf(locale)], exact: true, level: 1, includeHidden: true })
      .first()
      .waitFor({ state: "attached" });
  assert.equal(await p.evaluate(() => document.documentElement.lang), locale.slice(0, 2), path);
  assert.deepEqual(await unnamed(p), [], path);
  await fits(p, `${path} in ${locale}`);
}

/** headings are where the heading of a page in the shell begins, and whether it has others below. */
const headings = (p) =>
  p.evaluate(() => ({
    x: document.querySelector(".page-head h1")?.getBoundingClientRect().left,
    second: !!document.querySelector("main :is(h2, h3)"),
  }));

for (const who of [undefined, "nobody", "the first"]) {
  const rows = table.filter((row) => row.who === who);
  describe(`the pages for ${who ?? "members"}`, () => {
    before(async () => {
      facts ??= await seed();
      first ??= await ask("empty");
    });

    for (const width of widths) {
      it(`have no fault that axe finds at ${width}, light and dark, and are written in en`, async (t) => {
        const p = await opened(t, who, { locale: "en", viewport: { width, height: 900 }, hasTouch: width < 800 });
        let schemes = ["light", "dark"];
        const begins = {}; // where the headings of pages begin
        const flat = []; // pages with one heading
        await through(p, rows, async (path, { title }) => {
          await written(p, path, title, "en");
          const heads = await headings(p);
          if (heads.x !== undefined) (begins[heads.x] ??= []).push(path);
          if (heads.x !== undefined && !heads.second) flat.push(path);
          for (const scheme of schemes) {
            await dye(p, scheme);
            await accessible(p, `${path} at ${width}, ${scheme}`);
            await shot(p, `page${path.replace(/\W+/g, "-")}-${width}-${scheme}`);
          }
          schemes = schemes.toReversed(); // the next page begins with the colours that this one ends with
        });
        assert.ok(Object.keys(begins).length < 2, `headings begin at ${JSON.stringify(begins)}`);
        assert.deepEqual(flat, []);
      });
    }

    for (const locale of languages.slice(1)) {
      it(`are written in ${locale}, and fit a phone`, async (t) => {
        const p = await opened(t, who, { locale, viewport: { width: 390, height: 900 }, hasTouch: true });
        await through(p, rows, (path, { title }) => written(p, path, title, locale));
      });
    }
  });
}
