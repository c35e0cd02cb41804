// What was sent: the list as it changes, one notification and its messages, and what can be done about them.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { accessible, looks, shot } from "../browser.mjs";
import { call, member, newCompany, open, until } from "../world.mjs";
import { chip, narrow } from "../lists.mjs";
import { find, row, send, withKey } from "../sent.mjs";

let company;

const several = ["34600200001", "34600200005", "34600200006", "34600200099", "34600200098", "34600200098"];
const became = { read: 2, delivered: 1, skipped: 1, failed: 2 };

describe("what was sent", () => {
  beforeEach(async () => {
    company = await newCompany();
  });

  it("begins with nothing, appears as it is accepted, and changes in its place", async (t) => {
    const p = await open(t, company, "/notifications");
    await p.getByText("Nothing sent yet").waitFor();
    await accessible(p, "nothing sent");
    await shot(p, "notifications-empty");
    const slow = await send(company, ["34600110009"]);
    await row(p, slow)
      .locator(".tag", { hasText: /Queued|Sending|Sent/ })
      .waitFor();
    const mixed = await send(company, several, { name_event: "after-sale" });
    await row(p, mixed).waitFor();
    const at = await row(p, slow).boundingBox();
    await row(p, slow).hover();
    const more = await send(company, ["34600300001"]);
    await p.getByRole("button", { name: "1 new message" }).waitFor();
    await row(p, slow)
      .locator(".tag", { hasText: /Delivered|Read/ })
      .waitFor();
    assert.deepEqual(await row(p, slow).boundingBox(), at, "the row moved");
    assert.equal(await row(p, more).count(), 0);
    await p.getByRole("button", { name: "1 new message" }).click();
    await row(p, more)
      .getByText(/This number can't be reached/)
      .waitFor();
    await row(p, more).locator(".tag.danger", { hasText: "Failed" }).waitFor();
    await row(p, mixed).locator(".tag.warn", { hasText: "Partly failed" }).waitFor();
    assert.equal(await p.locator("[data-list]").getByText("Completed").count(), 0, "a state without an outcome");
    await row(p, mixed)
      .getByText(/2 failed/)
      .waitFor();
    await row(p, mixed).getByText("2 read · 1 delivered · 1 skipped · 2 failed").waitFor();
    await shot(p, "notifications-list");
  });
});

describe("what was sent to several", () => {
  let mixed; // some got it, some could not
  beforeEach(async () => {
    company = await newCompany();
    mixed = await send(company, several, { name_event: "after-sale" });
    await until(async () => isDeepStrictEqual((await find(company, mixed)).counts, became), "all is known");
    await send(company, ["34600300001"]);
  });

  it("is narrowed by the address, found by any id, and walked through by keys", async (t) => {
    const p = await open(t, company, "/notifications?campaign=nothing");
    await p.getByText("No messages match these filters").waitFor();
    await p.getByRole("button", { name: "Clear filters" }).first().click();
    await row(p, mixed).waitFor();
    await narrow(p, "Number", { text: "+34 600 200 006" });
    await p.waitForURL(/number=/);
    await until(async () => (await p.locator("tbody tr").count()) === 1, "one is left");
    await p.reload();
    await row(p, mixed).waitFor();
    assert.equal(await p.locator("tbody tr").count(), 1);
    await chip(p, "number").getByText("+34 600 200 006").click(); // a chip is edited in its place
    await p.getByRole("dialog", { name: "Number" }).getByRole("textbox").fill("not a number");
    await p.getByText("This isn't valid.").waitFor();
    await p.keyboard.press("Escape");
    await chip(p, "number").getByRole("button", { name: "Remove filter: Number" }).click();
    await until(async () => (await p.locator("tbody tr").count()) > 1, "all are there again");
    await narrow(p, "Channel", { value: "Calls" });
    await p.getByText("No messages match these filters").waitFor();
    await chip(p, "channel").getByText("Calls").waitFor();
    await accessible(p, "a list with filters");
    await shot(p, "notifications-filters");
    await p.getByRole("button", { name: "Clear filters" }).first().click();
    await row(p, mixed).waitFor();
    await narrow(p, "Status", { value: "Failed or partly failed" });
    await p.waitForURL(/state=failed/);
    await row(p, mixed).waitFor();

    await p.getByRole("button", { name: "Dates: Any time" }).click();
    await p.getByRole("button", { name: "Last 7 days" }).click();
    await p.waitForURL(/range=7d/);
    await row(p, mixed).waitFor();
    await p.getByRole("button", { name: "Dates: Last 7 days" }).click();
    await p.getByRole("button", { name: "Custom…" }).click();
    await p.getByRole("button", { name: "Previous month" }).click();
    const days = p.getByRole("dialog", { name: "Dates" }).getByRole("button", { name: /^\d+ \w+ \d{4}$/ });
    await days.filter({ hasText: /^5$/ }).first().click();
    await days.filter({ hasText: /^9$/ }).first().click();
    await accessible(p, "days of a list");
    await shot(p, "notifications-days");
    await p.getByRole("button", { name: "Apply" }).click();
    await p.waitForURL(/from=\d{4}-\d\d-05.*to=\d{4}-\d\d-09/);
    await p.getByText("No messages match these filters").waitFor();
    await p.getByRole("button", { name: "Clear filters" }).first().click();
    await p.waitForURL((u) => !/from|range|state/.test(u.search));
    await row(p, mixed).waitFor();

    await p.locator("h1").click();
    await p.keyboard.press("j");
    await p.keyboard.press("j");
    await p.keyboard.press("k");
    await p.keyboard.press("Enter");
    await p.waitForURL(/notifications\/[0-9a-f-]{36}/);
    await p.goBack();
    await row(p, mixed).waitFor();

    const all = await find(company, mixed);
    const failed = all.recipients.find((r) => r.number === "34600200005");
    assert.ok(failed.provider_id);
    await p.keyboard.press("/");
    await p.keyboard.type(failed.provider_id);
    await p.keyboard.press("Enter");
    await p.waitForURL(new RegExp(`${mixed}\\?m=1`));
    await p.getByRole("heading", { name: /Message to Bea 1/ }).waitFor();
    await p.keyboard.press("Control+k");
    await p.getByPlaceholder("Search or jump to…").fill(failed.message_id);
    await p.locator(".palette [data-action]", { hasText: failed.message_id }).waitFor(); // Enter takes what is listed
    await p.keyboard.press("Enter");
    await p.locator(".palette").waitFor({ state: "hidden" });
    await p.getByRole("heading", { name: /Message to Bea 1/ }).waitFor();
    await p.keyboard.press("Control+k");
    await p.getByPlaceholder("Search or jump to…").fill("+34 600 200 006");
    await p.locator(".palette [data-action]", { hasText: "34600200006" }).click();
    await p.locator(".palette").waitFor({ state: "hidden" });
    await p.waitForURL(/number=(%22)?34600200006/);
    await p.keyboard.press("/");
    await p.keyboard.type("wamid.nobody-knows-it1");
    await p.keyboard.press("Enter");
    await p.getByText("No message has this ID").waitFor();
  });

  it("is selected, and what fits is sent again or canceled together; what could not be is named", async (t) => {
    const waits = await send(company, ["34600400099"], { datetime_sending: "2098-01-01T10:00:00", timezone: "UTC" });
    const p = await open(t, company, "/notifications");
    await row(p, waits).waitFor();
    const boxes = p.getByRole("checkbox", { name: /^Select / });
    await boxes.nth(1).click(); // the first is that of all
    await boxes.nth(3).click({ modifiers: ["Shift"] });
    await p.getByText("3 selected").waitFor();
    await accessible(p, "selected rows");
    await shot(p, "notifications-selected");
    await p.getByRole("button", { name: "Resend to failed" }).click();
    const form = p.getByRole("dialog");
    await form.getByText("1 selected row doesn't allow this and will be skipped.").waitFor();
    await accessible(p, "an action for several");
    await form.getByRole("button", { name: "Resend 2" }).click();
    await form.getByText("0 of 2 done · 2 failed").waitFor(); // what is unlikely to arrive is not sent blindly
    await form.getByText("Unlikely to succeed").first().waitFor();
    await shot(p, "notifications-not-resent");
    await form.getByRole("button", { name: "Close" }).last().click();
    await p.getByText("2 selected").waitFor(); // what failed stays selected
    await p.getByRole("button", { name: "Resend to failed" }).click();
    await form.getByRole("checkbox", { name: "Include people unlikely to get it" }).check();
    await form.getByRole("button", { name: "Resend 2" }).click();
    await form.getByText("2 of 2 done").waitFor();
    await form.getByRole("button", { name: "Close" }).last().click();
    const again = (await call("GET", "/panel/v1/notifications?limit=2", company.token)).data;
    const to = await Promise.all(again.map(async (n) => (await find(company, n.notification_id)).recipients));
    assert.deepEqual(to.map((all) => all.map((r) => r.number).join()).sort(), [
      "34600200001,34600200005",
      "34600300001",
    ]);

    await row(p, waits).getByRole("checkbox").focus();
    await p.keyboard.press("x");
    const [file] = await Promise.all([
      p.waitForEvent("download"),
      p.getByRole("button", { name: "Export CSV" }).click(),
    ]);
    assert.equal(file.suggestedFilename(), "messages.csv");
    await p.getByRole("button", { name: "Cancel", exact: true }).click();
    await p.getByRole("dialog").getByRole("button", { name: "Cancel 1" }).click();
    await p.getByRole("dialog").getByText("1 of 1 done").waitFor();
    await p.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();
    await row(p, waits).getByText("Canceled").waitFor();
  });

  it("has columns and views that are kept", async (t) => {
    const p = await open(t, company, "/notifications?state=failed&range=7d");
    await row(p, mixed).waitFor();
    await row(p, mixed).getByRole("checkbox").check();
    await looks(p, "notifications-of-a-week");
    await p.getByRole("button", { name: "Deselect all" }).click();
    await p.getByRole("button", { name: "Columns" }).click();
    await p.getByRole("menuitemcheckbox", { name: "Sender" }).click();
    await p.keyboard.press("Escape");
    await p.getByRole("columnheader", { name: "Sender" }).waitFor({ state: "detached" });
    await p.getByRole("button", { name: "Views" }).click();
    await p.getByRole("menuitem", { name: "Save view" }).click();
    await p.getByLabel("Name").fill("Failed this week");
    await accessible(p, "saving a view");
    await p.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await p.getByRole("button", { name: "Clear filters" }).first().click();
    await p.waitForURL((u) => !u.search.includes("state"));
    await p.getByRole("button", { name: "Columns" }).click();
    await p.getByRole("menuitemcheckbox", { name: "Sender" }).click();
    await p.keyboard.press("Escape");
    await p.reload();
    await p.getByRole("columnheader", { name: "Sender" }).waitFor();
    await p.getByRole("button", { name: "Views" }).click();
    await shot(p, "notifications-views");
    await p.getByRole("menuitem", { name: "Failed this week" }).click();
    await p.waitForURL(/range=7d/);
    assert.match(p.url(), /state=failed/);
    await p.getByRole("columnheader", { name: "Sender" }).waitFor({ state: "detached" });
    await row(p, mixed).waitFor();
  });

  it("has a page that explains every failure, with what the phone showed", async (t) => {
    const p = await open(t, company, "/notifications/" + mixed);
    await p.getByRole("heading", { name: /Message to Ana 0/ }).waitFor();
    await p.getByText("This number can't be reached on WhatsApp").last().waitFor();
    await p.getByText("Check the number.").waitFor();
    await p.getByText("sandbox: refused, by the number").waitFor();
    await p.locator(".preview").getByText("Hello Ana 0, this is Carillon.").waitFor();
    await p.getByText("No flow handles this event").waitFor();
    await shot(p, "notification-page");
    await p.getByRole("button", { name: /^Delivered/ }).click();
    await p.waitForURL(/state=delivered/);
    await p.getByRole("heading", { name: /Message to Carla 2/ }).waitFor();
    await until(
      async () => (await p.getByRole("region", { name: "Recipients" }).locator("tbody tr").count()) === 1,
      "one is delivered",
    );
    const steps = await p
      .getByRole("region", { name: /^Message to/ })
      .locator(".sent-timeline")
      .locator("li > span")
      .allInnerTexts();
    assert.deepEqual(
      steps.map((s) => s.split("\n")[0]),
      [
        "Accepted",
        "Sending",
        "Accepted by WhatsApp",
        "Delivered to the device",
        "Not read yet. Many people turn read receipts off.",
      ],
    );
    assert.match(steps[3], /after [\d.,]+ (ms|s)/);
    await p.getByRole("button", { name: /^Skipped/ }).click();
    await p.getByRole("cell", { name: "Duplicate in the same request" }).waitFor();

    await p.getByRole("button", { name: "More actions" }).click();
    await p.getByRole("menuitem", { name: "Copy as curl" }).click();
    await p.getByText("Set CARILLON_ACCESS_KEY to an API key first").waitFor();
    const command = await p.evaluate(() => navigator.clipboard.readText());
    assert.match(command, /access_key=\$CARILLON_ACCESS_KEY"/);
    assert.ok(!command.includes(company.access_key));
    const body = JSON.parse(/-d '([^]+)'$/.exec(command)[1]);
    assert.equal(body.contacts.length, 6);
  });

  it("is sent again to those who failed, once, and says to whom it cannot be", async (t) => {
    await call("POST", withKey(company, "/functions/v1/suppressions"), "", { number: "34600200005" });
    const p = await open(t, company, "/notifications/" + mixed);
    await p.getByRole("button", { name: "Resend to failed" }).click();
    const form = p.getByRole("dialog");
    await form.getByText("The number has opted out").waitFor();
    await form.getByText("Unlikely to succeed").waitFor();
    await accessible(p, "sending again");
    await shot(p, "notification-resend");
    await form.getByRole("checkbox").check();
    await form.getByRole("button", { name: "Send to 1" }).click();
    await p.getByText("Resent to the failed recipients of").waitFor();
    const again = new URL(p.url()).pathname.split("/").pop();
    assert.notEqual(again, mixed);
    assert.deepEqual(
      (await find(company, again)).recipients.map((r) => r.number),
      ["34600200001"],
    );
    await until(async () => (await find(company, again)).recipients[0].state === "failed", "it fails again");
    await p.getByRole("button", { name: "Send again" }).click();
    const one = p.getByRole("dialog", { name: "Send again?" });
    await one.getByText("Unlikely to succeed").waitFor();
    await accessible(p, "sending to one again");
    await shot(p, "notification-again");
    await one.getByLabel("Number").fill("+34 600 200 0");
    await one.getByLabel("Number").fill("+34 600 200 007");
    await one.getByRole("button", { name: "Send to this number" }).click();
    await p.getByRole("heading", { name: /^Message to/ }).waitFor();
    await p.waitForURL((u) => !u.pathname.includes(again));
    const other = new URL(p.url()).pathname.split("/").pop();
    assert.deepEqual(
      (await find(company, other)).recipients.map((r) => r.number),
      ["34600200007"],
    );
    await p.goto(company.panel_url + "/notifications/" + again);
    await p.getByRole("link", { name: "another message" }).click();
    await p.getByText("Resent to failed recipients as").waitFor();
    await p.getByRole("button", { name: "Resend to failed" }).click();
    await p.getByRole("dialog").getByText("Unlikely to succeed").waitFor(); // what failed again can be sent again
    await p.getByRole("dialog").getByText("The number has opted out").waitFor();
  });

  it("is sent again to corrected numbers, and says why no one is selected", async (t) => {
    const failed = await send(company, ["34600710001", "34600720001"]);
    await until(async () => (await find(company, failed)).recipients.every((r) => r.state === "failed"), "it fails");
    const p = await open(t, company, "/notifications/" + failed);
    await p.getByRole("button", { name: "Resend to failed" }).click();
    const form = p.getByRole("dialog");
    await form.getByText("No one is selected").waitFor();
    await form.getByText("Select the recipients to send to.").waitFor();
    assert.ok(await form.getByRole("button", { name: "Send to 0" }).isDisabled());
    await form.getByRole("button", { name: /^Correct the number of Ana 0/ }).click();
    const number = form.getByLabel(/^Number of Ana 0/);
    await number.fill("+34 6");
    await form.getByText("Enter a phone number with its country code.").waitFor();
    assert.ok(await form.getByRole("button", { name: "Send to 1" }).isDisabled());
    await accessible(p, "correcting a number");
    await shot(p, "notification-correct");
    await number.fill("+34 600 710 007");
    await form.getByRole("button", { name: "Send to 1" }).click();
    await p.waitForURL((u) => /\/notifications\//.test(u.pathname) && !u.pathname.includes(failed));
    const other = new URL(p.url()).pathname.split("/").pop();
    assert.deepEqual(
      (await find(company, other)).recipients.map((r) => r.number),
      ["34600710007"],
    );
  });

  it("leads from a number that no message reaches to a call", async (t) => {
    const p = await open(t, company, "/notifications/" + mixed);
    const card = p.getByRole("region", { name: /^Message to/ });
    await card.getByRole("link", { name: "Call instead" }).click();
    await p.waitForURL(/\/send\?tab=call/);
    await p.getByRole("button", { name: /^Remove \+34 600 200 001/ }).waitFor(); // who is called
    await p.getByRole("combobox", { name: "Agent" }).click();
    await p.getByRole("option", { name: "Reception" }).click();
    await p.getByRole("button", { name: "Call now" }).click();
    await p.getByRole("heading", { name: /^To .*600 200 001/ }).waitFor();
    await p.getByRole("link", { name: "Open call" }).click();
    await p.waitForURL(/\/calls\//);
    const called = new URL(p.url()).pathname.split("/").pop();
    const call = await find(company, called);
    assert.deepEqual([call.channel, call.recipients[0].number], ["voice", "34600200001"]);
    assert.equal(call.campaign_name, (await find(company, mixed)).campaign_name, "it counts in the same campaign");
  });

  it("is sent again to the failed of a campaign, except to those whom no message reaches", async (t) => {
    const name = "morning tours";
    await send(company, ["34600600001", "34600600011", "34600600005"], { campaign_name: name });
    const counted = async () =>
      (await call("GET", "/panel/v1/campaigns", company.token)).data.find((x) => x.name === name) ?? {};
    await until(async () => (await counted()).failed === 2, "it is counted in the background");
    const p = await open(t, company, "/campaigns/" + encodeURIComponent(name));
    await p.getByRole("button", { name: "Resend to failed" }).click();
    const form = p.getByRole("dialog", { name: "Resend to failed" });
    await form.getByText(/^2 messages failed/).waitFor();
    await accessible(p, "sending a campaign's failed messages again");
    await form.getByRole("button", { name: "Resend" }).click();
    await form.getByText("0 resent, 2 skipped").waitFor();
    await form.getByRole("button", { name: "Close" }).last().click();
    await form.waitFor({ state: "detached" });
    assert.equal((await counted()).recipients, 3, "somebody got a second message");
  });

  it("is moved and canceled while it waits, by who may", async (t) => {
    const later = await send(company, ["34600400099", "34600400098"], {
      datetime_sending: "2098-01-01T10:00:00",
      timezone: "UTC",
    });
    const other = await open(t, company, "/notifications/" + later, {}, await member(company, "Vic", "viewer"));
    await other
      .getByText(/^Scheduled for /)
      .first()
      .waitFor();
    assert.equal(
      (await other.getByRole("button", { name: "Reschedule" }).count()) +
        (await other.getByRole("button", { name: "Cancel" }).count()),
      0,
      "a viewer is offered to change it",
    );

    const p = await open(t, company, "/notifications?state=scheduled", { timezoneId: "Europe/Madrid" });
    await row(p, later)
      .locator("[data-column=state]")
      .getByText(/^Scheduled for /)
      .waitFor();
    await row(p, later).getByRole("link").click();
    await p.getByRole("button", { name: "Reschedule" }).click();
    await p.getByLabel("Date and time").fill("2098-02-01T09:30");
    const zone = p.getByRole("combobox", { name: "Time zone" });
    await zone.click();
    await zone.fill("Lima");
    await p.getByRole("option", { name: "America/Lima" }).click();
    await p.getByText("Feb 1, 2098, 3:30 PM in your time zone").waitFor();
    await accessible(p, "moving");
    await shot(p, "notification-move");
    await p.getByRole("dialog").getByRole("button", { name: "Reschedule" }).click();
    await p
      .getByText(/^Rescheduled to/)
      .first()
      .waitFor();
    assert.equal((await find(company, later)).scheduled_time, "2098-02-01T14:30:00Z");
    await p.getByRole("button", { name: "Cancel" }).click();
    await p.getByRole("dialog").getByText("2 of 2 haven't been sent yet and won't be.").waitFor();
    await p.getByRole("dialog").getByRole("button", { name: "Cancel message" }).click();
    await p.getByText("Canceled for 2; 0 were already sent").waitFor();
    await p.locator(".sent-head").getByText("Canceled").waitFor();
    await other.locator(".sent-head").getByText("Canceled").waitFor();
    assert.equal((await find(company, later)).state, "canceled");

    const { notification_id: phoned } = await call("POST", withKey(company, "/functions/v1/notify/voice"), "", {
      contact: { number: "34600300099", first_name: "Rui" },
      recipient_id: "demo-line",
      agent_id: company.agent_id,
      notification_type: "transactional",
      campaign_name: "calls",
      datetime_sending: "2098-01-01T10:00:00",
    });
    await p.goto(company.panel_url + "/notifications?channel=voice");
    await row(p, phoned).getByRole("link", { name: "Reception" }).click();
    await p.getByRole("link", { name: "Open call" }).waitFor();
    await p.getByRole("button", { name: "Cancel" }).click();
    await p.getByRole("dialog").getByRole("button", { name: "Cancel message" }).click();
    await p.locator(".sent-head").getByText("Canceled").waitFor();
  });

  it("is summed up by campaign, with why some were not reached, and as a file", async (t) => {
    const name = "spring / 50% & more";
    await send(company, ["34600500001", "34600500002", "34600500099", "34600500098", "34600500006"], {
      campaign_name: name,
    });
    const p = await open(t, company, "/campaigns", { clock: true });
    const line = p.locator(`tr[data-id="${name}"]`);
    await until(
      async () =>
        (await call("GET", "/panel/v1/campaigns", company.token)).data.some((x) => x.name === name && x.failed === 1),
      "it is counted in the background",
    );
    await p.clock.fastForward(10_000); // after which the page asks by itself
    await line.getByText(/1 failed/).waitFor();
    await shot(p, "campaigns");
    await line.getByRole("link").click();
    await p.getByRole("heading", { name, level: 1 }).waitFor();
    const why = p.getByRole("region", { name: "Failure reasons" });
    await why.getByRole("button", { name: /This number can't be reached on WhatsApp/ }).waitFor();
    await until(
      async () => (await p.getByRole("region", { name: "Recipients" }).locator("tbody tr").count()) === 5,
      "all are listed",
    );
    await shot(p, "campaign");
    await why.getByRole("button", { name: /This number can't be reached/ }).click();
    await p.waitForURL(/reason=undeliverable/);
    await until(
      async () => (await p.getByRole("region", { name: "Recipients" }).locator("tbody tr").count()) === 1,
      "one was not reached",
    );
    await p.reload();
    await p.getByRole("region", { name: "Recipients" }).getByRole("link", { name: "+34 600 500 001" }).waitFor();
    const href = await p.getByRole("link", { name: "Export this selection" }).getAttribute("href");
    const file = await p.evaluate(async (path) => (await fetch(path)).text(), href);
    assert.deepEqual(
      file
        .trim()
        .split("\n")
        .map((l) => l.split(",").slice(0, 3).join(",")),
      ["number,state,reason", "34600500001,failed,undeliverable"],
    );
    await p.getByRole("button", { name: "All", exact: true }).click();
    const [download] = await Promise.all([
      p.waitForEvent("download"),
      p.getByRole("link", { name: "Export as CSV" }).click(),
    ]);
    assert.equal(download.suggestedFilename(), "campaign.csv");
    await p.getByRole("region", { name: "Recipients" }).getByRole("link", { name: "+34 600 500 001" }).click();
    await p.getByRole("heading", { name: /^Message to/ }).waitFor();
    await p.goto(company.panel_url + "/campaigns/nothing");
    await p.getByText("Campaign not found").waitFor();
  });

  it("says so when it cannot be loaded", async (t) => {
    const p = await open(t, company, "/notifications");
    let broken = true;
    await p.route("**/panel/v1/notifications?*", (r) =>
      broken
        ? r.fulfill({ status: 400, json: { error: "internal_error", message: "no", request_id: "req_x" } })
        : r.fallback(),
    );
    await p.reload();
    await p.getByRole("alert").getByText("Something went wrong in Carillon.").waitFor();
    broken = false; // and it comes by itself, or by the button
    await row(p, mixed).waitFor();
    await p.goto(company.panel_url + "/notifications/01a211ff-5250-7000-817f-c48c2d9a05b6");
    await p.getByText("Message not found").waitFor();
  });
});
