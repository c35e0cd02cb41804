// The pages of telephone calls: one is placed as a script would, called on the sandbox's telephone, watched, and heard.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { accessible, context, launch, ready, shot } from "./browser.mjs";
import { until } from "./voice.mjs";

const agent = "3e0f7a52-1d84-4b7c-8c39-5a2be6d41f11";
const password = "a-long-enough-password";
const server = ready.base_url.replace(/\/\/[a-z]+\.localhost/, "//127.0.0.1");
let browser;
let owner;
before(async () => {
  browser = await launch();
  owner = (await request("POST", "/functions/v1/auth?grant_type=password", { email: ready.email, password: ready.password })).access_token;
});
after(() => browser.close());

async function request(method, path, body, token) {
  const r = await fetch(server + path, { method, headers: { ...(body && { "Content-Type": "application/json" }), ...(token && { Authorization: "Bearer " + token }) }, body: body && JSON.stringify(body) });
  assert.ok(r.ok, `${method} ${path}: ${r.status} ${r.ok ? "" : await r.text()}`);
  return r.json();
}

const withKey = (path) => path + (path.includes("?") ? "&" : "?") + "access_key=" + ready.access_key;

/** place has the demo's agent call a number of the sandbox. */
async function place(number, name, more = {}) {
  const r = await request("POST", withKey("/functions/v1/notify/voice"), {
    contact: { number, first_name: name, last_name: "Ruiz" }, recipient_id: "demo-line", agent_id: agent, notification_type: "transactional", campaign_name: "tours-tomorrow", ...more,
  });
  return r.notification_id;
}

/** recording gives how loud a call's recording is between two moments, in milliseconds. */
async function recording(id) {
  const r = await fetch(server + withKey(`/functions/v1/calls/${id}/recording`));
  assert.equal(r.headers.get("content-type"), "audio/wav");
  const pcm = new Int16Array((await r.arrayBuffer()).slice(44));
  return (from, to) => {
    const part = pcm.subarray(Math.max(0, from * 8), to * 8);
    return Math.sqrt(part.reduce((sum, x) => sum + x * x, 0) / part.length);
  };
}

/** open signs somebody in and shows a page. */
async function open(t, path, options = {}, who = { email: ready.email, password: ready.password }) {
  const c = await context(browser, { locale: "en-GB", viewport: { width: 1440, height: 900 }, ...options });
  t.after(() => c.close());
  const p = await c.newPage();
  await p.goto(ready.panel_url + path);
  await p.locator("input").nth(0).fill(who.email);
  await p.locator("input").nth(1).fill(who.password);
  await p.keyboard.press("Enter");
  await p.locator(".page h1").waitFor();
  return p;
}

const row = (p, id) => p.locator(`tr[data-id="${id}"]`);
const time = (p) => p.evaluate(() => document.querySelector("audio").currentTime);

