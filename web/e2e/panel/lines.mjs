// Voice lines and the sandbox's phone, as an administrator uses them. The trunk is a telephone company: the last three digits of a number
// are what it refuses the call with, or it rings until it is asked to answer.
import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { before, beforeEach, describe, it } from "node:test";
import { accessible, fits, shot } from "../browser.mjs";
import { act } from "../lists.mjs";
import { ask, call, member, newCompany, open, until } from "../world.mjs";

let company;
let token;

let numbers = 15550170000;
/** line makes a line with a trunk. */
async function line(address, more = {}) {
  const id = "try-" + ++numbers;
  await call("POST", "/panel/v1/senders", token, {
    id,
    number: String(numbers),
    channel: "voice",
    provider: "sip",
    settings: { trunk: address, ...more },
  });
  return id;
}

async function tryLine(p, number) {
  const test = p.getByRole("region", { name: "Test call" });
  await test.getByLabel("Number to call").fill(number);
  await test.getByRole("button", { name: /^Call/ }).click();
  return test;
}

let trunk;
describe("voice lines", () => {
  before(async () => {
    trunk = await ask("trunk");
  });
  beforeEach(async () => {
    company = await newCompany();
    token = company.token;
  });

  it("are set up, changed and removed, with errors at their fields and no password read back", async (t) => {
    const p = await open(t, company, "/lines");
    await p.getByRole("link", { name: "Phone lines" }).waitFor();
    await p
      .getByRole("row", { name: /demo-line/ })
      .getByText("Ready")
      .waitFor();
    await shot(p, "panel-lines");
    await p.getByRole("button", { name: "New line" }).click();
    const form = p.getByRole("dialog");
    await form.getByRole("button", { name: "New line" }).click();
    await until(async () => (await form.getByText("Required").count()) === 2);
    await form.getByLabel("Number").fill("15550160001");
    await form.getByLabel("Address").fill("10.1.2.3");
    await form.getByRole("button", { name: "New line" }).click();
    await form.getByText(/Use an address that can be reached from the internet/).waitFor();
    assert.equal(await form.getByLabel("Address").getAttribute("aria-invalid"), "true");
    await accessible(p, "adding a line");
    await shot(p, "panel-line-add");
    await form.getByLabel("Address").fill(trunk);
    await form.getByLabel(/^ID/).fill("office");
    await form.getByRole("button", { name: "New line" }).click();

    await p.getByRole("heading", { name: "+1 555 016 0001" }).waitFor();
    await p.getByRole("region", { name: "Status" }).getByText("Online", { exact: true }).waitFor();
    await p.getByText(/Any response means the trunk is reachable/).waitFor();
    await p.getByLabel("User name", { exact: true }).fill("acme");
    await p.getByLabel("Password", { exact: true }).first().fill("hush-hush-hush");
    await p.getByLabel("Simultaneous calls").fill("3");
    await p.getByLabel("Give up after").fill("200");
    await p.getByRole("combobox", { name: "Answered by" }).click();
    await p.getByRole("option").first().click();
    await p.getByRole("button", { name: "Save", exact: true }).click();
    await p
      .getByText(/must be a duration|from 5s to 2m0s/)
      .first()
      .waitFor();
    await p.getByLabel("Give up after").fill("30");
    await p.keyboard.press("Control+s");
    await p.getByRole("region", { name: "Save" }).waitFor({ state: "detached" });
    await until(
      async () => (await p.getByLabel("Password", { exact: true }).first().inputValue()) === "",
      "the password is not read back",
    );
    const stored = await call("GET", "/panel/v1/senders/office", token);
    assert.deepEqual(
      [
        stored.settings.username,
        stored.settings.password,
        stored.settings.public,
        stored.max_concurrent,
        stored.ring_timeout,
      ],
      ["acme", undefined, "true", 3, "30s"],
    );
    assert.ok(stored.settings.agent);
    await p.reload();
    await p.getByRole("region", { name: "Status" }).getByText("Online", { exact: true }).waitFor();
    await shot(p, "panel-line");
    await p.getByLabel("Address").fill("127.0.0.1:5999");
    await p.keyboard.press("Control+s");
    await p.getByText("Enter the secret again").first().waitFor();
    await p.getByRole("button", { name: "Discard changes" }).click();

    await p.locator("a.back").click();
    await p
      .getByRole("row", { name: /office/ })
      .getByText("0 of 3")
      .waitFor();
    await p.getByRole("link", { name: "+1 555 016 0001" }).click();
    await act(p, "Remove line");
    await p.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await p.getByRole("heading", { name: "Phone lines", level: 1 }).waitFor();
    await p.getByText("office").first().waitFor({ state: "detached" });
  });

  it("are tried: a picture of the messages, and at the end that all is well", async (t) => {
    const p = await open(t, company, "/lines/" + (await line("sip:" + trunk)));
    const test = await tryLine(p, "15550199000");
    await test.getByText("180 Ringing").waitFor();
    await ask("answer");
    await test.getByText("The line works").waitFor();
    const steps = await test.getByRole("list", { name: "SIP messages" }).getByRole("listitem").allInnerTexts();
    const order = ["INVITE", "180 Ringing", "200 OK", "ACK", "BYE"];
    assert.deepEqual(
      steps.map((s) => s.split("\n")[0]),
      order,
    );
    await accessible(p, "a test call");
    await shot(p, "panel-line-test");
  });

  it("say in plain words what is wrong, and what to do about it", async (t) => {
    const p = await open(t, company, "/lines/" + (await line("sip:" + trunk, { username: "acme", password: "wrong" })));
    for (const [code, title, advice] of [
      ["401", "The trunk rejects the user name or password", "Enter both exactly as your phone company gave them"],
      ["403", "The trunk doesn't allow this call", "the caller number"],
      ["488", "No common audio format", "PCMA or PCMU"],
    ]) {
      const test = await tryLine(p, "15550199" + code);
      await test.getByText(title).waitFor();
      await test.getByText(new RegExp(advice)).waitFor();
      await test
        .getByText(code + " Because")
        .first()
        .waitFor();
    }
    await shot(p, "panel-line-refused");
    await accessible(p, "a test call that was refused");

    const silent = createSocket("udp4");
    await new Promise((resolve) => silent.bind(0, "127.0.0.1", resolve));
    t.after(() => silent.close());
    const dead = await line("sip:127.0.0.1:" + silent.address().port);
    await p.goto(company.panel_url + "/lines/" + dead);
    await p.getByRole("region", { name: "Status" }).getByText("No response", { exact: true }).first().waitFor();
    const test = await tryLine(p, "15550199000");
    await test.getByText("The trunk isn't responding").waitFor();
    await shot(p, "panel-line-dead");
  });

  it("are given up at once when somebody hangs up", async (t) => {
    const p = await open(t, company, "/lines/demo-line");
    const test = await tryLine(p, "34600110012"); // rings, and nobody answers
    await test.getByText("180 Ringing").waitFor();
    await test.getByRole("button", { name: "Hang up" }).click();
    await test.getByText("Call canceled").waitFor();
    await until(async () => {
      // the phone stops ringing
      const { data } = await call("GET", "/panel/v1/sandbox/calls", token);
      const own = data.find((x) => x.number === "34600110012" && !x.call_id);
      return own?.ended_at && !own.answered_at;
    }, "the phone stops ringing");
  });

  it("are not tried outside of the calling hours without a question", async (t) => {
    const p = await open(t, company, "/lines/demo-line");
    const bodies = [];
    await p.context().route("**/test-call*", (route) => {
      bodies.push(route.request().postDataJSON());
      return bodies.length > 1
        ? route.fallback()
        : route.fulfill({
            status: 409,
            json: {
              error: "conflict",
              message: "The company's calling hours have not begun",
              details: { reason: "outside_hours", opens_at: "2030-01-07T09:00:00Z" },
            },
          });
    });
    const test = await tryLine(p, "34600110013");
    const question = p.getByRole("dialog", { name: "Call outside the calling hours?" });
    await question.getByText(/Jan 7, 2030/).waitFor();
    await question.getByRole("button", { name: "Call now" }).click();
    await test.getByRole("status").getByText("The call was declined").waitFor();
    await test.getByText("The line works. The trunk passed the call on.").waitFor();
    assert.deepEqual(
      bodies.map((b) => b.outside_hours),
      [undefined, true],
    );
  });

  it("are shown and not changed to who may only read", async (t) => {
    const p = await open(t, company, "/lines/demo-line", {}, await member(company, "Rita", "viewer"));
    await p.getByRole("textbox", { name: "Number" }).waitFor();
    assert.ok(await p.getByRole("textbox", { name: "Number" }).isDisabled());
    assert.equal(await p.getByRole("region", { name: "Test call" }).count(), 0);
    await p.goto(company.panel_url + "/lines");
    await p.getByRole("row", { name: /demo-line/ }).waitFor();
    assert.equal(await p.getByRole("button", { name: "New line" }).count(), 0);
  });
});

