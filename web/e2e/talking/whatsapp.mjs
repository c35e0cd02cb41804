// What people send over WhatsApp besides texts, as a teammate sees it.
import assert from "node:assert/strict";
import { createHmac, randomUUID } from "node:crypto";
import { before, describe, it } from "node:test";
import { looks } from "../browser.mjs";
import { act } from "../lists.mjs";
import { ask, call, direct, newCompany, open, until } from "../world.mjs";

const secret = "provider-app-secret",
  number = "34600701235";
let company;

/** wrote has the channel report messages of a person. */
async function wrote(...messages) {
  return reported(
    [{ wa_id: number, profile: { name: "Ana Díaz" } }],
    messages.map((m) => ({ from: number, ...m })),
  );
}

/** reported has the channel report messages of people. */
async function reported(contacts, messages) {
  const text = JSON.stringify({
    object: "whatsapp_business_account",
    entry: [
      {
        id: "2000001",
        changes: [
          {
            field: "messages",
            value: {
              messaging_product: "whatsapp",
              metadata: { display_phone_number: "15555550100", phone_number_id: "1000001" },
              contacts,
              messages: messages.map((m, i) => ({
                id: "wamid." + randomUUID(),
                timestamp: String(Math.floor(Date.now() / 1000) - messages.length + i),
                ...m,
              })),
            },
          },
        ],
      },
    ],
  });
  const r = await fetch(`${direct()}/callbacks/whatsapp/clinic`, {
    method: "POST",
    body: text,
    headers: {
      "Content-Type": "application/json",
      "X-Hub-Signature-256": "sha256=" + createHmac("sha256", secret).update(text).digest("hex"),
    },
  });
  assert.equal(r.status, 200);
}

const form = { full_name: "Ana Díaz", size: ["L", "XL"], flow_token: "not-for-eyes" };

