// A conversation over the sandbox's phone, seen from both ends: the phone, and the inbox of a teammate.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { accessible, png, shot } from "../browser.mjs";
import { call, newCompany, open, until } from "../world.mjs";

let company;

const number = "34600701234";

/** notify sends a template to the phone. */
async function notify(more = {}) {
  const { notification_id: id } = await call("POST", `/functions/v1/notify?access_key=${company.access_key}`, "", {
    contact: { number, name: "Ana" },
    language_template: "en",
    name_template: "booking_confirmed",
    recipient_id: "demo",
    notification_type: "utility",
    campaign_name: "phone",
    components_push: {
      header_text: "HT-7",
      body_text_0: "{{name}}",
      body_text_1: "Monday",
      body_text_2: "pier 3",
      button_url_0: "HT-7",
    },
    ...more,
  });
  return id;
}

const phonePath = `/sandbox/messages?number=${number}`;
/** wrote has the phone write something, and returns the conversation that it begins. */
async function wrote(text) {
  await call("POST", "/panel/v1/sandbox/phone/messages", company.token, {
    sender: "demo",
    number,
    client_id: text.slice(0, 40),
    name: "Ana",
    kind: "text",
    text,
  });
  return until(
    async () =>
      (await call("GET", "/panel/v1/conversations?folder=all", company.token)).data.map((x) => x.conversation ?? x)[0],
    "the conversation begins",
  );
}

const bubble = (p, text) => p.locator(".handset-message", { hasText: text });
const turn = (p, text) => p.locator(".inbox-turn", { hasText: text });

