// What happened: calls of the interface that were refused, and who changed what.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { accessible, dye, shot } from "../browser.mjs";
import { direct, newCompany, open, until } from "../world.mjs";

let company;

const send = (query, body) =>
  fetch(`${direct()}/functions/v1/notify?access_key=${company.access_key}${query}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
const message = {
  contact: { number: "34600000001" },
  recipient_id: "demo",
  name_template: "hello",
  language_template: "en",
  notification_type: "utility",
  campaign_name: "activity",
  components_push: { body_text_0: "Ana" },
};

describe("the activity of a company", () => {
  beforeEach(async () => {
    company = await newCompany();
  });

  it("shows refused calls without secrets, accepted ones, and changes", async (t) => {
    assert.equal((await send("", { ...message, name_template: "activity_nowhere" })).status, 404);
    assert.equal((await send("&unflatten=maybe", { ...message, password: "quiet-and-secret" })).status, 400);
    assert.equal((await send("", '{"contact": {"number": "34')).status, 400);
    const accepted = await send("", message);
    assert.equal(accepted.status, 200);
    const id = (await accepted.json()).notification_id;

    const p = await open(t, company, "/api-log?code=template_not_found");

    // A call, by keyboard: why it was refused, what was asked and responded, and the command that asks again.
    const row = p.getByRole("button", { name: /POST.*\/notify/ }).first();
    await row.waitFor(); // written within a second or two; the list reads itself again
    await row.focus();
    await p.keyboard.press("Enter");
    const drawer = p.getByRole("dialog", { name: "API call" });
    await drawer.getByText("The sender has no template with this name and language.").waitFor();
    await drawer
      .getByText(/activity_nowhere/)
      .first()
      .waitFor();
    await accessible(p, "a call");
    await shot(p, "activity-call");
    await drawer.getByRole("button", { name: "Copy as curl" }).click();
    const command = await p.evaluate(() => navigator.clipboard.readText());
    assert.match(command, /access_key=\$CARILLON_ACCESS_KEY"/);
    assert.match(command, /activity_nowhere/);
    assert.ok(!command.includes(company.access_key));
    const address = new URL(p.url());
    assert.match(address.searchParams.get("id"), /^[0-9a-f-]{36}$/);
    await p.keyboard.press("Escape");
    await drawer.waitFor({ state: "detached" });
    await p.goto(address.href); // the address alone shows the same
    await drawer.getByText("The sender has no template with this name and language.").waitFor();
    await p.setViewportSize({ width: 390, height: 844 });
    await dye(p, "dark");
    await accessible(p, "a call on a phone in a dark room");
    await shot(p, "activity-call-phone");
    await p.setViewportSize({ width: 1440, height: 900 });
    await dye(p, "light");
    await p.keyboard.press("Escape");
    await drawer.waitFor({ state: "detached" });

    // Secrets are gone, and a body that is no JSON is shown as it came.
    await p.getByRole("button", { name: "Clear filters" }).click();
    await p
      .getByRole("button", { name: /\/notify/ })
      .nth(2)
      .waitFor();
    await p.getByText("Invalid parameter format").first().waitFor();
    await p.getByRole("row").filter({ hasText: "Invalid parameter format" }).first().getByRole("button").click();
    await drawer.getByText("unflatten=maybe").waitFor();
    assert.ok(!(await drawer.innerText()).includes("quiet-and-secret"));
    assert.ok(!(await drawer.innerText()).includes(company.access_key));
    await p.keyboard.press("Escape");
    await drawer.waitFor({ state: "detached" });

    // What was accepted leads to its notification.
    await p.goto(company.panel_url + "/api-log?status=accepted");
    await p.getByRole("link", { name: new RegExp(id.slice(-8)) }).waitFor();

    // Changes: a key is made and revoked.
    const key = await p.evaluate(async () => {
      const own = { "X-Carillon-Panel": "1", "Content-Type": "application/json" };
      const made = await (
        await fetch("/panel/v1/keys", { method: "POST", headers: own, body: JSON.stringify({ label: "activity key" }) })
      ).json();
      await fetch("/panel/v1/keys/" + made.id, { method: "DELETE", headers: own });
      return made;
    });
    await p.goto(company.panel_url + "/activity?tab=changes"); // its address before
    await p.getByRole("button", { name: /revoked the API key “activity key”/ }).waitFor();
    await p.getByRole("button", { name: /revoked the API key “activity key”/ }).click();
    const change = p.getByRole("dialog", { name: "Change" });
    await change.getByText("revoked_at").waitFor();
    await accessible(p, "a change");
    await shot(p, "activity-change");
    await change.getByRole("button", { name: "Full history" }).click();
    await p.getByRole("button", { name: /created the API key “activity key”/ }).waitFor();
    await p.waitForURL((url) => url.searchParams.get("object") === key.id);
    await until(async () => (await p.locator("[data-list] tbody tr").count()) === 2, "its two changes are listed");
    assert.ok(!(await p.content()).includes(key.key));
  });
});
