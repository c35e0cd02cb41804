// Messaging senders and the company's settings, as an administrator sets them up. The stand-in for the Cloud API
// has the number 15555550100 with the id 1000001 in the account 2000001.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { beforeEach, describe, it } from "node:test";
import { accessible, looks, shot, visit } from "../browser.mjs";
import { act } from "../lists.mjs";
import { ask, call, direct, newCompany, open, until } from "../world.mjs";

let company;
let token;

/** answers is what a callback of the number's channel is answered with, signed with its app's secret. */
async function callback(sender, body, secret) {
  const text = JSON.stringify(body);
  const r = await fetch(`${direct()}/callbacks/whatsapp/${sender}`, {
    method: "POST",
    body: text,
    headers: {
      "Content-Type": "application/json",
      "X-Hub-Signature-256": "sha256=" + createHmac("sha256", secret).update(text).digest("hex"),
    },
  });
  return r.status;
}

describe("a number at Meta", () => {
  beforeEach(async () => {
    company = await newCompany();
    token = company.token;
  });

  it("is connected step by step, checked, mended, and sends", async (t) => {
    const p = await open(t, company, "/senders");
    await p.clock.install(); // a sender's page asks every five seconds how it is
    await p.getByRole("row", { name: /demo/ }).getByText("Ready").waitFor();
    await shot(p, "senders");
    await p.getByRole("link", { name: "New number" }).click();

    // The number, then where it is at Meta.
    await p.getByRole("button", { name: "Next" }).click();
    await p.getByText("Required").waitFor();
    await p.getByText(/Meta can't reach this address/).waitFor(); // said before anybody fills anything in
    for (const wrong of ["abc", "+1 555"]) {
      await p.getByLabel("Number", { exact: true }).fill(wrong);
      await p.getByRole("button", { name: "Next" }).click();
      await p.getByText("Enter a phone number with its country code").waitFor();
    }
    await p.getByLabel("Number", { exact: true }).fill("+1 (555) 555-0100");
    await p.getByLabel(/^ID/).fill("clinic");
    await accessible(p, "the first step");
    await p.getByRole("button", { name: "Next" }).click();
    await p.getByLabel("Phone number ID").fill("+1 555 555 0100");
    await p.getByLabel("WhatsApp Business Account ID").fill("2000001");
    await p.keyboard.press("Enter");
    await p.getByText("A long number of digits, not the phone number").waitFor();
    await p.getByLabel("Phone number ID").fill("1000001");
    await p.getByLabel("WhatsApp Business Account ID").fill("2000001");
    await p.keyboard.press("Enter");

    // Access: an address inside the network that is not allowed, then a token that Meta does not take.
    await p.getByLabel("Access token", { exact: true }).first().fill("a-wrong-token");
    await p.getByLabel("App secret", { exact: true }).first().fill("provider-app-secret");
    assert.match(await p.getByLabel("Verify token").inputValue(), /^[\w-]{24}$/);
    await p.getByText("Advanced").click();
    await p.getByLabel("API URL").fill("https://10.0.0.1");
    await p.getByRole("button", { name: "Test connection" }).click();
    await p
      .getByText(/reached from the internet/)
      .first()
      .waitFor();
    await p.getByLabel("API URL").fill(await ask("graph"));
    await p.getByRole("button", { name: "Test connection" }).click();
    const list = p.getByRole("list", { name: "Check" });
    await list.getByText("Meta doesn't accept it.").waitFor();
    await list.getByText(/Generate one for a system user and paste all of it/).waitFor();
    await accessible(p, "a check before anything is stored");
    await shot(p, "senders-new-check");
    await p.getByRole("button", { name: "Save and continue" }).click();

    // Callbacks: what to paste at Meta, which then makes sure of the address.
    await p.waitForURL(/\/senders\/clinic\/connect/);
    await p.getByText("Waiting for Meta to verify the URL…").waitFor();
    await p.getByText(/Meta can't reach this address/).waitFor();
    await p.getByRole("button", { name: "Copy callback URL" }).click();
    const url = await p.evaluate(() => navigator.clipboard.readText());
    assert.equal(url, company.base_url + "/callbacks/whatsapp/clinic");
    await p.getByRole("button", { name: "Copy verify token" }).click();
    const verify = await p.evaluate(() => navigator.clipboard.readText());
    await accessible(p, "the callbacks");
    await p.getByRole("button", { name: "Run checks" }).click();
    const webhook = p.getByRole("list", { name: "Steps" }).getByRole("listitem").filter({ hasText: "Webhook" });
    await webhook.getByText("not verified yet").waitFor();
    await p.getByText(/^Not checked: /).waitFor(); // one line for what could not be asked
    await p.getByRole("button", { name: "Back" }).click();
    await shot(p, "senders-callbacks");
    await p.getByRole("button", { name: "Back", exact: true }).click(); // to what is stored, which can be corrected
    await p.waitForURL(/step=access/);
    await p.getByLabel("App secret").first().waitFor();
    await accessible(p, "the access of a stored number");
    await shot(p, "senders-access");
    await p.getByRole("button", { name: "Next" }).click();
    await p.getByText("Waiting for Meta to verify the URL…").waitFor();
    const proof = await fetch(direct(url) + "?hub.mode=subscribe&hub.challenge=4711&hub.verify_token=" + verify);
    assert.equal(await proof.text(), "4711");
    await p.getByText(/Verified /).waitFor();

    // The check says what is wrong; the token is replaced on the sender's page, and what else is wrong is mended there.
    await p.getByRole("button", { name: "Run checks" }).click();
    await list.getByText("Meta doesn't accept it.").waitFor();
    await webhook.getByText("done").waitFor();
    await p.getByRole("link", { name: "Finish" }).click();
    await p.getByRole("heading", { name: "+1 555 555 0100" }).waitFor();
    assert.equal(
      await p.getByLabel("Access token", { exact: true }).first().inputValue(),
      "",
      "the token is not read back",
    );
    assert.ok(!(await p.content()).includes("a-wrong-token"));
    await p.getByLabel("Access token", { exact: true }).first().fill("provider-token");
    await p.getByLabel("Messages per second").fill("20");
    await p.getByRole("region", { name: "Save" }).getByRole("button", { name: "Save", exact: true }).click();
    await p.getByRole("region", { name: "Save" }).waitFor({ state: "detached" });
    await p.getByRole("button", { name: "Check now" }).click();
    await list.getByText("No app gets this account's callbacks.").waitFor();
    await p.getByRole("button", { name: "Subscribe now" }).click();
    await list.getByText("Your app gets this account's callbacks.").waitFor();
    const now = p.getByRole("region", { name: "Now" });
    await now.getByText("2,000 people in 24 hours").waitFor();
    await now.getByText("20 per second, one per person every 6 sec").waitFor();

    // A message goes out over it, and what the channel reports by itself is shown.
    const made = await call("POST", "/panel/v1/templates?sender=clinic", token, {
      sender: "clinic",
      name: "clinic_hello",
      language: "en",
      category: "UTILITY",
      content: "Hello {{1}}, we look forward to it.",
      samples: { 1: "Ana" },
    });
    await call("POST", `/panel/v1/templates/${made.id}/submit`, token);
    await call("POST", `/functions/v1/notify?access_key=${company.access_key}`, "", {
      contact: { number: "34600111222", name: "Ana" },
      recipient_id: "clinic",
      name_template: "clinic_hello",
      language_template: "en",
      notification_type: "transactional",
      campaign_name: "clinic",
      components_push: { body_text_0: "Ana" },
    });
    await until(
      async () => (await call("GET", "/panel/v1/senders/clinic/state", token)).hour.sent === 1,
      "it is counted",
    );
    await p.clock.fastForward(5_000);
    await now.getByText("1 sent, 0 failed").waitFor();
    await now.getByText("1 of 1 approved").waitFor();
    assert.equal(
      await callback(
        "clinic",
        {
          object: "whatsapp_business_account",
          entry: [
            {
              id: "2000001",
              time: Math.floor(Date.now() / 1000),
              changes: [
                {
                  field: "phone_number_quality_update",
                  value: { display_phone_number: "15555550100", event: "DOWNGRADE", current_limit: "TIER_250" },
                },
              ],
            },
          ],
        },
        "provider-app-secret",
      ),
      200,
    );
    await p.clock.fastForward(5_000);
    await now.getByText("250 people in 24 hours").waitFor();
    await now.getByText("Limit lowered").waitFor();
    await p.locator(".ok-text", { hasText: "Last callback" }).waitFor();
    await looks(p, "sender");

    // In Spanish, and removed.
    await p.evaluate(() => localStorage.setItem("carillon.language", "es"));
    await p.reload();
    await p.getByRole("button", { name: "Comprobar ahora" }).waitFor();
    await p.getByText("Su app recibe los callbacks de esta cuenta.").waitFor();
    await shot(p, "sender-es");
    await p.evaluate(() => localStorage.setItem("carillon.language", "en"));
    await p.reload();
    await act(p, "Remove number");
    await p.getByRole("dialog").getByRole("button", { name: "Remove", exact: true }).click();
    await p.waitForURL(/\/senders(\?.*)?$/);
    await p.getByRole("row", { name: /demo/ }).waitFor();
    await p.getByText("clinic").first().waitFor({ state: "detached" });
  });
});

describe("calls over WhatsApp", () => {
  it("are explained, and refused with what to do", async (t) => {
    company = await newCompany();
    await call("POST", "/panel/v1/senders", company.token, {
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
    const p = await open(t, company, "/senders/clinic");
    const card = p.getByRole("region", { name: "Calls" });
    await card.getByText(/an agent answers/).waitFor();
    await card.getByRole("switch", { name: "Calls over WhatsApp" }).click();
    await card.getByLabel("Host name of this installation").fill("localhost");
    await card.getByRole("button", { name: "Save" }).click();
    await card.getByText(/sip\.example\.com/).waitFor();
    await card.getByLabel("Host name of this installation").fill("sip.clinic.test");
    await card.getByRole("button", { name: "Save" }).click();
    await card.getByText(/takes no calls over TLS/).waitFor();
    await card.scrollIntoViewIfNeeded();
    await looks(p, "sender-calls");
    for (const language of ["es", "pt"]) {
      await p.evaluate((x) => localStorage.setItem("carillon.language", x), language);
      await p.reload();
      await p.getByRole("switch", { name: /^(Llamadas|Ligações) / }).click();
      await shot(p, "sender-calls-" + language);
    }
  });
});

describe("the company's settings", () => {
  beforeEach(async () => {
    company = await newCompany();
    token = company.token;
  });

  it("are changed, honoured, and not lost to somebody else's change", async (t) => {
    const { id } = await call("GET", "/panel/v1/company", token);
    const p = await open(t, company, "/settings");
    await p.getByText(id).waitFor();
    await p.getByLabel("Name", { exact: true }).fill("Harbour Clinic");
    await p.getByText(/Otherwise it would create another company/).waitFor();
    await p.getByRole("switch", { name: /recipient_id/ }).check();
    const hours = p.getByRole("region", { name: "Calling hours" });
    if (await hours.getByRole("switch").isChecked()) await hours.getByRole("switch").uncheck();
    await hours.getByText("calls are placed at any time").waitFor();
    assert.equal(await hours.getByRole("img").count(), 0, "a picture of hours that do not apply");
    await hours.getByRole("switch").check();
    await hours.getByRole("img", { name: /^Calling hours of the week/ }).waitFor();
    await hours.getByLabel("To", { exact: true }).fill("25:00");
    await p.getByRole("region", { name: "Save" }).getByRole("button", { name: "Save", exact: true }).click();
    await hours.getByText(/time of day, such as 21:00/).waitFor();
    await hours.getByLabel("To", { exact: true }).fill("02:00");
    await hours.getByLabel("From", { exact: true }).fill("18:00");
    await hours.getByRole("checkbox", { name: "Friday" }).uncheck();
    await p.getByRole("checkbox", { name: "Voicemail" }).check();
    await p.getByLabel("Retries").fill("4");
    await p.keyboard.press("Control+s");
    await p.getByRole("region", { name: "Save" }).waitFor({ state: "detached" });
    await p.locator(".nav").getByText("Harbour Clinic").waitFor();

    // It is honoured at once: a sender that is not known is refused, where it was the default one before.
    const message = {
      contact: { number: "34600111222", name: "Ana" },
      recipient_id: "nobody-known",
      name_template: "hello",
      language_template: "en",
      notification_type: "transactional",
      campaign_name: "x",
      components_push: { body_text_0: "Ana" },
    };
    await assert.rejects(
      call("POST", `/functions/v1/notify?access_key=${company.access_key}`, "", message),
      /recipient_id|404|400/,
    );
    const stored = await call("GET", "/panel/v1/company", token);
    assert.deepEqual(
      [
        stored.name,
        stored.calling_hours.from,
        stored.calling_hours.to,
        stored.redial.attempts,
        stored.redial.outcomes.includes("voicemail"),
      ],
      ["Harbour Clinic", "18:00", "02:00", 4, true],
    );

    // Somebody else is faster.
    await p.getByRole("spinbutton", { name: "Days", exact: true }).fill("45");
    await call("PUT", "/panel/v1/company", token, { name: "Harbour Clinic North", version: stored.version });
    await p.getByRole("region", { name: "Save" }).getByRole("button", { name: "Save", exact: true }).click();
    await p.getByText("The settings changed in the meantime").waitFor();
    await accessible(p, "settings that somebody else changed");
    await p.getByRole("button", { name: "Reload" }).click();
    await p.waitForFunction(() =>
      [...document.querySelectorAll("input")].some((i) => i.value === "Harbour Clinic North"),
    );
    await visit(p, new URL(company.panel_url).pathname + "/senders");
    await p.getByRole("heading", { name: "Numbers", level: 1 }).waitFor();
  });
});
