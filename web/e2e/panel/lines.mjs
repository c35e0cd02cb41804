// Voice lines and the sandbox's phone, as an administrator uses them. CARILLON_TRUNK is a telephone company: the last three digits of a
// number are what it refuses the call with, or it answers.
import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { after, before, describe, it } from "node:test";
import { accessible, context, launch, ready, shot } from "./browser.mjs";
import { call, signIn } from "./voice.mjs";

const trunk = process.env.CARILLON_TRUNK;
let browser;
let token;
before(async () => { browser = await launch(); token = await signIn(); });
after(() => browser.close());

/** opened is a page of the panel for who is signed in. */
async function opened(t, path, options = {}, who = [ready.email, ready.password]) {
  const c = await context(browser, { locale: "en-GB", reducedMotion: "reduce", viewport: { width: 1360, height: 900 }, ...options });
  t.after(() => c.close());
  const p = await c.newPage();
  await p.goto(ready.panel_url + path);
  await p.locator('input[type="email"]').fill(who[0]);
  await p.locator('input[name="password"]').fill(who[1]);
  await p.locator('button[type="submit"]').click();
  await p.locator("nav, .nav").first().waitFor({ state: "attached" });
  return { c, p };
}

let numbers = 15550170000;
/** line makes a line with a trunk, which is removed at the end. */
async function line(t, address, more = {}) {
  const id = "try-" + ++numbers;
  await call("POST", "/panel/v1/senders", token, { id, number: String(numbers), channel: "voice", provider: "sip", settings: { trunk: address, ...more } });
  t.after(() => call("DELETE", "/panel/v1/senders/" + id, token));
  return id;
}

async function tryLine(p, number) {
  const test = p.getByRole("region", { name: "Test call" });
  await test.getByLabel("Number to call").fill(number);
  await test.getByRole("button", { name: /^Call/ }).click();
  return test;
}

