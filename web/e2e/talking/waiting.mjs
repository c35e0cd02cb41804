// What teammates do with conversations that wait: the list, one after the other, several at once, and what reaches those who look away.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { accessible, fits, shot } from "../browser.mjs";
import { call, member, newCompany, open, until } from "../world.mjs";

let company;

/** asks opens a conversation of a visitor who asks something. */
async function asks(text) {
  const s = await call("POST", "/functions/v1/chat/session", "", {
    widget_id: company.chat_widget_id,
    customer_id: crypto.randomUUID(),
    lang: "en",
    page: "http://shop.localhost/",
  });
  await call("POST", "/functions/v1/chat/turns", s.token, { client_id: crypto.randomUUID(), text });
  return s;
}

/** waits opens a conversation of a visitor who asked something and waits for a person. */
async function waits(text, contact) {
  const s = await asks(text);
  if (contact) await call("POST", "/functions/v1/chat/contact", s.token, contact);
  await call("POST", "/functions/v1/chat/handoff", s.token, {});
  const { data } = await call("GET", "/panel/v1/conversations?folder=unassigned&limit=50", company.token);
  const found = data.find((c) => c.question === text || c.last_text === text);
  assert.ok(found, `${text} does not wait`);
  return { id: found.id, token: s.token };
}

const rows = (p) => p.locator(".inbox-row .inbox-row-text").allTextContents();
const row = (p, id) => p.locator(`.inbox-row[data-id="${id}"]`);
const one = (id) => call("GET", "/panel/v1/conversations/" + id, company.token).then((x) => x.conversation);

async function inbox(t, who, options = {}, path = "/inbox") {
  const p = await open(t, company, path, options, who);
  await p.getByText("Available").waitFor();
  return p;
}