describe("messages over WhatsApp", () => {
  before(async () => {
    // one company for all: two of a program would have the same number
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
        app_secret: secret,
        verify_token: "a-verify-token-of-24-char",
        base_url: await ask("graph"),
      },
    });
  });

  it("show an ad, a form, an order, contact cards and what cannot be read", async (t) => {
    await wrote(
      {
        type: "text",
        text: { body: "Is this still on?" },
        referral: {
          source_type: "ad",
          source_id: "12",
          source_url: "https://fb.test/1",
          headline: "Whales this weekend",
          body: "See them from the boat",
          ctwa_clid: "c",
        },
      },
      {
        type: "text",
        text: { body: "And this one?" },
        context: { referred_product: { catalog_id: "c", product_retailer_id: "SKU-BOAT" } },
      },
      {
        type: "interactive",
        interactive: {
          type: "nfm_reply",
          nfm_reply: { name: "flow", body: "Sent", response_json: JSON.stringify(form) },
        },
      },
      {
        type: "order",
        order: {
          catalog_id: "c",
          text: "For Sunday",
          product_items: [
            { product_retailer_id: "SKU-TICKET", quantity: 2, item_price: 19.9, currency: "EUR" },
            { product_retailer_id: "SKU-LUNCH", quantity: 1, item_price: 7, currency: "EUR" },
          ],
        },
      },
      {
        type: "contacts",
        contacts: [
          {
            name: { formatted_name: "Ben Ruiz" },
            org: { company: "Acme", title: "Sales" },
            phones: [{ wa_id: "34600111333" }],
            emails: [{ email: "ben@acme.test" }],
          },
        ],
      },
      { type: "unsupported", errors: [{ code: 131051 }], unsupported: { type: "poll" } },
    );
    const p = await open(t, company, "/inbox?folder=all");
    await p.locator(".inbox-row", { hasText: "Ana Díaz" }).first().click();
    const turn = (text) => p.locator(".inbox-turn", { hasText: text });
    await p.locator(".inbox-event", { hasText: "Unsupported message type" }).getByText("poll").waitFor();
    await turn("Is this still on?").getByText("From an ad:").waitFor();
    assert.equal(
      await turn("Is this still on?").getByRole("link", { name: "Whales this weekend" }).getAttribute("href"),
      "https://fb.test/1",
    );
    await turn("And this one?").getByText("About the product SKU-BOAT").waitFor();
    const answers = turn("Ana Díaz").locator("dl");
    assert.deepEqual(await answers.locator("dt, dd").allInnerTexts(), ["full name", "Ana Díaz", "size", "L, XL"]);
    const order = p.getByRole("table", { name: "Order" });
    assert.deepEqual(await order.getByRole("row").allInnerTexts(), [
      "Product\tQuantity\tPrice",
      "SKU-TICKET\t2\t€19.90",
      "SKU-LUNCH\t1\t€7.00",
      "Total\t€46.80",
    ]);
    await turn("For Sunday").waitFor();
    assert.deepEqual(await p.locator(".inbox-card li").allInnerTexts(), [
      "Ben Ruiz",
      "Acme, Sales",
      "+34600111333",
      "ben@acme.test",
    ]);
    await turn("We can't read this type of message here.").waitFor();
    assert.equal(await p.getByText("not-for-eyes").count(), 0, "the form's token is shown");
    await p.getByRole("button", { name: "Hide contact details" }).first().click();
    await looks(p, "whatsapp-kinds");
  });

  it("of a group are marked and only read, in each language", async (t) => {
    await wrote(
      { type: "text", text: { body: "STOP" }, group_id: "group-1" },
      { type: "text", text: { body: "We are six" }, group_id: "group-1" },
    );
    const conversation = await until(
      async () =>
        (await call("GET", "/panel/v1/conversations?folder=all", company.token)).data.find(
          (x) => x.group && x.last_text === "We are six",
        ),
      "the group's conversation",
    );
    for (const [locale, group, text] of [
      ["en-GB", "Group", "Groups are read-only"],
      ["es-ES", "Grupo", "Los grupos son de solo lectura"],
      ["pt-BR", "Grupo", "Os grupos são somente leitura"],
    ]) {
      const p = await open(t, company, `/inbox?folder=all&c=${conversation.id}`, { locale });
      await p.locator(".inbox-row .inbox-voice", { hasText: group }).waitFor();
      await p.locator(".inbox-row").first().click();
      await p.locator(".inbox-turn", { hasText: "We are six" }).waitFor();
      await p.locator(".inbox-who", { hasText: "Ana Díaz" }).first().waitFor();
      await p.getByText(text).waitFor();
      await wrote({ type: "text", text: { body: "And a dog, " + locale }, group_id: "group-1" });
      await p
        .locator(".inbox-row", { hasText: "And a dog, " + locale })
        .locator(".inbox-voice", { hasText: group })
        .waitFor(); // also after a change
      assert.equal(
        await p.getByRole("textbox", { name: /Reply|Respuesta|Resposta/ }).count(),
        0,
        "a reply can be written",
      );
      if (locale === "en-GB") await looks(p, "whatsapp-group");
    }
    assert.deepEqual(
      (await call("GET", `/functions/v1/suppressions?access_key=${company.access_key}`)).data,
      [],
      "a STOP in a group is obeyed",
    );
  });

  it("of people without a number are shown by the username, and their STOP by their id", async (t) => {
    const user_id = "ES.13491208655302741918";
    const says = (body) =>
      reported(
        [{ user_id, profile: { username: "luz.mar" } }],
        [{ from_user_id: user_id, type: "text", text: { body } }],
      );
    await says("Do you have a table for two?");
    const p = await open(t, company, "/inbox?folder=all");
    await p.locator(".inbox-row", { hasText: "@luz.mar" }).first().click();
    await p.getByRole("heading", { name: "@luz.mar", level: 2 }).waitFor();
    await p.getByText("Identified by username").waitFor();
    await p.getByRole("textbox", { name: "Reply" }).waitFor();
    await looks(p, "whatsapp-username");
    await says("STOP");
    await p.locator(".inbox-event", { hasText: "opted out" }).waitFor();
    await p.goto(new URL("/panel/suppressions", p.url()).href);
    await p.getByRole("cell", { name: user_id }).first().waitFor();
    await looks(p, "suppressions-username");
    await act(p, "Remove", user_id);
    await p.getByRole("dialog").getByText(user_id).waitFor();
  });
});
