// Clicks on a counted link, from the template's editor to the figures of the campaign; and a number that a person shares.
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { looks, shot } from "../browser.mjs";
import { call, direct, newCompany, open, until } from "../world.mjs";

let company;

const number = "34600701234";
const phonePath = (who) => `/sandbox/messages?number=${encodeURIComponent(who)}`;
const languages = { en: "en-GB", es: "es-ES", pt: "pt-BR" };

/** inLanguages opens a page in each language, waits for a text in that language, and looks at it. */
async function inLanguages(t, path, name, words) {
  for (const [language, locale] of Object.entries(languages)) {
    const p = await open(t, company, path, { locale });
    await p.getByRole("main").getByText(words[language]).first().waitFor();
    await looks(p, `${name}-${language}`);
    await p.context().close();
  }
}

describe("counted clicks", () => {
  before(async () => {
    company = await newCompany();
  });

  it("are turned on in the editor, and shown on the message and the campaign", async (t) => {
    const p = await open(t, company, "/templates/new");
    await p.getByLabel("Name", { exact: true }).fill("track_order");
    await p.getByRole("textbox", { name: "Text", exact: true }).fill("Your order is on its way.");
    await p.getByRole("button", { name: "Add button" }).click();
    await p.getByRole("menuitem", { name: /^Open a page/ }).click();
    await p.waitForFunction(() => document.activeElement?.closest(".templates-button"));
    await p.keyboard.type("Track it");
    await p.getByRole("checkbox", { name: "Count clicks" }).check();
    await p.getByLabel("URL", { exact: true }).waitFor({ state: "detached" });
    await looks(p, "clicks-editor");
    await p.getByRole("button", { name: "Save draft" }).click();
    await p.getByRole("heading", { name: "track_order", level: 1 }).waitFor();
    await p.getByRole("button", { name: "Submit for approval" }).click();
    await p.getByRole("region", { name: "Status" }).getByText("Approved", { exact: true }).waitFor();

    const { notification_id: id } = await call("POST", `/functions/v1/notify?access_key=${company.access_key}`, "", {
      contact: { number, name: "Ana" },
      language_template: "en",
      name_template: "track_order",
      recipient_id: "demo",
      notification_type: "utility",
      campaign_name: "orders",
      components_push: { button_url_0: "https://shop.test/orders/7" },
    });
    const phone = await open(t, company, phonePath(number));
    const link = phone.getByRole("link", { name: "Track it" });
    await link.waitFor();
    const address = new URL(await link.getAttribute("href"));
    const followed = await fetch(direct() + address.pathname, {
      redirect: "manual",
      headers: { "User-Agent": "Mozilla/5.0 (Linux; Android 15) Mobile Safari/537.36" },
    });
    assert.equal(followed.headers.get("location"), "https://shop.test/orders/7");
    await shot(phone, "clicks-phone");
    await until(
      async () => (await call("GET", "/panel/v1/campaigns", company.token)).data.some((x) => x.name === "orders"),
      "the campaign is counted",
    );
    await until(
      async () => (await call("GET", "/panel/v1/campaigns/one?name=orders", company.token)).messages?.clicked === 1,
      "the click is counted",
    );
    await inLanguages(t, `/notifications/${id}`, "clicks-message", {
      en: "Link opened",
      es: "Enlace abierto",
      pt: "Link aberto",
    });
    await inLanguages(t, "/campaigns/orders", "clicks-campaign", { en: "Clicked", es: "Con clic", pt: "Com clique" });
  });

  it("are beside a number that the person shares when asked", async (t) => {
    const who = "@ana.diaz";
    const wrote = (text) =>
      call("POST", "/panel/v1/sandbox/phone/messages", company.token, {
        sender: "demo",
        number: who,
        client_id: text,
        name: "Ana",
        kind: "text",
        text,
      });
    await wrote("Hello");
    const conversation = await until(
      async () =>
        (await call("GET", "/panel/v1/conversations?folder=all", company.token)).data.find((x) => x.name === "Ana"),
      "the conversation begins",
    );
    await call("POST", `/functions/v1/messages?access_key=${company.access_key}`, "", {
      conversation_id: conversation.id,
      type: "contact_request",
      text: "Which number can we call?",
    });
    const phone = await open(t, company, phonePath(who));
    await phone.locator(".handset-message", { hasText: "Which number can we call?" }).waitFor();
    await looks(phone, "clicks-number-en");
    for (const [language, name] of [
      ["es", "Compartir mi número"],
      ["pt", "Compartilhar meu número"],
    ]) {
      const p = await open(t, company, phonePath(who), { locale: languages[language] });
      await p.getByRole("button", { name }).waitFor();
      await looks(p, `clicks-number-${language}`);
      await p.context().close();
    }
    await phone.getByRole("button", { name: "Share my number" }).click();
    const shared = await until(
      async () =>
        (await call("GET", "/panel/v1/conversations?folder=all", company.token)).data.find(
          (x) => x.id === conversation.id,
        ).number,
      "the contact has the number",
    );
    assert.match(shared, /^1\d{3}55501\d{2}$/);
    const inbox = await open(t, company, `/inbox?folder=all&c=${conversation.id}`);
    await inbox.locator(".inbox-turn", { hasText: "In reply to" }).waitFor();
    await looks(inbox, "clicks-number-inbox");
  });
});
