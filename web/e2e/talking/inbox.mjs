// A visitor of the demo page, the agent, and the teammates who answer in the inbox, each in a browser of their own.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { accessible, fits, shot } from "../browser.mjs";
import { call, member, newCompany, open } from "../world.mjs";
import { chatOf, say, visitor } from "../widgets.mjs";

let company;

/** inbox shows the inbox to a teammate. */
async function inbox(t, name, options = {}) {
  const p = await open(t, company, "/inbox", options, await member(company, name, "teammate"));
  await p.getByText("Available").waitFor();
  return p;
}

/** choose opens the conversation of a visitor, whose newest words are among the newest that a list has. */
async function choose(p, words, folder) {
  const { data } = await call("GET", `/panel/v1/conversations?folder=${folder}&limit=50`, company.token);
  for (const { id } of data) {
    const { turns } = await call("GET", "/panel/v1/conversations/" + id, company.token);
    if (turns.some((turn) => turn.text === words)) return p.locator(`.inbox-row[data-id="${id}"]`).click();
  }
  assert.fail("nobody said " + words);
}

/** writing presses the key that leads to the composer, and waits until it does. */
async function writing(p, key) {
  await p.keyboard.press(key);
  await p.waitForFunction(() => document.activeElement?.matches("textarea"));
}

/** idle waits until the composer has the response to what it sent: until then it sends nothing else. */
const idle = (p) => p.locator(".inbox-send button[data-loading]").waitFor({ state: "detached" });

const told = (frame, text) => frame.locator(".bubble", { hasText: text });
const said = (p, text) => p.locator(".inbox-bubble", { hasText: text });