describe("those who wait", () => {
  let first, second, third, ana;
  beforeEach(async () => {
    company = await newCompany();
    ana = await member(company, "Ana", "teammate");
    first = await waits("Is there a lift at pier 7?");
    second = await waits("Can we bring a parrot?", { name: "Luis Vega", email: "luis@example.com" });
    third = await waits("Do you sell wooden spoons?");
  });

  it("come by the time they wait, and stay in the list while a teammate answers them", async (t) => {
    const p = await inbox(t, ana);
    await row(p, third.id).waitFor();
    const order = ["Is there a lift at pier 7?", "Can we bring a parrot?", "Do you sell wooden spoons?"];
    assert.deepEqual(await rows(p), order);
    assert.match(await row(p, first.id).textContent(), /waiting · /);
    await p.getByRole("button", { name: "Order: Longest waiting first" }).click();
    await p.getByRole("menuitem", { name: "Newest first" }).click();
    await p.waitForFunction((id) => document.querySelector(".inbox-row")?.dataset.id === id, third.id);
    await p.reload();
    await row(p, first.id).waitFor();
    assert.deepEqual(await rows(p), order.toReversed());
    await p.getByRole("button", { name: "Order: Newest first" }).click();
    await p.getByRole("menuitem", { name: "Longest waiting first" }).click();
    await p.waitForFunction((id) => document.querySelector(".inbox-row")?.dataset.id === id, first.id);

    await row(p, second.id).click();
    await p.getByRole("heading", { level: 2, name: "Luis Vega" }).waitFor();
    await p.getByRole("button", { name: "Assign to me: Luis Vega" }).click();
    await row(p, second.id).locator(".inbox-chip", { hasText: "You" }).waitFor();
    assert.equal((await rows(p)).length, 3);
    await p.getByRole("button", { name: "Reply: Luis Vega" }).click();
    await p.waitForFunction(() => document.activeElement?.matches("textarea"));
    await p.keyboard.type("On a shoulder, yes.");
    await p.keyboard.press("Enter");
    await p.locator(".inbox-bubble", { hasText: "On a shoulder, yes." }).waitFor();
    await p.getByRole("button", { name: "Reply: Luis Vega" }).waitFor({ state: "detached" });
    assert.equal((await rows(p)).length, 3);
    await shot(p, "inbox-waiting");
    await accessible(p, "the list of those who wait");
    await p.getByRole("button", { name: "Mine", exact: false }).first().click();
    await row(p, first.id).waitFor({ state: "detached" });
    await p.getByRole("button", { name: /^Unassigned/ }).click();
    await row(p, first.id).waitFor();
    assert.deepEqual(await rows(p), [order[0], order[2]]);
  });

  it("are resolved one after the other, which is undone as it was", async (t) => {
    const p = await inbox(t, ana);
    await row(p, first.id).click();
    await p.locator(".inbox-bubble", { hasText: "pier 7" }).waitFor();
    const before = await one(first.id);
    await p.getByRole("button", { name: /^Resolve: / }).click();
    await p.locator(".inbox-bubble", { hasText: "parrot" }).waitFor(); // the next one
    await row(p, first.id).waitFor({ state: "detached" });
    assert.equal((await one(first.id)).state, "resolved");
    await p.getByRole("button", { name: "Undo" }).click();
    await p.locator(".inbox-bubble", { hasText: "pier 7" }).waitFor();
    await row(p, first.id).waitFor();
    const after = await one(first.id);
    for (const field of ["state", "assignee", "waiting_at"]) assert.equal(after[field], before[field], field);
    assert.deepEqual((await rows(p))[0], "Is there a lift at pier 7?");

    await p.getByRole("button", { name: "Available" }).click();
    const next = p.getByRole("switch", { name: "Open the next one after resolving" });
    await next.press("Space"); // a click would have to wait for the menu to stand still
    await next.and(p.locator(":not(:checked)")).waitFor({ state: "attached" });
    await p.keyboard.press("Escape");
    await p.getByRole("button", { name: /^Resolve: / }).click();
    await p.getByText("Conversation resolved").first().waitFor();
    await p.getByRole("button", { name: /^Reopen: / }).waitFor(); // it stays open
    await p.getByRole("button", { name: "Open next" }).click();
    await p.locator(".inbox-bubble", { hasText: "parrot" }).waitFor();
  });

  it("are assigned, tagged and resolved together", async (t) => {
    for (const options of [{}, { viewport: { width: 390, height: 780 }, colorScheme: "dark" }]) {
      const p = await inbox(t, ana, options);
      await row(p, third.id).waitFor();
      await p.getByRole("button", { name: "Select", exact: true }).click();
      const bar = p.getByRole("toolbar", { name: "Selected conversations" });
      await row(p, first.id).click();
      await row(p, third.id).click();
      await bar.getByText("2 selected").waitFor();
      await fits(p, "a selection");
      await accessible(p, "a selection");
      await shot(p, "inbox-bulk" + (options.viewport ? "-phone" : ""));
      await bar.getByRole("button", { name: "Tag" }).click();
      await p.getByRole("textbox", { name: "Tag" }).fill("pier");
      await p.getByRole("button", { name: "Add tag" }).click();
      await p.getByText("2 conversations tagged").waitFor();
      assert.deepEqual((await one(third.id)).tags, ["pier"]);
      await p.getByRole("button", { name: "Undo" }).click();
      await until(async () => (await one(third.id)).tags.length === 0, "the tag is taken away");
      await p.getByText("2 conversations tagged").waitFor({ state: "detached" });

      await p.getByRole("button", { name: "Select", exact: true }).click();
      await bar.getByRole("button", { name: "All loaded" }).click();
      await bar.getByText("3 selected").waitFor();
      await bar.getByRole("button", { name: "Resolve" }).click();
      await p.getByText("3 conversations resolved").waitFor();
      for (const c of [first, second, third]) assert.equal((await one(c.id)).state, "resolved");
      await p.getByRole("button", { name: "Undo" }).click();
      for (const c of [first, second, third]) await until(async () => (await one(c.id)).waiting_at, "it waits again");
      await row(p, third.id).waitFor();
      await p.getByText("3 conversations resolved").waitFor({ state: "detached" });
    }
    const p = await inbox(t, ana);
    await row(p, second.id).click();
    await p.locator(".inbox-bubble", { hasText: "parrot" }).waitFor();
    await p.keyboard.press("x");
    const bar = p.getByRole("toolbar", { name: "Selected conversations" });
    await bar.getByText("1 selected").waitFor();
    await bar.getByRole("button", { name: "Assign" }).click();
    await p.getByRole("menuitem", { name: "Assign to me" }).click();
    await p.getByText("Conversation assigned").waitFor();
    assert.equal((await one(second.id)).state, "active");
    assert.equal(await row(p, second.id).count(), 1);
    await p.getByRole("button", { name: "Undo" }).click();
    await until(async () => (await one(second.id)).waiting_at, "it waits again");
  });
});

