// Sending a template to one person, and to everybody of a file.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { beforeEach, describe, it } from "node:test";
import { accessible, fits, looks, shot } from "../browser.mjs";
import { call, member, newCompany, open, signIn, until } from "../world.mjs";
import { choose, drop, people, sentTo } from "../sending.mjs";

let company;
let token;

describe("sending to one person", () => {
  beforeEach(async () => {
    company = await newCompany();
    token = company.token;
  });

  it("shows the message as the phone does, and sends it once", async (t) => {
    const p = await open(t, company, "/send");
    await shot(p, "send-empty");
    await p.getByRole("button", { name: "Send", exact: true }).click();
    assert.equal(await p.getByText("Required").count(), 3);
    await choose(p, "booking", /booking_confirmed \(en\)/);
    await p.getByRole("button", { name: "Send to the test phone" }).click();
    await p.getByLabel("First name", { exact: true }).fill("Ana");
    await p.getByRole("button", { name: "{{ first_name }} into Variable 1" }).click();
    await p.getByRole("textbox", { name: "Header 1" }).fill("HT-7");
    await p.getByRole("textbox", { name: "Variable 2", exact: true }).fill("Monday");
    await p.getByRole("textbox", { name: "Variable 3", exact: true }).fill("pier 3");
    await p.getByRole("textbox", { name: "Link of button 1" }).fill("HT-7");
    const preview = p.getByRole("complementary", { name: "Preview" });
    await preview.getByText("Hello Ana, your tour on Monday is booked. We meet at pier 3.").waitFor();
    await p.getByRole("textbox", { name: "Campaign" }).fill("spring");
    await accessible(p, "one person");
    await shot(p, "send-one");
    await looks(p, "send-one");
    await p.getByRole("button", { name: "Copy as curl" }).click();
    const command = await p.evaluate(() => navigator.clipboard.readText());
    assert.match(command, /access_key=\$CARILLON_ACCESS_KEY/);
    assert.ok(!command.includes(company.access_key) && command.includes("{{ first_name }}"));
    await p.getByRole("button", { name: "Send", exact: true }).dblclick();
    await p.getByRole("heading", { name: "Sent" }).waitFor();
    await accessible(p, "what was sent");
    await shot(p, "send-sent");
    await p.getByRole("link", { name: "Track delivery" }).click();
    await p.waitForURL(/\/notifications\//);
    const [id] = /[0-9a-f-]{36}/.exec(p.url());
    const sent = await sentTo(company, "34600701234");
    assert.deepEqual(
      sent.map((n) => [n.notification_id, n.campaign_name]),
      [[id, "spring"]],
    );
  });

  it("is sent once where the answer is lost, and refused with the reason at the field", async (t) => {
    const p = await open(t, company, "/send");
    await choose(p, "hello", /hello \(en\)/);
    await p.getByLabel("Phone number").fill("+34 600 70-22 22");
    await p.getByRole("textbox", { name: "Variable 1", exact: true }).fill("{{ city }}");
    await p.getByRole("textbox", { name: "Campaign" }).fill("lost");
    await p.getByRole("button", { name: "Send", exact: true }).click();
    await p.getByText("Enter a text, or a field that the contact has").waitFor();
    await p.getByRole("textbox", { name: "Variable 1", exact: true }).fill("Ana");
    await p.getByLabel("Phone number").fill("34");
    await p.getByRole("button", { name: "Send", exact: true }).click();
    await p.getByText(/Enter a phone number with its country code/).waitFor();
    await shot(p, "send-faults");
    await p.getByLabel("Phone number").fill("34600702222");
    await p.route("**/panel/v1/templates*", (r) =>
      r.fulfill({ status: 400, json: { error: "conflict", message: "no", request_id: "req_x" } }),
    );
    const stale = p.getByText("Couldn't refresh everything");
    await until(async () => {
      await p.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
      return stale.isVisible();
    }, "the failure is shown");
    assert.equal(await p.getByLabel("Phone number").inputValue(), "34600702222", "what was typed is gone");
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
    await p.getByRole("heading", { name: "Sent" }).waitFor();
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
    await p.getByLabel("Número de teléfono").fill("34600703333");
    await p.getByRole("textbox", { name: "Variable 1", exact: true }).fill("Ana");
    await p.getByLabel("Campaña").fill("verano");
    await p.getByLabel("Programar").check();
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
    await p.getByRole("heading", { name: /Programado para el/ }).waitFor();
    const [n] = await sentTo(company, "34600703333");
    assert.deepEqual([n.scheduled_time, n.state], ["2030-07-01T07:00:00Z", "scheduled"]);
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
    await drop(p, "book.xlsx", "PK");
    await p.getByText("This is an Excel file").waitFor();
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
    await p.getByRole("combobox", { name: "Column for Variable name" }).waitFor();
    await p.getByRole("group", { name: "Variables" }).getByText("Same for all").nth(1).click();
    await p.getByRole("textbox", { name: "Text for Variable weather" }).fill("wind");
    await p.getByRole("combobox", { name: "Column for Variable time" }).click();
    await p.getByRole("option", { name: "Día" }).click();
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
    await p.getByRole("region", { name: "7 of 308 rows will be skipped" }).waitFor();
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
    await p.getByRole("dialog").getByRole("button", { name: "Send" }).click();
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
    await p.getByRole("textbox", { name: "Campaña" }).fill("muchos");
    await p.getByLabel("Programar").check();
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

  it("is nothing for who may not send", async (t) => {
    const who = await member(company, "Mate", "teammate");
    const p = await open(t, company, "/send", {}, who);
    await p.getByText("You can't open this page").waitFor();
    assert.equal(await p.getByRole("navigation").getByRole("link", { name: "Send", exact: true }).count(), 0);
    await assert.rejects(call("GET", "/panel/v1/send/jobs", await signIn(who)), /403/);
  });
});