describe("the sandbox's phone and the inbox", () => {
  beforeEach(async () => {
    company = await newCompany();
  });

  it("walk a flow: a button is tapped, the flow asks and hands off, a teammate replies, the phone shows it", async (t) => {
    const inbox = await open(t, company, "/inbox?folder=all");
    const phone = await open(t, company, phonePath);
    const list = await open(t, company, "/flows?tab=runs");
    await list.getByText("No runs yet").waitFor();
    await phone.getByText("No messages yet").waitFor();
    await notify({ name_event: "booking-confirmed" });
    await bubble(phone, "Hello Ana, your tour on Monday is booked. We meet at pier 3.").waitFor();
    await phone.getByRole("button", { name: "Thank you" }).click();
    await bubble(phone, "is there anything you would like to know about your tour?").waitFor();
    await shot(phone, "phone-asked");
    const row = list.getByRole("row").filter({ hasText: "Ana" }); // it comes and changes by itself
    await row.getByText("Waiting for a reply").waitFor();

    await inbox.locator(".inbox-row", { hasText: "Ana" }).first().click();
    await inbox
      .locator(".inbox-event", { hasText: "The flow started" })
      .getByRole("link", { name: "after-booking" })
      .click();
    await inbox.getByRole("heading", { name: "Ana", level: 1 }).waitFor();
    const state = inbox.locator(".flows-head");
    await state.getByText("Waiting for a reply").waitFor();
    const happened = () =>
      inbox
        .locator(".flow-log li")
        .evaluateAll((all) =>
          all.map((x) =>
            [...x.querySelectorAll(".flow-place, .flow-what > span:first-child, .flow-changed")]
              .map((e) => e.textContent.trim())
              .join(" | "),
          ),
        );
    assert.deepEqual(await happened(), [
      "1 | Question: Hello Ana, is there anything you would like to know about your tour?",
    ]);
    await shot(inbox, "phone-run-asking");
    await phone.getByRole("button", { name: "yes", exact: true }).click();
    await state.getByText("Handed over to the team").waitFor();
    await row.getByText("Handed over to the team").waitFor();
    assert.deepEqual((await happened()).slice(1), [
      "1 | Reply: yes | more = yes",
      "2 | Condition: Yes",
      "2 yes 1 | Hand over: reception",
    ]);
    for (const [name, value] of [
      ["more", "yes"],
      ["name", "Ana"],
      ["number", number],
      ["channel", "whatsapp"],
      ["event", "booking-confirmed"],
    ]) {
      assert.equal(
        await inbox
          .locator(".flow-values > div", { has: inbox.locator("code", { hasText: new RegExp(`^${name}$`) }) })
          .locator("dd")
          .innerText(),
        value,
      );
    }
    await shot(inbox, "phone-run");
    await shot(list, "phone-runs");
    await inbox.getByRole("link", { name: "Open conversation" }).click();
    await turn(inbox, "Thank you").first().waitFor();
    await inbox
      .locator(".inbox-event", { hasText: "The flow handed over to the team" })
      .getByText("reception")
      .waitFor();
    await inbox
      .getByRole("timer")
      .getByText(/You can reply for 2[34] hr/)
      .waitFor();
    await inbox.getByRole("textbox", { name: "Reply" }).fill("Hello Ana, what is it?");
    await phone.getByRole("status").getByText("is writing…").waitFor();
    await inbox.keyboard.press("Enter");
    await bubble(phone, "Hello Ana, what is it?").waitFor();
    await turn(inbox, "Hello Ana, what is it?").locator(".inbox-tick[data-state=read]").waitFor();
    await phone.getByRole("textbox", { name: "Message" }).fill("May I bring a dog?");
    await phone.keyboard.press("Enter");
    await turn(inbox, "May I bring a dog?").waitFor();
    await bubble(phone, "May I bring a dog?").locator(".handset-read").waitFor();
    await shot(inbox, "phone-inbox");
    await shot(phone, "phone-replied");
  });

  it("is unreachable: what is sent stays sent until it is back", async (t) => {
    await wrote("May I bring a dog?");
    const inbox = await open(t, company, "/inbox?folder=all");
    const phone = await open(t, company, phonePath);
    await bubble(phone, "May I bring a dog?").waitFor();
    await phone.getByRole("switch", { name: "Reachable" }).click();
    await phone.getByText("The phone is offline").waitFor();
    await inbox.locator(".inbox-row", { hasText: "Ana" }).first().click();
    await inbox.getByRole("textbox", { name: "Reply" }).fill("Yes, on a lead.");
    await inbox.keyboard.press("Enter");
    await turn(inbox, "Yes, on a lead.").locator(".inbox-tick[data-state=sent]").waitFor();
    const later = await notify({ contact: { number: "34600709999", name: "Bea" } }); // which a phone that is reachable gets
    await until(
      async () =>
        (await call("GET", `/functions/v1/notify/${later}?access_key=${company.access_key}`)).recipients[0].state ===
        "read",
      "a later message is read",
    );
    assert.equal(await turn(inbox, "Yes, on a lead.").locator(".inbox-tick").getAttribute("data-state"), "sent");
    assert.equal(await bubble(phone, "Yes, on a lead.").count(), 0, "an unreachable phone got a message");
    await phone.getByRole("switch", { name: "Reachable" }).click();
    await bubble(phone, "Yes, on a lead.").waitFor();
    await turn(inbox, "Yes, on a lead.").locator(".inbox-tick[data-state=read]").waitFor();
  });

  it("sends pictures and recordings, reacts, and stops", async (t) => {
    await notify();
    const phone = await open(t, company, phonePath);
    await phone.getByRole("button", { name: "Thank you" }).click();
    const inbox = await open(t, company, "/inbox?folder=all");
    await inbox.locator(".inbox-row", { hasText: "Ana" }).first().click();
    await inbox.getByRole("textbox", { name: "Reply" }).fill("Yes, on a lead.");
    await inbox.keyboard.press("Enter");
    for (const name of ["Photo", "Voice message"]) {
      await phone.getByRole("button", { name: "Attach" }).click();
      await phone.getByRole("menuitem", { name }).click();
    }
    await inbox.locator(".media-picture img").waitFor();
    await inbox.locator("audio").waitFor();
    assert.ok(
      (await inbox.locator(".media-picture img").evaluate((x) => x.decode().then(() => x.naturalWidth))) === 320,
      "the picture is not shown",
    );
    await inbox.waitForFunction(() => document.querySelector("audio").duration > 1.5);
    await inbox.locator("input[type=file]").setInputFiles({ name: "pier 3.png", mimeType: "image/png", buffer: png() });
    const picture = phone.getByRole("img", { name: "pier 3.png" });
    await picture.waitFor();
    assert.equal(
      await picture.evaluate((x) => x.decode().then(() => x.naturalWidth)),
      320,
      "the picture is not shown on the phone",
    );
    await bubble(phone, "Yes, on a lead.").getByRole("button", { name: "React or reply" }).click();
    await phone.getByRole("menuitem", { name: "React with 👍" }).click();
    const reaction = inbox.locator(".inbox-event", { hasText: "The contact reacted" });
    await reaction.getByText("👍").waitFor();
    await reaction.getByText("Yes, on a lead.").waitFor();
    await phone.getByText("You reacted 👍 to Yes, on a lead.").waitFor();
    await turn(inbox, "Thank you")
      .first()
      .locator(".inbox-about", { hasText: "Hello Ana, your tour on Monday is booked." })
      .waitFor();
    await phone.getByRole("button", { name: "STOP" }).click();
    await bubble(phone, "You're unsubscribed. Reply START").waitFor();
    await inbox.locator(".inbox-event", { hasText: "The contact opted out" }).waitFor();
    await phone.getByRole("button", { name: "START" }).click();
    await inbox.locator(".inbox-event", { hasText: "The contact opted back in" }).waitFor();
    await shot(inbox, "phone-inbox-files");
    await shot(phone, "phone-files");
  });

  it("is reached by a template alone once the window is closed", async (t) => {
    await wrote("May I bring a dog?");
    const p = await open(t, company, "/inbox?folder=all");
    await p.clock.setSystemTime(Date.now() + 25 * 3_600_000);
    await p.locator(".inbox-row", { hasText: "Ana" }).first().click();
    await p.getByRole("timer").getByText("Reply window closed").waitFor();
    assert.equal(await p.getByRole("textbox", { name: "Reply" }).count(), 0, "a reply can be written");
    await p.getByRole("combobox", { name: "Template" }).click();
    await p.getByRole("option", { name: "weather_notice (en)" }).click();
    await p.getByRole("textbox", { name: "Body 2" }).fill("storm");
    await p.getByRole("textbox", { name: "Body 3" }).fill("12:15");
    await p.getByText("Hello Ana, because of the storm we leave at 12:15.").waitFor();
    await accessible(p, "a closed window");
    await shot(p, "phone-inbox-closed");
    await p.getByRole("button", { name: "Send template" }).click();
    await p.locator(".inbox-template", { hasText: "because of the storm" }).waitFor();
    const phone = await open(t, company, phonePath);
    await bubble(phone, "Hello Ana, because of the storm we leave at 12:15.").waitFor();
    await turn(p, "because of the storm").locator(".inbox-tick[data-state=read]").waitFor();
    await shot(p, "phone-inbox-template");
  });

  it("has a log that follows the newest message, also while a picture grows", async (t) => {
    const dark = await open(t, company, phonePath, { colorScheme: "dark", reducedMotion: "no-preference" });
    await dark.getByRole("button", { name: "Attach" }).click();
    await dark.getByRole("menuitem", { name: "Photo" }).click();
    await dark.locator(".handset-log img").waitFor();
    for (let i = 0; i < 8; i++) await wrote(`${i}: may I bring a dog? ${"It is a small one. ".repeat(20)}`);
    await bubble(dark, "7: may I bring a dog?").waitFor();
    await dark.waitForFunction(() => {
      const log = document.querySelector(".handset-log");
      return (
        [...log.querySelectorAll("img")].every((x) => x.complete && x.naturalWidth) &&
        log.scrollHeight - log.scrollTop - log.clientHeight < 4
      );
    });
    const below = await dark.evaluate(() => {
      // the end grows, and the browser reports the last scroll before what has come there says so
      const log = document.querySelector(".handset-log"),
        end = log.lastElementChild;
      const rest = () => log.scrollHeight - log.scrollTop - log.clientHeight;
      end.style.paddingBottom = "900px";
      const grown = rest();
      log.dispatchEvent(new Event("scroll"));
      log.querySelector("img").dispatchEvent(new Event("load"));
      const followed = rest();
      end.style.paddingBottom = "";
      return { grown, followed };
    });
    assert.ok(below.grown > 200 && below.followed < 4, `the newest is not followed: ${JSON.stringify(below)}`);
    await accessible(dark, "the phone in the dark");
    await shot(dark, "phone-dark");
  });
});