describe("what the agent left open", () => {
  beforeEach(async () => {
    company = await newCompany();
  });

  it("is listed with its question, and leads to the knowledge", async (t) => {
    const text = "Is there life in the cave of plugh?";
    await asks(text);
    const { id } = await until(async () => {
      const { data } = await call("GET", "/panel/v1/conversations?folder=unanswered", company.token);
      return data.find((c) => c.unanswered === text);
    }, "the agent leaves it open");
    const p = await open(t, company, "/inbox?folder=unanswered");
    await row(p, id).waitFor();
    assert.deepEqual(await rows(p), [text]);
    await row(p, id).click();
    await p.getByText(`The agent couldn't answer: “${text}”`).waitFor();
    await accessible(p, "an unanswered question");
    await shot(p, "inbox-unanswered");
    await p.getByRole("link", { name: "Answer in knowledge" }).click();
    await p.getByText(text).first().waitFor();
  });
});

describe("a teammate who looks away", () => {
  beforeEach(async () => {
    company = await newCompany();
  });

  it("chooses notices, and quiet hours", async (t) => {
    const p = await open(t, company, "/account");
    const card = p.locator(".card", { has: p.getByRole("heading", { name: "Notifications" }) });
    await card.getByRole("switch", { name: "Push notifications" }).waitFor();
    await card.getByLabel("From").fill("22:00");
    await card.getByLabel("To", { exact: true }).fill("07:00");
    await card.getByRole("button", { name: "Save" }).click();
    await p.getByText("Saved").first().waitFor();
    const kept = (await call("GET", "/panel/v1/inbox/notices", company.token)).choice;
    assert.equal(kept.quiet_from + "-" + kept.quiet_to, "22:00-07:00");
    assert.ok(kept.zone);
    await card.getByRole("switch", { name: "Push notifications" }).uncheck({ force: true });
    await until(
      async () => !(await call("GET", "/panel/v1/inbox/notices", company.token)).choice.push,
      "push messages are off",
    );
    await accessible(p, "the notices of an account");
    await shot(p, "notices-account");
    // The worker that shows push messages is installed, and controls no page.
    await p.evaluate(() => navigator.serviceWorker.register("/panel/push/worker.js", { scope: "/panel/push/" }));
    await p.evaluate(async () => {
      const wide = await navigator.serviceWorker.register("/panel/push/worker.js", { scope: "/panel/" }).then(
        () => "registered",
        () => "refused",
      );
      if (wide !== "refused") throw new Error("a worker for all pages was " + wide);
    });
    assert.equal(await p.evaluate(() => navigator.serviceWorker.controller), null);

    await p.goto(company.panel_url + "/settings");
    const team = p.locator(".card", { has: p.getByRole("heading", { name: "Inbox" }) });
    await team.getByRole("switch", { name: "Show names and questions" }).check({ force: true });
    await team.getByRole("button", { name: "Save" }).click();
    await p.getByText("Saved").first().waitFor();
    assert.equal((await call("GET", "/panel/v1/inbox/notices", company.token)).team.show_text, true);
    await accessible(p, "the notices of a team");
    await shot(p, "notices-team");
  });

  it("writes a first canned reply, and learns that a visitor has left", async (t) => {
    const { id } = await waits("Where do I park?", { name: "Luis", email: "luis@example.com" });
    const p = await open(t, company, "/inbox");
    await p.route(`**/panel/v1/conversations/${id}/reach*`, (route) =>
      route.fulfill({ json: { connected: false, by_mail: true } }),
    );
    await row(p, id).click();
    await p.locator(".inbox-bubble", { hasText: "Where do I park?" }).waitFor();
    await p.getByText("The visitor has left. Your reply goes to luis@example.com by e-mail.").waitFor();
    await p.getByRole("textbox", { name: "Reply" }).fill("/");
    await p.getByText("No canned replies yet").waitFor();
    await accessible(p, "no canned replies");
    await p.getByRole("button", { name: "Create a canned reply" }).click();
    await p.getByRole("dialog", { name: "Canned replies" }).getByLabel("Shortcut").fill("park");
  });
});