describe("the calls of a company", () => {
  let told; // a call in which keys were pressed

  it("appear as they are placed, and show what was said, found out and recorded", { timeout: 120_000 }, async (t) => {
    const p = await open(t, company, "/calls");
    await p.getByRole("heading", { name: "Calls" }).waitFor();
    told = await place("34600300018", "Ana");
    await row(p, told).waitFor();
    await row(p, told).getByText("Talking").waitFor();
    await accessible(p, "a list with a call under way");
    await shot(p, "calls-list-live");

    await row(p, told).getByRole("link", { name: "Ana Ruiz" }).click();
    await p.getByText("The call is under way").waitFor();
    await p.locator(".calls-turn", { hasText: "Hello Ana, this is Harbour Tours." }).waitFor();
    await shot(p, "calls-page-live");
    await p.locator(".calls-turn", { hasText: "Key 1" }).first().waitFor({ timeout: 40_000 });
    await p.locator(".calls-turn", { hasText: "How many of you will come?" }).waitFor();
    assert.equal(await p.locator("audio").count(), 0, "there is a player before there is a recording");

    await p.getByRole("slider").waitFor({ timeout: 60_000 });
    await p.locator(".calls-head", { hasText: "Completed" }).waitFor();
    const results = p.getByRole("region", { name: "Result" });
    await results.locator("div", { hasText: "confirmed" }).getByText("Yes").waitFor();
    await results.locator("div", { hasText: "people" }).getByText("One").waitFor();
    const steps = await p.getByRole("region", { name: "Timeline" }).locator("li > span").allInnerTexts();
    assert.deepEqual(steps.map((s) => s.split("\n")[0]), ["Requested", "Dialed", "Rang", "Answered", "Completed"]);

    const api = await request("GET", withKey("/functions/v1/calls/" + told));
    assert.deepEqual(api.result, { confirmed: true, people: "One" });
    assert.equal(api.has_recording, true);
    assert.deepEqual(api.turns.filter((x) => x.digits).map((x) => [x.author, x.text, x.digits]), [["callee", "Yes", "1"], ["callee", "One", "1"]]);
    assert.ok(api.turns.every((x, i) => x.offset_ms >= (api.turns[i - 1]?.offset_ms ?? 0)), "the turns lie in the recording in their order");
    const sound = await recording(told);
    for (const x of api.turns.filter((x) => x.author === "agent").slice(1)) {
      assert.ok(sound(x.offset_ms - 400, x.offset_ms - 100) < 60, `there is sound before ${x.text}`);
      assert.ok(sound(x.offset_ms, x.offset_ms + 1200) > 100, `there is no sound at ${x.text}`);
    }
    await p.evaluate(() => globalThis.scrollTo(0, 0));
    await accessible(p, "a call");
    await shot(p, "calls-page");
  });

  it("are played: the time moves, a turn is found by a click, the one that is heard is marked, keys work", { timeout: 60_000 }, async (t) => {
    const p = await open(t, company, "/calls/" + told);
    await p.getByRole("button", { name: "Play" }).click();
    await until(async () => (await time(p)) > 0.4, "the recording plays");
    await p.locator(".calls-turn[data-now]", { hasText: "This is an automated call" }).waitFor();
    const turn = p.locator(".calls-turn", { hasText: "How many of you will come?" });
    await turn.getByRole("button", { name: /^Listen from/ }).click();
    const { turns } = await request("GET", withKey("/functions/v1/calls/" + told));
    const at = turns.find((x) => x.text === "How many of you will come?").offset_ms / 1000;
    await until(async () => Math.abs((await time(p)) - at) < 2, "it goes to the turn");
    await p.locator(".calls-turn[data-now]", { hasText: "How many of you will come?" }).waitFor();

    await p.getByRole("heading", { name: "Transcript" }).click();
    await p.keyboard.press(" ");
    await p.getByRole("button", { name: "Play" }).waitFor();
    const stopped = await time(p);
    await p.keyboard.press("ArrowLeft");
    assert.ok(Math.abs((await time(p)) - (stopped - 5)) < 0.3, "an arrow moves 5 seconds");
    await p.getByRole("slider").focus();
    await p.keyboard.press("Home");
    assert.equal(await time(p), 0);
    await p.keyboard.press("End");
    await p.getByRole("slider").and(p.locator('[aria-valuetext*="of"]')).waitFor();
    await p.getByText("2×").click();
    assert.equal(await p.evaluate(() => document.querySelector("audio").playbackRate), 2);

    // What is drawn is the sound: the pause after the greeting is flat, the greeting is not.
    await until(() => p.evaluate(() => {
      const c = document.querySelector("canvas");
      const g = c.getContext("2d");
      const column = (x) => { let n = 0; const d = g.getImageData(Math.round(x * c.width), 0, 3, c.height).data; for (let i = 3; i < d.length; i += 4) if (d[i] > 0) n++; return n; };
      const all = Array.from({ length: 100 }, (_, i) => column(i / 101));
      return Math.max(...all) > 10 * Math.max(1, Math.min(...all));
    }), "the shape is drawn");
    const [download] = await Promise.all([p.waitForEvent("download"), p.getByRole("link", { name: "Download recording" }).click()]);
    assert.equal(download.suggestedFilename(), "call.wav");
  });

  it("lead to the conversation in the inbox", async (t) => {
    const p = await open(t, company, "/calls/" + told);
    await p.getByRole("link", { name: "Open the conversation" }).click();
    await p.getByRole("heading", { name: "Inbox" }).waitFor();
    await p.locator(".inbox-bubble", { hasText: "How many of you will come?" }).waitFor();
  });

  it("are hung up while under way, by who may", { timeout: 60_000 }, async (t) => {
    const id = await place("34600300020", "Sam");
    const email = `viewer${Date.now()}@calls.test`;
    await request("POST", "/panel/v1/users", { email, name: "Vic", password, role: "viewer" }, owner);
    const other = await open(t, company, "/calls/" + id, {}, { email, password });
    await other.getByText("The call is under way").waitFor();
    assert.equal(await other.getByRole("button", { name: "Hang up" }).count(), 0, "a viewer is offered to hang up");
    const refused = await other.evaluate(async (path) => (await fetch(path, { method: "POST", headers: { "X-Carillon-Panel": "1" } })).status, `/panel/v1/calls/${id}/hangup`);
    assert.equal(refused, 403);

    const p = await open(t, company, "/calls/" + id);
    await p.getByRole("button", { name: "Hang up" }).click();
    await p.getByRole("dialog").getByRole("button", { name: "Hang up" }).click();
    await p.getByText("The call was hung up").waitFor();
    await p.getByText("Carillon ended it").first().waitFor();
    await other.getByText("Carillon ended it").first().waitFor();
    assert.equal((await request("GET", withKey("/functions/v1/calls/" + id))).ended_by, "system");
  });

  it("are told in plain words: busy, and when the next attempt is; a call that waits is canceled", { timeout: 60_000 }, async (t) => {
    const id = await place("34600300011", "Jorge");
    const p = await open(t, company, "/calls/" + id);
    await p.getByText("Busy: 486 Busy Here").waitFor();
    await p.getByText(/^Next attempt at /).waitFor();
    await p.getByRole("button", { name: "Cancel the call" }).click();
    await p.getByRole("dialog").getByRole("button", { name: "Cancel the call" }).click();
    await p.locator(".calls-head", { hasText: "Canceled" }).waitFor();
    await shot(p, "calls-page-busy");
    const later = await place("34600300099", "Rui", { datetime_sending: "2098-01-01T10:00:00" });
    await p.goto(ready.panel_url + "/calls/" + later);
    await p.getByText(/^Scheduled for /).waitFor();
  });

  it("are narrowed by the address, and new ones do not move what is being read", { timeout: 60_000 }, async (t) => {
    const p = await open(t, company, "/calls?state=busy&campaign=nothing");
    await p.getByText("No call fits these filters").waitFor();
    await p.getByRole("button", { name: "Clear filters" }).first().click();
    await row(p, told).waitFor();
    await p.getByLabel("Number").fill("+34 600 300 018");
    await p.waitForURL(/number=/);
    await until(async () => (await p.locator("tbody tr").count()) === 1, "one call is left");
    await p.reload();
    await row(p, told).waitFor();
    assert.equal(await p.locator("tbody tr").count(), 1);
    await p.getByRole("button", { name: "Clear filters" }).click();
    await until(async () => (await p.locator("tbody tr").count()) > 1, "all are there again");

    await row(p, told).hover();
    const before = await row(p, told).boundingBox();
    const id = await place("34600300017", "New");
    await p.getByRole("button", { name: "1 new call" }).waitFor();
    assert.equal(await row(p, id).count(), 0);
    assert.deepEqual(await row(p, told).boundingBox(), before, "the row has moved");
    await accessible(p, "a list with new calls");
    await p.getByRole("button", { name: "1 new call" }).click();
    await row(p, id).waitFor();
  });

  it("begin with a command that works, where there are none", { timeout: 60_000 }, async (t) => {
    const p = await open(t, company, "/calls");
    await p.route("**/panel/v1/events?*", (r) => r.abort()); // once it is there, the list is loaded again by itself
    await p.route("**/panel/v1/calls?*", (r) => r.fulfill({ json: { data: [], next_cursor: null } }));
    await p.reload();
    await p.getByRole("button", { name: "Make a key" }).click();
    await p.getByText("shown this once").waitFor();
    await accessible(p, "no calls");
    await shot(p, "calls-empty");
    const command = await p.locator(".snippet code").innerText();
    const [, address, body] = /curl '([^']+)'[^]*-d '([^']+)'/.exec(command);
    const r = await fetch(address.replace(/\/\/[a-z]+\.localhost/, "//127.0.0.1"), { method: "POST", headers: { "Content-Type": "application/json" }, body });
    assert.equal(r.status, 200, await r.text());
  });

  it("to a line have a tab of their own", { timeout: 60_000 }, async (t) => {
    const p = await open(t, company, "/calls?state=busy");
    await p.getByRole("tab", { name: "Incoming" }).click();
    await p.getByText("Nobody has called yet").waitFor();
    await accessible(p, "no incoming calls");
    const id = "01a211ff-5250-7000-817f-c48c2d9a05b6";
    const at = new Date(Date.now() - 60_000).toISOString();
    const one = { call_id: id, direction: "incoming", state: "completed", number: "", agent_id: agent, line_id: "demo-line", created_at: at, ringing_at: at, answered_at: at, ended_at: new Date(Date.now() - 20_000).toISOString(), duration_s: 40, attempts: 0, ended_by: "caller", has_recording: false };
    await p.route("**/panel/v1/calls?*direction=incoming*", (r) => r.fulfill({ json: { data: [one], next_cursor: null } }));
    await p.route("**/panel/v1/calls/" + id + "*", (r) => r.fulfill({ json: { ...one, tries: [], turns: [{ seq: 1, author: "agent", kind: "text", text: "Harbour Tours, hello.", at, name: "Reception" }] } }));
    await p.reload();
    await row(p, id).getByText("Number withheld").waitFor();
    assert.equal(await p.getByRole("columnheader", { name: "Campaign" }).count(), 0);
    await shot(p, "calls-incoming");
    await row(p, id).getByRole("link").click();
    await p.getByText("The caller hung up").first().waitFor();
    await accessible(p, "an incoming call");
    await p.locator("a.back").click();
    await row(p, id).waitFor();
  });

  it("say so when they cannot be loaded", async (t) => {
    const p = await open(t, company, "/calls");
    await p.route("**/panel/v1/events?*", (r) => r.abort()); // once it is there, the list is loaded again by itself
    await p.route("**/panel/v1/calls?*", (r) => r.fulfill({ status: 400, json: { error: "internal_error", message: "no", request_id: "req_x" } }));
    await p.reload();
    await p.getByRole("alert").getByText("Something went wrong inside Carillon").waitFor();
    await p.unroute("**/panel/v1/calls?*");
    await p.getByRole("button", { name: "Try again" }).click();
    await row(p, told).waitFor();
    await p.goto(ready.panel_url + "/calls/01a211ff-5250-7000-817f-c48c2d9a05b6");
    await p.getByText("There is no such call").waitFor();
  });

  for (const [name, options] of [["dark", { colorScheme: "dark" }], ["phone", { viewport: { width: 390, height: 844 } }], ["spanish", { locale: "es-ES" }], ["portuguese", { locale: "pt-PT", viewport: { width: 390, height: 844 }, colorScheme: "dark" }]]) {
    it(`are shown ${name}`, { timeout: 60_000 }, async (t) => {
      const p = await open(t, company, "/calls", options);
      await row(p, told).waitFor();
      await accessible(p, "the list, " + name);
      assert.ok(await p.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the list scrolls sideways");
      await shot(p, "calls-list-" + name);
      await row(p, told).getByRole("link").click();
      await p.getByRole("slider").waitFor();
      await accessible(p, "a call, " + name);
      assert.ok(await p.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page scrolls sideways");
      await shot(p, "calls-page-" + name);
      p.context().check();
    });
  }
});
