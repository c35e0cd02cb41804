// Sending a template to one person, and to everybody of a file.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { beforeEach, describe, it } from "node:test";
import { accessible, fits, looks, shot, visit } from "../browser.mjs";
import { call, member, newCompany, open, signIn, until } from "../world.mjs";
import { choose, drop, people, sentTo } from "../sending.mjs";

let company;
let token;

describe("sending to one person", () => {
  beforeEach(async () => {
    company = await newCompany();
    token = company.token;
  });

  it("sends one message with 3 clicks and the fields of the template", async (t) => {
    const p = await open(t, company, "/send");
    await p.getByRole("combobox", { name: "Template" }).waitFor();
    let clicks = 0,
      fields = 0;
    const click = (at) => (clicks++, at.click());
    const fill = (at, text) => (fields++, at.fill(text));
    const field = (name) => p.getByRole("textbox", { name });
    await click(p.getByRole("combobox", { name: "Template" }));
    await click(p.getByRole("option", { name: /booking_confirmed \(en\)/ }));
    await fill(p.getByRole("combobox", { name: "To", exact: true }), "+34 600 701 234");
    await fill(field(/^Header \{\{1\}\} · e\.g\. /), "HT-7");
    await fill(field(/^\{\{1\}\} · e\.g\. Ana/), "Ana");
    await fill(field(/^\{\{2\}\} · e\.g\. /), "Monday");
    await fill(field(/^\{\{3\}\} · e\.g\. /), "pier 3");
    await fill(field(/^Link of “/), "HT-7");
    await click(p.getByRole("button", { name: "Send", exact: true }));
    await p.getByRole("heading", { name: "To +34 600 701 234", exact: true }).waitFor();
    const another = p.getByRole("button", { name: "Send another" });
    const { y } = await another.boundingBox();
    await p
      .getByRole("status")
      .filter({ hasText: /Delivered|Read/ })
      .waitFor(); // it goes on by itself
    assert.equal((await another.boundingBox()).y, y, "what is pressed stays under the pointer");
    assert.ok(clicks <= 4, `${clicks} clicks`);
    const { variables } = (await call("GET", "/panel/v1/templates", token)).data.find(
      (x) => x.name === "booking_confirmed" && x.language === "en",
    );
    assert.equal(fields, variables.length + 1, "the number and the variables");
    const [sent] = await sentTo(company, "34600701234");
    assert.equal(sent.campaign_name, "booking_confirmed");
    await accessible(p, "what was sent");
    await shot(p, "send-sent");
    await looks(p, "send-sent");
    await another.click();
    assert.equal(await p.getByRole("combobox", { name: "To", exact: true }).inputValue(), "");
    assert.equal(await field(/^\{\{2\}\} · e\.g\. /).inputValue(), "Monday", "the next one is like it");
    const examples = p.getByRole("button", { name: "Use the examples" });
    await field(/^\{\{1\}\} · e\.g\. Ana/).fill("");
    await field(/^\{\{3\}\} · e\.g\. /).fill("dock");
    await examples.click();
    assert.equal(await field(/^\{\{1\}\} · e\.g\. Ana/).inputValue(), "Ana");
    assert.equal(await field(/^\{\{3\}\} · e\.g\. /).inputValue(), "dock", "what was written stays");
    await examples.waitFor({ state: "detached" });
  });

  it("shows the message as the phone does, and sends it once", async (t) => {
    const p = await open(t, company, "/send");
    await shot(p, "send-empty");
    const send = p.getByRole("button", { name: "Send", exact: true });
    await send.click();
    await until(async () => (await p.getByText("Required").count()) === 2);
    await choose(p, "booking", /booking_confirmed \(en\)/);
    const preview = p.getByRole("complementary", { name: "Preview" });
    await until(async () => (await preview.locator(".preview-sample").count()) >= 4, "samples stand for the values");
    await accessible(p, "samples in the preview");
    await shot(p, "send-samples");
    const place = () => send.evaluate((x) => x.getBoundingClientRect().top + document.scrollingElement.scrollTop);
    const before = await place();
    await p.getByRole("combobox", { name: "To", exact: true }).fill("123");
    await send.click();
    await until(async () => (await p.getByText("Required").count()) === 5);
    await p.getByText("Enter a phone number with its country code").waitFor();
    assert.ok(
      Math.abs((await place()) - before) < 6, // less than a line
      `errors move the form: ${await place()}, not ${before}`,
    );
    await shot(p, "send-faults");
    await looks(p, "send-faults");
    await accessible(p, "all errors at once");
    await p.getByRole("button", { name: "Remove 123" }).click();
    await p.getByRole("button", { name: "Send to the test phone" }).click();
    await p.getByRole("textbox", { name: /^\{\{1\}\}/ }).focus();
    await p.getByRole("button", { name: "Insert a contact field" }).click();
    await p.getByRole("menuitem", { name: "First name" }).click();
    await p.getByRole("textbox", { name: "Contact's name" }).fill("Ana Díaz");
    await p.getByRole("textbox", { name: /^Header/ }).fill("HT-7");
    await p.getByRole("textbox", { name: /^\{\{2\}\}/ }).fill("Monday");
    await p.getByRole("textbox", { name: /^\{\{3\}\}/ }).fill("pier 3");
    await p.getByRole("textbox", { name: /^Link of/ }).fill("HT-7");
    await preview.getByText("Hello Ana, your tour on Monday is booked. We meet at pier 3.").waitFor();
    await p.getByText("More options").click();
    await p.getByRole("textbox", { name: "Campaign" }).fill("spring");
    await accessible(p, "one message");
    await shot(p, "send-one");
    await looks(p, "send-one");
    await p.getByRole("button", { name: "Copy as curl" }).click();
    const command = await p.evaluate(() => navigator.clipboard.readText());
    assert.match(command, /access_key=\$CARILLON_ACCESS_KEY/);
    assert.ok(!command.includes(company.access_key) && command.includes("{{ first_name }}"));
    await send.dblclick();
    await p.getByRole("heading", { name: "To +34 600 701 234", exact: true }).waitFor();
    await p.getByRole("link", { name: "Open message" }).click();
    await p.waitForURL(/\/notifications\//);
    const [id] = /[0-9a-f-]{36}/.exec(p.url());
    const sent = await sentTo(company, "34600701234");
    assert.deepEqual(
      sent.map((n) => [n.notification_id, n.campaign_name]),
      [[id, "spring"]],
    );
  });

  it("goes to several people, by number and by name, and says how each ended", async (t) => {
    const p = await open(t, company, "/send");
    await choose(p, "hello", /hello \(en\)/);
    await p.getByRole("combobox", { name: "To", exact: true }).fill("34600704444");
    await p.keyboard.press("Enter");
    await p.getByRole("combobox", { name: "To", exact: true }).fill("+34 600 110 005"); // of the sandbox: it fails
    await p.keyboard.press("Enter");
    await p.getByRole("textbox", { name: /^\{\{1\}\}|^Variable 1/ }).fill("all");
    await p.getByText("Shown for the first of 2 people").waitFor();
    await p.getByRole("button", { name: "Send", exact: true }).click();
    await p.getByRole("heading", { name: "To 2 people", exact: true }).waitFor();
    await p.getByRole("row").filter({ hasText: "+34 600 704 444" }).waitFor();
    assert.equal((await sentTo(company, "34600704444")).length, 1);
    await accessible(p, "several people");
    await shot(p, "send-several");
  });

  it("is followed by a call if it isn't delivered", async (t) => {
    const p = await open(t, company, "/send");
    await choose(p, "hello", /hello \(en\)/);
    await p.getByRole("combobox", { name: "To", exact: true }).fill("+34 600 110 022"); // of the sandbox: it stays sent
    await p.getByRole("textbox", { name: /^\{\{1\}\}|^Variable 1/ }).fill("Ana");
    await p.getByRole("checkbox", { name: /^Call if it isn't delivered/ }).check();
    const agent = p.getByRole("combobox", { name: "Agent", exact: true });
    await until(async () => (await agent.inputValue()) !== "", "the only agent");
    await looks(p, "send-fallback");
    await p.getByRole("button", { name: "Send", exact: true }).click();
    await p.getByRole("heading", { name: "To +34 600 110 022", exact: true }).waitFor();
    const [sent] = await sentTo(company, "34600110022");
    await visit(p, "/panel/notifications/" + sent.notification_id);
    await p
      .getByText(/Will be called at .+ if it isn't delivered/)
      .first()
      .waitFor();
    await p.getByText("call after 15 minutes").waitFor();
    await looks(p, "notification-fallback");
  });

  it("is sent once where the answer is lost, and refused with the reason at the field", async (t) => {
    const p = await open(t, company, "/send");
    await choose(p, "hello", /hello \(en\)/);
    const to = p.getByRole("combobox", { name: "To", exact: true }),
      value = p.getByRole("textbox", { name: /^\{\{1\}\}|^Variable 1/ });
    await to.fill("+34 600 70-22 22");
    await value.fill("{{ city }}");
    await p.getByRole("button", { name: "Send", exact: true }).click();
    await p.getByText("Enter text, or a field that this contact has").waitFor();
    await value.fill("Ana");
    await p.route("**/panel/v1/templates*", (r) =>
      r.fulfill({ status: 400, json: { error: "conflict", message: "no", request_id: "req_x" } }),
    );
    const stale = p.getByText("Couldn't refresh everything");
    await until(async () => {
      await p.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
      return stale.isVisible();
    }, "the failure is shown");
    assert.equal(await value.inputValue(), "Ana", "what was typed is gone");
    await accessible(p, "what could not be refreshed");
    await shot(p, "send-stale");
    await p.unroute("**/panel/v1/templates*");
    await p.getByRole("button", { name: "Try again" }).click();
    await stale.waitFor({ state: "hidden" });
    await p.evaluate(() => {
      // the first answer is lost
      const real = window.fetch;
      window.fetch = async (...args) => {
        const r = await real(...args);
        if (
          !String(args[0]).includes("/panel/v1/notifications?") &&
          !String(args[0]).endsWith("/panel/v1/notifications")
        )
          return r;
        window.fetch = real;
        throw new TypeError("lost");
      };
    });
    await p.getByRole("button", { name: "Send", exact: true }).click();
    await p.getByText("Try again. It won't be sent twice").waitFor();
    await p.getByRole("button", { name: "Send", exact: true }).click();
    await p.getByRole("heading", { name: "To +34 600 702 222", exact: true }).waitFor();
    assert.equal((await sentTo(company, "34600702222")).length, 1);
  });

  it("is scheduled on the clocks of a zone, in Spanish, on a phone", async (t) => {
    const p = await open(t, company, "/send", {
      locale: "es-ES",
      viewport: { width: 390, height: 844 },
      colorScheme: "dark",
      timezoneId: "America/Lima",
    });
    await p.getByRole("combobox", { name: "Plantilla" }).fill("hello");
    await p.getByRole("option", { name: /hello \(en\)/ }).click();
    await p.getByRole("combobox", { name: "Para", exact: true }).fill("34600703333");
    await p.getByRole("textbox", { name: /^\{\{1\}\}|^Variable 1/ }).fill("Ana");
    await p.getByText("Más opciones").click();
    await p.getByLabel("Campaña").fill("verano");
    await p.getByLabel("Enviar más tarde", { exact: true }).check();
    await p.getByLabel("Fecha y hora locales").fill("2030-07-01T09:00");
    // By keyboard: a click scrolls to the option first, and the list is hidden once its field has left the screen.
    const zone = p.getByRole("combobox", { name: "Zona horaria" });
    await zone.fill("Europe/Madrid");
    await p.getByRole("option", { name: "Europe/Madrid" }).waitFor();
    await zone.press("ArrowDown");
    await zone.press("Enter");
    await p.getByText(/En su zona horaria: 1 jul 2030, 2:00 \(America\/Lima\)/).waitFor();
    await fits(p, "the form");
    await accessible(p, "on a phone");
    await shot(p, "send-one-phone-es-dark");
    await p.getByRole("button", { name: "Programar" }).click();
    await p
      .getByText(/^Programado: /)
      .first()
      .waitFor();
    await shot(p, "send-scheduled-phone-es-dark");
    const [n] = await sentTo(company, "34600703333");
    assert.deepEqual([n.scheduled_time, n.state, n.campaign_name], ["2030-07-01T07:00:00Z", "scheduled", "verano"]);
  });
});

describe("sending to everybody of a file", () => {
  beforeEach(async () => {
    company = await newCompany();
    token = company.token;
  });

  it("maps, checks, shows and sends, and goes on without the page", async (t) => {
    await call("POST", `/functions/v1/suppressions?access_key=${company.access_key}`, "", { number: "34600399999" });
    const bad = {
      5: [
        "+34 600 399 001;Eva;Monday",
        ";Eva;Monday",
        "12;Eva;Monday",
        "34600399002;Eva;",
        "34600399003;Eva;" + "x".repeat(1100),
      ],
      200: ["0034600399001;Eva;Monday", "34600399999;Eva;Monday", "=1+1;Eva;Monday"],
    };
    const p = await open(t, company, "/send?tab=files");
    await p.getByText("No files yet").waitFor();
    await accessible(p, "no files");
    await shot(p, "send-files-empty");
    await drop(p, "book.ods", "x");
    await p.getByText("This kind of file can't be read").waitFor();
    await drop(p, "book.xlsx", "PK\u0003\u0004 cut off");
    await p.getByText("The workbook can't be read").waitFor();
    await drop(p, "broken.csv", 'phone;name\r\n34600300100;"Ana\r\n');
    await p.getByText("Line 2: Quotation marks do not match").waitFor();
    await drop(p, "people.csv", people(300, bad));
    await p.getByRole("heading", { name: "people.csv" }).waitFor();
    await p.getByText("UTF-8, semicolons").waitFor();
    assert.equal(await p.getByRole("combobox", { name: "Teléfono maps to" }).inputValue(), "Phone number");
    assert.equal(await p.getByRole("combobox", { name: "Nombre maps to" }).inputValue(), "First name");
    await p.getByRole("button", { name: "Check rows" }).click();
    await p.getByText("Required").first().waitFor();
    await choose(p, "weather", /weather_notice \(en\)/);
    await p.getByRole("combobox", { name: /^Column for Name/ }).waitFor();
    await p.getByRole("group", { name: "Variables" }).getByText("Same for all").nth(1).click();
    await p.getByRole("textbox", { name: /^Text for Weather/ }).fill("wind");
    await p.getByRole("combobox", { name: /^Column for Time/ }).click();
    await p.getByRole("option", { name: "Día" }).click();
    await p.getByText("More options").click();
    await p.getByRole("textbox", { name: "Campaign" }).fill("storm");
    await p
      .getByRole("complementary", { name: "Preview" })
      .getByText("Hello Ana 0, because of the wind we leave at Monday.")
      .waitFor();
    await accessible(p, "a file that is mapped");
    await shot(p, "send-mapping");
    await looks(p, "send-mapping");
    await p.getByRole("button", { name: "Check rows" }).click();
    await p.getByRole("region", { name: "Dry run" }).waitFor();
    await p.getByRole("region", { name: "7 of 308 rows skipped" }).waitFor();
    await p.getByText("2 numbers were cleaned up").waitFor();
    for (const [reason, n] of [
      ["Number missing", 1],
      ["Not a phone number", 2],
      ["Variable missing", 1],
      ["Text too long", 1],
      ["Duplicate", 1],
      ["Opted out", 1],
    ])
      await p
        .getByRole("button", { name: `${reason} ${n}` })
        .or(p.getByRole("button", { name: reason + n }))
        .first()
        .waitFor();
    await p.getByRole("button", { name: /^Duplicate/ }).click();
    await p.getByText("Same number as line 7").waitFor();
    const [file] = await Promise.all([
      p.waitForEvent("download"),
      p.getByRole("link", { name: "Download these rows" }).click(),
    ]);
    const rows = (await readFile(await file.path(), "utf8")).trim().split("\n");
    assert.ok(
      rows.length === 8 && rows[7].startsWith("'=1+1") && rows[1].includes(",8,number_missing"),
      rows.join("\n"),
    );
    await p.getByRole("button", { name: "Next message" }).click();
    await p.getByText("Hello Ana 1, because of the wind").waitFor();
    await accessible(p, "a dry run");
    await shot(p, "send-dry-run");
    await looks(p, "send-dry-run");
    await p.getByRole("button", { name: "Send to 301 people" }).click();
    const asked = p.getByRole("dialog");
    await asked.getByText("7 skipped").waitFor();
    await asked.getByText("Hello Ana 0, because of the wind").waitFor();
    await accessible(p, "the confirmation of a list");
    await shot(p, "send-confirm");
    await asked.getByRole("button", { name: "Send" }).click();
    await p.locator('[data-state="sending"], [data-state="done"]').first().waitFor();
    const address = p.url().replace(/^.*\/panel/, "");
    await p.close(); // the tab is closed, and somebody else looks

    const other = await open(t, company, address, { viewport: { width: 390, height: 844 }, colorScheme: "dark" });
    await other.getByText("301 of 301 queued").waitFor();
    await other.getByText("All 301 are queued").waitFor();
    await fits(other, "a job on a phone");
    await accessible(other, "a job that is done");
    await shot(other, "send-done-phone-dark");
    for (let cursor = "", seen = 0; ;) {
      const page = await call(
        "GET",
        `/functions/v1/notify?campaign=storm&limit=100&cursor=${cursor}&access_key=${company.access_key}`,
      );
      seen += page.data.reduce((n, x) => n + Object.values(x.counts).reduce((a, b) => a + b, 0), 0);
      if (!(cursor = page.next_cursor)) {
        assert.equal(seen, 301);
        break;
      }
    }
    await other.getByRole("link", { name: "Files" }).click();
    await other.getByRole("link", { name: "people.csv" }).waitFor();
    await shot(other, "send-files-phone-dark");
  });

  it("asks for the number before many are sent, and is paused, gone on with and canceled", async (t) => {
    const p = await open(t, company, "/send?tab=files", { locale: "es-ES" });
    await drop(p, "muchos.csv", people(3000));
    await p.getByRole("combobox", { name: "Plantilla" }).fill("hello");
    await p.getByRole("option", { name: /hello \(en\)/ }).click();
    await p.getByText("Más opciones").click();
    await p.getByRole("textbox", { name: "Campaña" }).fill("muchos");
    await p.getByLabel("Enviar más tarde", { exact: true }).check();
    await p.getByLabel("Fecha y hora locales").fill("2031-01-01T09:00");
    await p.getByRole("button", { name: "Comprobar las filas" }).click();
    await p.getByText("Se pueden enviar las 3000 filas").waitFor();
    await shot(p, "send-dry-run-es");
    await p.getByRole("button", { name: "Enviar a 3000 personas" }).click();
    const go = p.getByRole("dialog").getByRole("button", { name: "Programar" });
    assert.ok(await go.isDisabled());
    await accessible(p, "the confirmation");
    await p.getByLabel("Escriba 3000 para confirmar").fill("3000");
    await go.click();
    await p.getByText("Los 3000 están programados para el").waitFor();
    await p.getByRole("button", { name: "Cancelar el resto" }).click();
    await p.getByRole("dialog").getByRole("button", { name: "Cancelar el resto" }).click();
    await p.getByText("3000 se cancelaron a tiempo y 0 se enviaron").waitFor();
    await shot(p, "send-canceled-es");
    await accessible(p, "a job that was canceled");
  });

  it("takes the sample of a template as it is, as a workbook and as CSV", async (t) => {
    for (const [kind, name] of [
      ["Excel", "booking_confirmed.xlsx"],
      ["CSV", "booking_confirmed.csv"],
    ]) {
      const p = await open(t, company, "/send?tab=files");
      const sample = p.getByRole("group", { name: "Sample file for" });
      await sample.getByRole("combobox").fill("booking_confirmed");
      await p.getByRole("option", { name: "booking_confirmed (en)" }).click();
      const [file] = await Promise.all([
        p.waitForEvent("download"),
        sample.getByRole("link", { name: kind, exact: true }).click(),
      ]);
      assert.equal(file.suggestedFilename(), name);
      await p
        .locator('input[type="file"]')
        .setInputFiles({ name, mimeType: "application/octet-stream", buffer: await readFile(await file.path()) });
      await p.getByRole("heading", { name }).waitFor();
      await p.getByRole("button", { name: "Check rows" }).click();
      await p.getByText("All 2 rows can be sent").waitFor(); // no findings, and nothing to map
      await p.close();
    }
  });

  it("is nothing for who may not send", async (t) => {
    const who = await member(company, "Mate", "teammate");
    const p = await open(t, company, "/send", {}, who);
    await p.getByText("You can't open this page").waitFor();
    assert.equal(await p.getByRole("navigation").getByRole("link", { name: "Send", exact: true }).count(), 0);
    await assert.rejects(call("GET", "/panel/v1/send/jobs", await signIn(who)), /403/);
  });
});
