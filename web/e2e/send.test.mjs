// Sending a template to one person, and to everybody of a file.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { accessible, context, launch, ready, shot } from "./browser.mjs";
import { call, signIn } from "./voice.mjs";

let browser;
let token;
before(async () => { browser = await launch(); token = await signIn(); });
after(() => browser.close());

const owner = { email: ready.email, password: ready.password };

async function open(t, path, options = {}, who = owner) {
  const c = await context(browser, { locale: "en-GB", viewport: { width: 1440, height: 900 }, reducedMotion: "reduce", permissions: ["clipboard-read", "clipboard-write"], ...options });
  t.after(async () => { c.check(); await c.close(); });
  const p = await c.newPage();
  await p.goto(ready.panel_url + path);
  await p.locator("input").nth(0).fill(who.email);
  await p.locator("input").nth(1).fill(who.password);
  await p.keyboard.press("Enter");
  await p.locator("main h1, main h2").first().waitFor();
  return p;
}
const fits = async (p, what) => assert.ok(await p.evaluate(() => document.documentElement.scrollWidth <= innerWidth), what + " is too wide");
const sentTo = async (number) => (await call("GET", `/functions/v1/notify?number=${number}&access_key=${ready.access_key}`)).data;

/** choose chooses a template by typing a part of its name. */
async function choose(p, text, option) {
  await p.getByRole("combobox", { name: "Template" }).fill(text);
  await p.getByRole("option", { name: option }).click();
}

describe("sending to one person", () => {
  it("shows the message as the phone does, and sends it once", { timeout: 60_000 }, async (t) => {
    const p = await open(t, "/send");
    await accessible(p, "nothing chosen");
    await shot(p, "send-empty");
    await p.getByRole("button", { name: "Send", exact: true }).click();
    assert.equal(await p.getByText("This is needed").count(), 3);
    await choose(p, "booking", /booking_confirmed \(en\)/);
    await p.getByRole("button", { name: "Send to the sandbox phone" }).click();
    await p.getByLabel("First name", { exact: true }).fill("Ana");
    await p.getByRole("button", { name: "{{ first_name }} into Variable 1" }).click();
    await p.getByRole("textbox", { name: "1 in the heading" }).fill("HT-7");
    await p.getByRole("textbox", { name: "Variable 2", exact: true }).fill("Monday");
    await p.getByRole("textbox", { name: "Variable 3", exact: true }).fill("pier 3");
    await p.getByRole("textbox", { name: "Address of button 1" }).fill("HT-7");
    const preview = p.getByRole("complementary", { name: "Preview" });
    await preview.getByText("Hello Ana, your tour on Monday is booked. We meet at pier 3.").waitFor();
    await p.getByRole("textbox", { name: "Campaign" }).fill("spring");
    await accessible(p, "one person");
    await shot(p, "send-one");
    await p.getByRole("button", { name: "Copy as curl" }).click();
    const command = await p.evaluate(() => navigator.clipboard.readText());
    assert.match(command, /access_key=\$CARILLON_KEY/);
    assert.ok(!command.includes(ready.access_key) && command.includes("{{ first_name }}"));
    await p.getByRole("button", { name: "Send", exact: true }).dblclick();
    await p.getByRole("heading", { name: "Sent" }).waitFor();
    await accessible(p, "what was sent");
    await shot(p, "send-sent");
    await p.getByRole("link", { name: "See what becomes of it" }).click();
    await p.waitForURL(/\/notifications\//);
    const [id] = /[0-9a-f-]{36}/.exec(p.url());
    const sent = await sentTo("34600701234");
    assert.deepEqual(sent.map((n) => [n.notification_id, n.campaign_name]), [[id, "spring"]]);
  });

  it("is sent once where the answer is lost, and refused with the reason at the field", { timeout: 60_000 }, async (t) => {
    const p = await open(t, "/send");
    await choose(p, "hello", /hello \(en\)/);
    await p.getByLabel("Phone number").fill("+34 600 70-22 22");
    await p.getByRole("textbox", { name: "Variable 1", exact: true }).fill("{{ city }}");
    await p.getByRole("textbox", { name: "Campaign" }).fill("lost");
    await p.getByRole("button", { name: "Send", exact: true }).click();
    await p.getByText("No value: give a text, or a field that the contact has").waitFor();
    await p.getByRole("textbox", { name: "Variable 1", exact: true }).fill("Ana");
    await p.getByLabel("Phone number").fill("34");
    await p.getByRole("button", { name: "Send", exact: true }).click();
    await p.getByText("Numbers only").waitFor();
    await shot(p, "send-faults");
    await p.getByLabel("Phone number").fill("34600702222");
    await p.evaluate(() => { // the first answer is lost
      const real = window.fetch;
      window.fetch = async (...args) => {
        const r = await real(...args);
        if (!String(args[0]).includes("/panel/v1/notifications?") && !String(args[0]).endsWith("/panel/v1/notifications")) return r;
        window.fetch = real;
        throw new TypeError("lost");
      };
    });
    await p.getByRole("button", { name: "Send", exact: true }).click();
    await p.getByText("Try again: nothing is sent twice").waitFor();
    await p.getByRole("button", { name: "Send", exact: true }).click();
    await p.getByRole("heading", { name: "Sent" }).waitFor();
    assert.equal((await sentTo("34600702222")).length, 1);
  });

  it("is scheduled on the clocks of a zone, in Spanish, on a phone", { timeout: 60_000 }, async (t) => {
    const p = await open(t, "/send", { locale: "es-ES", viewport: { width: 390, height: 844 }, colorScheme: "dark", timezoneId: "America/Lima" });
    await p.getByRole("combobox", { name: "Plantilla" }).fill("hello");
    await p.getByRole("option", { name: /hello \(en\)/ }).click();
    await p.getByLabel("Número de teléfono").fill("34600703333");
    await p.getByRole("textbox", { name: "Variable 1", exact: true }).fill("Ana");
    await p.getByLabel("Campaña").fill("verano");
    await p.getByLabel("A una hora").check();
    await p.getByLabel("Fecha y hora allí").fill("2030-07-01T09:00");
    await p.getByRole("combobox", { name: "Zona horaria" }).fill("Europe/Madrid");
    await p.getByRole("option", { name: "Europe/Madrid" }).click();
    await p.getByText(/En su reloj son 1 jul 2030, 2:00 \(America\/Lima\)/).waitFor();
    await fits(p, "the form");
    await accessible(p, "on a phone");
    await shot(p, "send-one-phone-es-dark");
    await p.getByRole("button", { name: "Programar" }).click();
    await p.getByRole("heading", { name: /Sale el/ }).waitFor();
    const [n] = await sentTo("34600703333");
    assert.deepEqual([n.scheduled_time, n.state], ["2030-07-01T07:00:00Z", "scheduled"]);
  });
});