describe("voice lines", () => {
  it("are set up, changed and removed, with errors at their fields and no password read back", async (t) => {
    const { c, p } = await opened(t, "/lines");
    await p.getByRole("link", { name: "Lines" }).waitFor();
    await p.getByRole("row", { name: /demo-line/ }).getByText("Ready").waitFor();
    await accessible(p, "the lines");
    await shot(p, "panel-lines");
    await p.getByRole("button", { name: "Add a line" }).click();
    const form = p.getByRole("dialog");
    await form.getByRole("button", { name: "Add a line" }).click();
    assert.equal(await form.getByText("Required").count(), 2);
    await form.getByLabel("Number").fill("15550160001");
    await form.getByLabel("Address").fill("10.1.2.3");
    await form.getByRole("button", { name: "Add a line" }).click();
    await form.getByText(/Must be at a public address/).waitFor();
    assert.equal(await form.getByLabel("Address").getAttribute("aria-invalid"), "true");
    await accessible(p, "adding a line");
    await shot(p, "panel-line-add");
    await form.getByLabel("Address").fill(trunk);
    await form.getByLabel(/^Id/).fill("office");
    await form.getByRole("button", { name: "Add a line" }).click();

    await p.getByRole("heading", { name: "15550160001" }).waitFor();
    await p.getByRole("region", { name: "State" }).getByText("Responds", { exact: true }).waitFor();
    await p.getByText(/Any response says that it is there/).waitFor();
    await p.getByLabel("User name").fill("acme");
    await p.getByLabel("Password", { exact: true }).first().fill("hush-hush-hush");
    await p.getByLabel("Calls at once").fill("3");
    await p.getByLabel("Ring for").fill("200");
    await p.getByRole("combobox", { name: "Answers calls" }).click();
    await p.getByRole("option").first().click();
    await p.getByRole("button", { name: "Save", exact: true }).click();
    await p.getByText(/must be a duration|from 5s to 2m0s/).first().waitFor();
    await p.getByLabel("Ring for").fill("30");
    await p.keyboard.press("Control+s");
    await p.getByRole("region", { name: "Save" }).waitFor({ state: "detached" });
    assert.equal(await p.getByLabel("Password", { exact: true }).first().inputValue(), "", "the password is not read back");
    const stored = await call("GET", "/panel/v1/senders/office", token);
    assert.deepEqual([stored.settings.username, stored.settings.password, stored.settings.public, stored.max_concurrent, stored.ring_timeout], ["acme", undefined, "true", 3, "30s"]);
    assert.ok(stored.settings.agent);
    await p.reload();
    await p.getByRole("region", { name: "State" }).getByText("Responds", { exact: true }).waitFor();
    await accessible(p, "a line");
    await shot(p, "panel-line");
    await p.getByLabel("Address").fill("127.0.0.1:5999");
    await p.keyboard.press("Control+s");
    await p.getByText("Must be given again with another address").first().waitFor();
    await p.getByRole("button", { name: "Discard changes" }).click();

    await p.getByRole("link", { name: "Lines" }).first().click();
    await p.getByRole("row", { name: /office/ }).getByText("0 of 3").waitFor();
    await p.getByRole("link", { name: "15550160001" }).click();
    await p.getByRole("button", { name: "Remove the line" }).click();
    await p.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await p.getByRole("heading", { name: "Lines", level: 1 }).waitFor();
    assert.equal(await p.getByText("office").count(), 0);
    c.check();
  });

  it("are tried: a picture of the messages, and at the end that all is well", async (t) => {
    const { c, p } = await opened(t, "/lines/" + (await line(t, "sip:" + trunk)));
    const test = await tryLine(p, "15550199000");
    await test.getByText("The line works").waitFor();
    const steps = await test.getByRole("list", { name: "What was sent and received" }).getByRole("listitem").allInnerTexts();
    const order = ["INVITE", "180 Ringing", "200 OK", "ACK", "BYE"];
    assert.deepEqual(steps.map((s) => s.split("\n")[0]), order);
    await accessible(p, "a test call");
    await shot(p, "panel-line-test");
    c.check();
  });

  it("say in plain words what is wrong, and what to do about it", async (t) => {
    const { c, p } = await opened(t, "/lines/" + (await line(t, "sip:" + trunk, { username: "acme", password: "wrong" })));
    for (const [code, title, advice] of [["401", "The trunk refuses user name or password", "Enter both as the telephone company gave them"], ["403", "The trunk does not allow this call", "the caller's number"], ["488", "Both sides have no kind of sound in common", "PCMA or PCMU"]]) {
      const test = await tryLine(p, "15550199" + code);
      await test.getByText(title).waitFor();
      await test.getByText(new RegExp(advice)).waitFor();
      await test.getByText(code + " Because").first().waitFor();
    }
    await shot(p, "panel-line-refused");
    await accessible(p, "a test call that was refused");
    c.check();

    const silent = createSocket("udp4");
    await new Promise((resolve) => silent.bind(0, "127.0.0.1", resolve));
    t.after(() => silent.close());
    const dead = await line(t, "sip:127.0.0.1:" + silent.address().port);
    await p.goto(ready.panel_url + "/lines/" + dead);
    await p.getByRole("region", { name: "State" }).getByText("Does not respond").waitFor();
    const test = await tryLine(p, "15550199000");
    await test.getByText("The trunk does not respond").waitFor();
    await shot(p, "panel-line-dead");
  });

  it("are given up at once when somebody hangs up", async (t) => {
    const { p } = await opened(t, "/lines/demo-line");
    const test = await tryLine(p, "34600110012"); // rings, and nobody answers
    await test.getByText("180 Ringing").waitFor();
    await test.getByRole("button", { name: "Hang up" }).click();
    await test.getByText("The call was given up").waitFor();
    const until = Date.now() + 5000;
    for (;;) { // the phone stops ringing
      const { data } = await call("GET", "/panel/v1/sandbox/calls", token);
      const own = data.find((x) => x.number === "34600110012" && !x.call_id);
      if (own?.ended_at && !own.answered_at) break;
      assert.ok(Date.now() < until, JSON.stringify(own));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });

  it("are not tried outside of the calling hours without a question", async (t) => {
    const { c, p } = await opened(t, "/lines/demo-line");
    const bodies = [];
    await c.route("**/test-call*", (route) => {
      bodies.push(route.request().postDataJSON());
      return bodies.length > 1 ? route.fallback() : route.fulfill({ status: 409, json: { error: "conflict", message: "The company's calling hours have not begun", details: { reason: "outside_hours", opens_at: "2030-01-07T09:00:00Z" } } });
    });
    const test = await tryLine(p, "34600110013");
    const question = p.getByRole("dialog", { name: "Call outside the calling hours?" });
    await question.getByText(/Jan 7, 2030/).waitFor();
    await question.getByRole("button", { name: "Call now" }).click();
    await test.getByRole("status").getByText("The call was declined").waitFor();
    await test.getByText("The line works: the trunk passed the call on.").waitFor();
    assert.deepEqual(bodies.map((b) => b.outside_hours), [undefined, true]);
  });

  it("are shown and not changed to who may only read", async (t) => {
    await call("POST", "/panel/v1/users", token, { email: "reader@lines.test", name: "Rita", password: "a-long-enough-password", role: "viewer" });
    const { c, p } = await opened(t, "/lines/demo-line", {}, ["reader@lines.test", "a-long-enough-password"]);
    await p.getByLabel("Number").waitFor();
    assert.ok(await p.getByLabel("Number").isDisabled());
    assert.equal(await p.getByRole("region", { name: "Test call" }).count(), 0);
    await p.goto(ready.panel_url + "/lines");
    await p.getByRole("row", { name: /demo-line/ }).waitFor();
    assert.equal(await p.getByRole("button", { name: "Add a line" }).count(), 0);
    c.check();
  });
});

describe("an agent in calls", () => {
  it("has questions and words for machines, with errors at their fields, and phones the sandbox", async (t) => {
    const { id } = await call("POST", "/panel/v1/agents", token, { name: "Nadia", language: "en", engine: "builtin", greeting: "Hello {{first_name}}.", tools: ["hang_up"], record: true });
    t.after(() => call("DELETE", "/panel/v1/agents/" + id, token));
    const { c, p } = await opened(t, "/agents/" + id);
    const calls = p.getByRole("region", { name: "Telephone calls" });
    await calls.getByLabel("On answering machines").fill("Please call us back.");
    await calls.getByRole("button", { name: "Add a field" }).click();
    let field = calls.getByRole("group", { name: "Field 1" });
    await field.getByLabel("Name").fill("Comes?");
    await p.keyboard.press("Control+s");
    await calls.getByText("Must be a word such as confirmed").waitFor();
    field = calls.getByRole("group", { name: "Comes?" });
    await field.getByLabel("Name").fill("comes");
    field = calls.getByRole("group", { name: "comes" });
    await field.getByRole("combobox", { name: "Type" }).click();
    await p.getByRole("option", { name: "One of several" }).click();
    await field.getByLabel("Answers").fill("today");
    await p.keyboard.press("Enter");
    await field.getByLabel("Answers").fill("tomorrow");
    await p.keyboard.press("Enter");
    await field.getByLabel("Question").fill("When do you come?");
    await calls.getByRole("button", { name: "Add a field" }).click();
    await calls.getByRole("group", { name: "Field 2" }).getByLabel("Name").fill("first");
    await calls.getByRole("button", { name: "Move the field first up" }).click();
    await calls.getByRole("button", { name: "Remove the field first" }).click();
    await p.keyboard.press("Control+s");
    await p.getByRole("region", { name: "Save" }).waitFor({ state: "detached" });
    const stored = await call("GET", "/panel/v1/agents/" + id, token);
    assert.deepEqual([stored.voicemail, stored.result], ["Please call us back.", [{ name: "comes", type: "choice", choices: ["today", "tomorrow"], question: "When do you come?" }]]);
    await accessible(p, "the calls of an agent");
    await calls.scrollIntoViewIfNeeded();
    await shot(p, "panel-agent-calls");

    const play = p.getByRole("region", { name: "Try it" });
    await play.getByText("Phone", { exact: true }).click();
    await play.getByRole("combobox", { name: "The phone" }).click();
    await p.getByRole("option", { name: /presses 1 whenever/ }).click();
    await play.getByRole("button", { name: "Call", exact: true }).click();
    await play.getByText(/When do you come\?/).first().waitFor();
    await play.getByText(/I have noted that/).waitFor({ timeout: 60_000 });
    const path = await play.getByRole("link", { name: "Show the call" }).getAttribute("href");
    await call("POST", `/panel/v1/calls/${path.split("/").pop()}/hangup`, token); // else it presses twice more
    await play.getByText("What it found out").waitFor();
    await play.locator("dd", { hasText: "today" }).waitFor();
    await play.getByRole("button", { name: /^What it heard/ }).waitFor();
    await accessible(p, "a call to the sandbox's phone");
    await play.scrollIntoViewIfNeeded();
    await shot(p, "panel-agent-phone");
    c.check();
  });
});

describe("the sandbox's phone", () => {
  it("is called, and plays what it heard of a call in which it pressed a key", async (t) => {
    const { c, p } = await opened(t, "/sandbox");
    const list = p.getByRole("list", { name: "Calls it got" });
    const row = list.getByRole("listitem").filter({ hasText: /0018/ }).first(); // the call that the agent made before
    await row.getByText("Answered").waitFor();
    await p.getByRole("combobox", { name: "The phone", exact: true }).click();
    await p.getByRole("option", { name: /declines/i }).first().click();
    await p.getByRole("button", { name: "Call", exact: true }).click();
    await list.getByRole("listitem").filter({ hasText: /0013/ }).first().waitFor();
    await row.getByText(/^Pressed 1/).waitFor();
    await row.getByRole("button", { name: /^What it heard/ }).click();
    const length = await row.locator("audio").evaluate((a) => new Promise((resolve, reject) => {
      a.muted = true;
      if (a.duration) resolve(a.duration);
      a.onloadedmetadata = () => resolve(a.duration);
      a.onerror = () => reject(new Error(a.error.message));
    }));
    assert.ok(length > 2, "it heard " + length + " s");
    await accessible(p, "the sandbox's phone");
    await shot(p, "panel-sandbox");
    c.check();
  });

  it("is readable on a phone, in the dark, in each language", async (t) => {
    for (const [locale, title, lines] of [["es", "Teléfono de pruebas", "Líneas"], ["pt", "Telefone de teste", "Linhas"]]) {
      const { c, p } = await opened(t, "/sandbox", { locale, colorScheme: "dark", viewport: { width: 390, height: 844 }, hasTouch: true });
      await p.getByRole("heading", { name: title, level: 1 }).waitFor();
      await p.getByRole("listitem").filter({ hasText: /0018/ }).first().waitFor();
      for (const [path, name] of [["/sandbox", "sandbox"], ["/lines", "lines"], ["/lines/demo-line", "line"]]) {
        await p.goto(ready.panel_url + path);
        await p.getByRole("heading", { level: 1 }).waitFor();
        if (name === "lines") await p.getByRole("heading", { name: lines, level: 1 }).waitFor();
        if (name === "line") {
          await p.locator('input[type="tel"]').fill("34600110013");
          await p.getByRole("button", { name: /^(Llamar|Ligar)/ }).click();
          await p.locator(".line-verdict").waitFor();
          await p.locator(".line-verdict").scrollIntoViewIfNeeded();
        }
        await accessible(p, `${name} in ${locale}`);
        assert.ok(await p.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} in ${locale} does not scroll sideways`);
        await shot(p, `panel-${name}-${locale}-dark`); // of a line the end of a test call
      }
      c.check();
    }
  });
});