describe("an agent in calls", () => {
  beforeEach(async () => {
    company = await newCompany();
    token = company.token;
  });

  it("has questions and words for machines, with errors at their fields", async (t) => {
    const { id } = await call("POST", "/panel/v1/agents", token, {
      name: "Nadia",
      language: "en",
      engine: "builtin",
      greeting: "Hello {{first_name}}.",
      tools: ["hang_up"],
      record: true,
    });
    const p = await open(t, company, "/agents/" + id);
    await p.getByRole("tab", { name: "Calls" }).click();
    const calls = p.getByRole("region", { name: "Calls" });
    await calls.getByLabel("Voicemail message").fill("Please call us back.");
    await calls.getByRole("button", { name: "New question" }).click();
    let field = calls.getByRole("group", { name: "Question 1" });
    await field.getByLabel("Name").fill("Comes?");
    await p.getByRole("tab", { name: "Voice" }).click();
    await p.getByRole("heading", { name: "Voice" }).waitFor();
    await p.keyboard.press("Control+s");
    await p.waitForURL(/tab=calls/); // which has the field with the error
    await calls.getByText("Use letters, digits and underscores, such as confirmed").waitFor();
    field = calls.getByRole("group", { name: "Comes?" });
    await field.getByLabel("Name").fill("comes");
    field = calls.getByRole("group", { name: "comes" });
    await field.getByRole("combobox", { name: "Type" }).click();
    await p.getByRole("option", { name: "One of several" }).click();
    await field.getByLabel("Answers").fill("today");
    await p.keyboard.press("Enter");
    await field.getByLabel("Answers").fill("tomorrow");
    await p.keyboard.press("Enter");
    await field.getByRole("textbox", { name: "Question" }).fill("When do you come?");
    await calls.getByRole("button", { name: "New question" }).click();
    await calls.getByRole("group", { name: "Question 2" }).getByLabel("Name").fill("first");
    await calls.getByRole("button", { name: "Move question first up" }).click();
    await calls.getByRole("button", { name: "Remove question first" }).click();
    await p.keyboard.press("Control+s");
    await p.getByRole("region", { name: "Save" }).waitFor({ state: "detached" });
    const stored = await call("GET", "/panel/v1/agents/" + id, token);
    assert.deepEqual(
      [stored.voicemail, stored.result],
      [
        "Please call us back.",
        [{ name: "comes", type: "choice", choices: ["today", "tomorrow"], question: "When do you come?" }],
      ],
    );
    await accessible(p, "the calls of an agent");
    await calls.scrollIntoViewIfNeeded();
    await shot(p, "panel-agent-calls");
  });
});