describe("a conversation", () => {
  beforeEach(async () => {
    company = await newCompany();
  });

  it("goes from the agent to a teammate, is rated and resolved, and is there the next day", async (t) => {
    const p = await inbox(t, "Ana");
    const { p: host, frame } = await visitor(t, company, { lang: "es" });
    await frame.getByText("Hola").first().waitFor(); // the welcome
    await say(frame, "¿Puedo pagar con tarjeta?");
    await frame.getByRole("link", { name: "Precios y pago de excursiones" }).waitFor();
    await say(frame, "¿Hay vida en la cueva plugh?");
    await told(frame, "No he encontrado esa información").waitFor();
    await frame.getByRole("button", { name: "Hablar con una persona" }).click();
    await frame.getByText("Es el siguiente").waitFor();

    await choose(p, "¿Hay vida en la cueva plugh?", "unassigned");
    await said(p, "¿Puedo pagar con tarjeta?").waitFor();
    await p.keyboard.press("a");
    await frame.getByText("Ana se ha unido").waitFor();
    await writing(p, "r");
    await p.keyboard.type("Hola, soy Ana. ¿En qué puedo ayudar?");
    await frame.getByRole("img", { name: "Ana está escribiendo" }).waitFor();
    await p.keyboard.press("Enter");
    await told(frame, "Hola, soy Ana.").waitFor();
    await idle(p);
    await p
      .locator(".inbox-composer input[type=file]")
      .setInputFiles({ name: "horario.txt", mimeType: "text/plain", buffer: Buffer.from("10:00, 12:00 y 16:00\n") });
    await frame.getByRole("link", { name: "horario.txt" }).waitFor();
    await say(frame, "Quiero cambiar mi reserva");
    await said(p, "Quiero cambiar mi reserva").waitFor();
    await p.keyboard.press("Escape");
    await writing(p, "n");
    await p.keyboard.type("Cliente habitual");
    await p.keyboard.press("Enter");
    await p.locator("[data-kind=note]", { hasText: "Cliente habitual" }).waitFor();
    await idle(p);
    await shot(p, "inbox-thread");
    await p.keyboard.press("Escape");
    await writing(p, "r");
    await p.keyboard.type("Con mucho gusto.");
    await p.keyboard.press("Enter");
    await told(frame, "Con mucho gusto.").waitFor();
    const seen = p.locator(".inbox-turn:has-text('Con mucho gusto.') + .inbox-seen");
    await seen.waitFor();
    await idle(p);
    await p.keyboard.press("Escape");
    await writing(p, "n");
    await p.keyboard.type("Quiere el sábado");
    await p.keyboard.press("Enter");
    await p.locator("[data-kind=note]", { hasText: "Quiere el sábado" }).waitFor();
    assert.equal(await p.locator(".inbox-seen").count(), 1);
    await seen.waitFor();
    await p.keyboard.press("Escape");
    const address = p.url();
    await p.keyboard.press("e");
    await frame.getByRole("log").getByText("Conversación cerrada").waitFor();
    assert.equal(await frame.getByText("Cliente habitual").count(), 0, "a note reached the visitor");
    await frame.getByText("¿Qué le pareció esta conversación?").waitFor();
    await frame.getByLabel("5 de 5").check({ force: true });
    await frame.getByRole("button", { name: "Enviar valoración" }).click();
    await p.goto(address); // the next conversation is open
    await p.getByText("The visitor rated the conversation 5 out of 5").waitFor();

    await host.reload();
    const again = await chatOf(host);
    for (const text of ["¿Puedo pagar con tarjeta?", "Hola, soy Ana.", "Quiero cambiar mi reserva"])
      await told(again, text).first().waitFor();
    assert.equal(await again.getByText("Cliente habitual").count(), 0);
  });

  it("is answered in order, also while a message is on its way", async (t) => {
    const p = await inbox(t, "Ana");
    const { frame } = await visitor(t, company);
    await say(frame, "Do you sell maps?");
    await frame.getByRole("button", { name: "Talk to a person" }).click();
    await frame.getByText("You're next").waitFor();
    await choose(p, "Do you sell maps?", "unassigned");
    await said(p, "Do you sell maps?").waitFor();
    await p.keyboard.press("a");
    await frame.getByText("Ana joined").waitFor();
    let release;
    const held = new Promise((done) => (release = done));
    await p.route("**/answers**", async (route) => {
      await held;
      await route.continue();
    });
    await writing(p, "r");
    for (const text of ["Yes, we do.", "They are free.", "Shall I"]) {
      await p.keyboard.type(text);
      if (!text.startsWith("Shall")) await p.keyboard.press("Enter");
    }
    assert.equal(await p.locator(".inbox-composer textarea").inputValue(), "Shall I");
    release();
    await told(frame, "They are free.").waitFor();
    const all = await frame.locator(".bubble").allTextContents();
    const at = (text) => all.findIndex((x) => x.includes(text));
    assert.ok(at("Yes, we do.") >= 0 && at("Yes, we do.") < at("They are free."), all.join(" | "));
    await idle(p);
    assert.equal(await p.locator(".inbox-composer textarea").inputValue(), "Shall I");
  });

  it("is answered by one of two teammates, and the other is warned", async (t) => {
    const ben = await inbox(t, "Ben");
    const eva = await inbox(t, "Eva");
    const { frame } = await visitor(t, company);
    await say(frame, "I lost my hat on the boat");
    await frame.getByRole("button", { name: "Talk to a person" }).click();
    await frame.getByText("You're next").waitFor();
    for (const p of [ben, eva]) {
      await choose(p, "I lost my hat on the boat", "unassigned");
      await said(p, "I lost my hat").waitFor();
    }
    await eva.getByText("Ben is viewing this too").waitFor();
    await writing(eva, "r");
    await eva.keyboard.type("Which boat was it?");
    await ben.getByRole("log").getByText("Eva is writing").waitFor();
    await writing(ben, "r");
    await ben.keyboard.type("We have found it.");
    await ben.keyboard.press("Enter");
    await said(eva, "We have found it.").waitFor();
    await eva.keyboard.press("Enter");
    const dialog = eva.getByRole("dialog", { name: "Already assigned" });
    await dialog.getByText("Ben is handling this conversation").waitFor();
    assert.equal(await told(frame, "Which boat was it?").count(), 0);
    await dialog.getByRole("button", { name: "Take over and send" }).click();
    await told(frame, "Which boat was it?").waitFor();
    await ben.getByText("Eva joined").waitFor();
  });
});