describe("the sandbox's phone", () => {
  beforeEach(async () => {
    company = await newCompany();
    token = company.token;
  });

  it("is called, and declines", async (t) => {
    const p = await open(t, company, "/sandbox");
    await p.getByRole("combobox", { name: "Behavior", exact: true }).click();
    await p
      .getByRole("option", { name: /declines/i })
      .first()
      .click();
    await p.getByRole("button", { name: "Call", exact: true }).click();
    await p
      .getByRole("list", { name: "Recent calls" })
      .getByRole("listitem")
      .filter({ hasText: /0013/ })
      .first()
      .getByText("Refused with 603")
      .waitFor();
    await accessible(p, "the sandbox's phone");
  });

  it("ends a test call in each language, readable on a phone in the dark", async (t) => {
    for (const locale of ["es", "pt-BR"]) {
      const p = await open(t, company, "/lines/demo-line", {
        locale,
        colorScheme: "dark",
        viewport: { width: 390, height: 844 },
        hasTouch: true,
      });
      await p.locator('input[type="tel"]').fill("34600110013");
      await p.getByRole("button", { name: /^(Llamar|Ligar)/ }).click();
      await p.locator(".line-verdict").waitFor();
      await p.locator(".line-verdict").scrollIntoViewIfNeeded();
      await accessible(p, `the end of a test call in ${locale}`);
      await fits(p, `the end of a test call in ${locale}`);
      await shot(p, `panel-line-${locale}-dark`);
    }
  });
});