describe("the inbox", () => {
  beforeEach(async () => {
    company = await newCompany();
  });

  it("shows thirty conversations, by keyboard, wide and on a phone in the dark", async (t) => {
    const names = ["Ana Torres", "Luis Vega", "Marta Gil", "John Smith", "Eva Sousa", "Pedro Alves", "Nora Klein"];
    const asks = [
      "Where is my voucher 4471?",
      "¿Cuál es el horario del sábado?",
      "I would like to return a cap",
      "Posso pagar com cartão?",
      "Do you go out when it rains?",
      "The code SUMMER does not work although your mail says that it is good until Friday",
    ];
    for (let i = 0; i < 30; i++) {
      const s = await call("POST", "/functions/v1/chat/session", "", {
        widget_id: company.chat_widget_id,
        customer_id: crypto.randomUUID(),
        lang: ["en", "es", "pt"][i % 3],
        page: "http://shop.localhost/tours/" + i,
      });
      await call("POST", "/functions/v1/chat/turns", s.token, {
        client_id: crypto.randomUUID(),
        text: asks[i % asks.length],
      });
      if (i % 2)
        await call("POST", "/functions/v1/chat/contact", s.token, {
          name: names[i % names.length],
          email: `visitor${i}@example.com`,
        });
      if (i % 3 === 0) await call("POST", "/functions/v1/chat/handoff", s.token, {});
    }
    for (const [name, who, options] of [
      ["wide", "Ida", {}],
      ["phone-dark", "Iris", { viewport: { width: 390, height: 780 }, colorScheme: "dark" }],
    ]) {
      const p = await inbox(t, who, options);
      await p.getByRole("button", { name: "All", exact: true }).click();
      await p.locator(".inbox-row").nth(29).waitFor({ state: "attached" });
      await accessible(p, "the list, " + name);
      await shot(p, "inbox-list-" + name);
      for (const key of ["j", "j", "k"]) await p.keyboard.press(key);
      await p.locator(".inbox-bubble").first().waitFor();
      await fits(p, "the thread, " + name);
      await accessible(p, "the thread, " + name);
      await shot(p, "inbox-open-" + name);
      await p.keyboard.press("Escape");
      await p.keyboard.press("/");
      await p.waitForFunction(() => document.activeElement?.matches("input"));
      await p.keyboard.type("no such words anywhere");
      await p.getByText("No matching conversations").waitFor();
    }
  });

  it("keeps canned replies and uses one by its shortcut", async (t) => {
    const p = await inbox(t, "Leo");
    const { frame } = await visitor(t, company);
    await say(frame, "Is the museum near?");
    await frame.locator(".them").nth(1).waitFor();
    await p.getByRole("button", { name: "All", exact: true }).click();
    await choose(p, "Is the museum near?", "all");
    await p.getByRole("button", { name: "Canned replies" }).click();
    const dialog = p.getByRole("dialog", { name: "Canned replies" });
    await dialog.getByRole("button", { name: "New reply" }).click();
    await dialog.getByLabel("Shortcut").fill("museum");
    await dialog.getByLabel("Text").fill("The museum is five minutes from pier 3.");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("/museum").waitFor();
    await p.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    await writing(p, "r");
    await p.keyboard.type("/mus");
    await p.getByRole("option", { name: "/museum" }).waitFor();
    await p.keyboard.press("Enter");
    await p.keyboard.press("Enter");
    await told(frame, "The museum is five minutes from pier 3.").waitFor();
  });
});
