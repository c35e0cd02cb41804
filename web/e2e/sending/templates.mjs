// Templates, from a draft to what the channel decides, as an administrator and a marketer work with them.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { accessible, looks, shot, visit } from "../browser.mjs";
import { act, narrow } from "../lists.mjs";
import { call, member, newCompany, open, until } from "../world.mjs";

let company;
let token;

const base = "/panel";
const names = (p) =>
  p.locator("[data-list] tbody tr").evaluateAll((rows) => rows.map((r) => r.querySelector(".row-title").textContent));
const make = (name, more = {}) =>
  call("POST", "/panel/v1/templates", token, {
    name,
    language: "en",
    category: "UTILITY",
    content: "Hello {{1}}, your tour leaves soon.",
    samples: { 1: "Ana" },
    ...more,
  });

describe("templates", () => {
  beforeEach(async () => {
    company = await newCompany();
    token = company.token;
  });

  it("are listed with filters in the address, languages of one name together", async (t) => {
    const p = await open(t, company, "/templates");
    const table = p.getByRole("table");
    await table.getByRole("link", { name: "booking_confirmed" }).first().waitFor();
    await narrow(p, "Language", { value: "European Spanish" });
    await p.waitForFunction(() => new URLSearchParams(location.search).get("language") === "es_ES");
    assert.ok((await names(p)).every((n) => n.length > 0));
    await p.getByRole("searchbox", { name: "Search names and texts" }).fill("excursion reservada");
    await p.waitForFunction(
      () =>
        new URLSearchParams(location.search).get("q") === "excursion reservada" &&
        document.querySelectorAll("[data-list] tbody tr").length === 1,
    );
    await p.reload();
    await table.getByRole("row", { name: /booking_confirmed/ }).waitFor();
    assert.equal((await names(p)).length, 1);
    assert.equal(await p.getByRole("searchbox").inputValue(), "excursion reservada");
    await p.getByRole("searchbox").fill("nothing like it");
    await p.getByRole("heading", { name: "No templates match these filters" }).waitFor();
    await p.getByRole("button", { name: "Clear filters" }).last().click();
    await table.getByRole("link", { name: "hello" }).waitFor();
    assert.equal(new URL(p.url()).search.replace(/company=[^&]*&?/, ""), "");

    await p.context().route("**/panel/v1/templates/sync*", (route) =>
      route.request().method() === "GET"
        ? route.fallback()
        : route.fulfill({
            json: {
              data: [
                {
                  sender: "demo",
                  number: "15550100100",
                  at: new Date().toISOString(),
                  found: 12,
                  changed: 2,
                  missing: 3,
                  imported: 4,
                  gone: 0,
                  unsupported: 1,
                },
                {
                  sender: "second",
                  number: "15550100102",
                  at: new Date().toISOString(),
                  found: 0,
                  changed: 0,
                  missing: 0,
                  imported: 0,
                  gone: 0,
                  unsupported: 0,
                  error: "The messaging channel is not available",
                },
              ],
              next_cursor: null,
            },
          }),
    );
    await p.getByRole("button", { name: "Sync now" }).click();
    await p.getByText("4 new, 2 changed, 1 can't be sent from here").waitFor();
    await p.getByText(/Couldn't sync sender second.*WhatsApp isn.t available right now/).waitFor();
    await p.getByText(/3 templates exist only on WhatsApp/).waitFor();
    await accessible(p, "a sync that failed in part");
    await shot(p, "panel-templates-sync-failed");
    await p.context().unroute("**/panel/v1/templates/sync*");
    await p.getByRole("button", { name: "Sync now" }).click();
    await p.getByText("Up to date").waitFor();
    await p.reload();
    await p.getByText("Synced with WhatsApp").waitFor();
    await p
      .context()
      .route("**/panel/v1/templates?*", (route) => route.fulfill({ json: { data: [], next_cursor: null } }));
    await p
      .context()
      .route("**/panel/v1/templates", (route) => route.fulfill({ json: { data: [], next_cursor: null } }));
    await p.reload();
    await p.getByRole("heading", { name: "No templates yet" }).waitFor();
    await shot(p, "panel-templates-empty");
  });

  it("are written with the rules at the fields, kept when the tab is closed, submitted, and approved before one's eyes", async (t) => {
    const p = await open(t, company, "/templates");
    await p.getByRole("link", { name: "New template" }).click();
    await p.getByRole("button", { name: "Submit for approval" }).click();
    await p.getByText("2 fields to fix").waitFor();
    await p.waitForFunction(() => document.activeElement.getAttribute("aria-invalid") === "true");
    await p.getByLabel("Name", { exact: true }).fill("Tour Reminder ñ");
    await p.getByText("Use lowercase letters a to z, digits and _").waitFor();
    await p.getByLabel("Name", { exact: true }).fill("Tour Reminder");
    assert.equal(await p.getByLabel("Name", { exact: true }).inputValue(), "tour_reminder");
    await p.getByText("Text", { exact: true }).first().click();
    await p.getByLabel("Header text").fill("x".repeat(61));
    await p.getByText("At most 60 characters").waitFor();
    await p.getByText("61/60").waitFor();
    await accessible(p, "the editor with faults");
    await shot(p, "panel-template-editor-faults");
    await p.getByLabel("Header text").fill("Your tour");

    const body = p.getByRole("textbox", { name: "Text", exact: true });
    await body.click();
    await p.keyboard.type("Hello {{");
    await p.getByRole("option", { name: /\{\{1\}\}/ }).waitFor();
    await shot(p, "panel-template-editor-variable");
    await p.keyboard.press("Enter");
    await p.keyboard.type(", your tour starts at ");
    await p.getByRole("button", { name: "Variable", exact: true }).click();
    await p.keyboard.type(" and {{");
    await p.keyboard.press("ArrowDown");
    await p.keyboard.press("ArrowDown"); // the new one
    await p.keyboard.press("Escape");
    for (const key of "}}") await p.keyboard.type(key);
    await p.getByText("A variable has no name").waitFor();
    for (let i = 0; i < " and {{}}".length; i++) await p.keyboard.press("Backspace");
    await p.keyboard.type(". We meet at the pier.");
    assert.equal(await body.inputValue(), "Hello {{1}}, your tour starts at {{2}}. We meet at the pier.");
    await body.evaluate((el) => el.setSelectionRange(13, 22));
    await p.keyboard.press("Control+b");
    assert.equal(await body.inputValue(), "Hello {{1}}, *your tour* starts at {{2}}. We meet at the pier.");
    await p.getByLabel("Sample for {{1}}").fill("Ana");
    const preview = p.getByRole("figure", { name: "Preview" });
    await preview.getByText("your tour", { exact: true }).waitFor();
    assert.equal(await preview.locator("strong").innerText(), "your tour");
    await until(
      async () => (await preview.locator(".preview-chip").allInnerTexts()).join() === "{{2}}",
      "the first variable has its sample",
    );
    await p.getByLabel("Sample for {{2}}").fill("11:30");
    await p.getByRole("textbox", { name: /^Footer/ }).fill("Harbour Tours");

    for (const [kind, text] of [
      ["Quick reply", "I will be there"],
      ["Open a page", "Map"],
      ["Quick reply", "I cannot come"],
    ]) {
      await p.getByRole("button", { name: "Add button" }).click();
      await p.getByRole("menuitem", { name: new RegExp("^" + kind) }).click();
      await p.waitForFunction(() => document.activeElement?.closest(".templates-button"));
      await p.keyboard.type(text);
    }
    const groups = () =>
      p.locator(".templates-button").evaluateAll((all) => all.map((x) => x.querySelector("input").value));
    assert.deepEqual(await groups(), ["I will be there", "I cannot come", "Map"], "quick replies stand together");
    await p.getByLabel("URL").fill("harbour.test/map");
    await p.getByText("The URL must start with https://").waitFor();
    await p.getByLabel("URL").fill("https://harbour.test/map/{{1}}");
    await p.getByRole("button", { name: "Move Map up" }).click();
    await p.getByText("Place quick replies next to each other").waitFor();
    await p.getByRole("button", { name: "Move Map down" }).click();
    await p.getByText("Not saved yet. Kept in this browser.").waitFor();
    await looks(p, "panel-template-editor");

    await p.reload(); // closed by mistake
    await p.getByText(/Restored your unsaved draft/).waitFor();
    assert.equal(await p.getByLabel("Name", { exact: true }).inputValue(), "tour_reminder");
    assert.deepEqual(await groups(), ["I will be there", "I cannot come", "Map"]);
    await shot(p, "panel-template-editor-kept");
    await p.getByRole("button", { name: "Save draft" }).click();
    await p.getByRole("heading", { name: "tour_reminder", level: 1 }).waitFor();
    await p.getByRole("region", { name: "Status" }).getByText("Draft").waitFor();
    await p.waitForURL(/\/templates\/(?!new)[^/]+$/);
    const id = new URL(p.url()).pathname.split("/").pop();
    await shot(p, "panel-template-draft");

    await p.getByRole("button", { name: "Submit for approval" }).click();
    await p.getByRole("region", { name: "Status" }).getByText("Approved", { exact: true }).waitFor(); // the sandbox decides after a moment, and nothing was loaded again
    const history = p.getByRole("region", { name: "History" }).getByRole("listitem");
    await p.getByRole("region", { name: "History" }).getByText("Approved").waitFor();
    assert.deepEqual(await history.locator("b").allInnerTexts(), ["Approved", "Submitted", "Created"]);
    assert.ok(
      (await p.getByRole("main").getByRole("link", { name: "Send", exact: true }).getAttribute("href")).includes(
        "/send?template=" + id,
      ),
    );
    await accessible(p, "an approved template");
    await shot(p, "panel-template-approved");
    const stored = await call("GET", "/panel/v1/templates/" + id, token);
    assert.deepEqual(
      [stored.status, stored.variables, stored.components.find((x) => x.type === "BODY").example],
      ["approved", ["body_text_0", "body_text_1", "button_url_2"], { body_text: [["Ana", "11:30"]] }],
    );

    await act(p, "Copy to another language");
    await p.getByText(/A copy in another language/).waitFor();
    assert.ok((await body.inputValue()).includes("{{2}}"));
    await p.getByRole("combobox", { name: "Language" }).click();
    await p.getByRole("combobox", { name: "Language" }).fill("fr");
    await p.getByRole("option", { name: "French · fr" }).click();
    await body.fill("Bonjour {{1}}, la visite commence à {{2}}. Rendez-vous au quai.");
    await p.getByRole("button", { name: "Save draft" }).click();
    await p
      .getByRole("link", { name: /American English|English/ })
      .first()
      .waitFor();
    const copy = await call("GET", "/panel/v1/templates/" + new URL(p.url()).pathname.split("/").pop(), token);
    assert.deepEqual(
      [copy.name, copy.language, copy.status, copy.variables.length],
      ["tour_reminder", "fr", "draft", 3],
    );
    await p.clock.install(); // the page asks every half a minute
    await visit(p, `${base}/templates/${copy.id}/edit`);
    await body.fill("Bonjour {{1}}, à {{2}}. À bientôt.");
    const theirs = await call("PATCH", `/panel/v1/templates/${copy.id}?version=${copy.version}`, token, {
      category: "MARKETING",
    }); // by somebody else meanwhile
    await p.clock.fastForward(30_000);
    await p.getByText("This template changed after you opened it").waitFor();
    assert.equal(await body.inputValue(), "Bonjour {{1}}, à {{2}}. À bientôt.");
    await accessible(p, "a template that changed meanwhile");
    await shot(p, "panel-template-editor-changed");
    await p.getByRole("button", { name: "Keep my version" }).click();
    await body.press("End");
    await body.pressSequentially("!");
    await p.getByRole("link", { name: copy.name, exact: true }).first().click(); // before the typing has paused
    await p.getByRole("heading", { name: copy.name, level: 1 }).waitFor();
    await visit(p, `${base}/templates/${copy.id}/edit`);
    await p.getByText(/Restored your unsaved draft/).waitFor();
    assert.equal(await body.inputValue(), "Bonjour {{1}}, à {{2}}. À bientôt.!");
    await p.getByRole("button", { name: "Save draft" }).click();
    await p.getByRole("region", { name: "Status" }).getByText("Draft").waitFor();
    const mine = await call("GET", "/panel/v1/templates/" + copy.id, token);
    assert.deepEqual([mine.body, mine.version === theirs.version], ["Bonjour {{1}}, à {{2}}. À bientôt.!", false]);
    await visit(p, base + "/templates/new");
    await p.getByLabel("Name", { exact: true }).fill("tour_reminder");
    await body.fill("Hello.");
    await p.getByRole("button", { name: "Save draft" }).click();
    await p.getByText("This sender already has a template with this name and language").first().waitFor();
  });

  it("are decided on: a rejection with its reason and the next step, a review in the sandbox, what an edit changes", async (t) => {
    const rejected = await make("offer_reject");
    await call("POST", `/panel/v1/templates/${rejected.id}/submit`, token);
    const slow = await make("reminder_slow");
    const p = await open(t, company, "/templates/" + rejected.id);
    await p.getByText("WhatsApp rejected it").waitFor();
    await p.getByText("Edit it and submit it again.").waitFor();
    await p.getByText("The sandbox rejects templates whose name ends in _reject").first().waitFor();
    await looks(p, "panel-template-rejected");

    await visit(p, base + "/templates/" + slow.id);
    await p.getByRole("button", { name: "Submit for approval" }).click();
    const review = p.getByRole("region", { name: "Sandbox review" });
    await review.getByRole("textbox", { name: "Reason for a rejection" }).fill("TAG_CONTENT_MISMATCH");
    await accessible(p, "a template in review");
    await shot(p, "panel-template-pending");
    await review.getByRole("button", { name: "Reject" }).click();
    await p.getByText("The language or category doesn't match the text.").first().waitFor();
    await p.getByRole("button", { name: "Edit", exact: true }).click();
    const body = p.getByRole("textbox", { name: "Text", exact: true });
    assert.ok(await p.getByLabel("Name", { exact: true }).isDisabled());
    await body.fill("Good morning {{1}}, your tour leaves soon.");
    await call("PATCH", "/panel/v1/templates/" + slow.id, token, { content: "Somebody else was faster, {{1}}, here." });
    await p.keyboard.press("Control+s");
    await p.getByText("This changed in the meantime. Reload and try again.").first().waitFor();
    await p.reload();
    await p.getByText("The template has changed since.").waitFor();
    assert.equal(await body.inputValue(), "Good morning {{1}}, your tour leaves soon.");
    await p.getByRole("button", { name: "Submit for approval" }).click();
    await review.waitFor();
    const history = p.getByRole("region", { name: "History" });
    await history.locator("summary", { hasText: "Text" }).first().click();
    assert.equal(await history.locator("ins").first().textContent(), "Good morning ");
    await shot(p, "panel-template-history");
    await p.getByRole("button", { name: "Edit", exact: true }).click();
    await p.getByRole("dialog", { name: "Withdraw from review?" }).getByRole("button", { name: "Cancel" }).click();
    await review.getByRole("button", { name: "Approve" }).click();
    await p.getByRole("region", { name: "Status" }).getByText("Approved", { exact: true }).waitFor();

    await act(p, "Delete");
    await p.getByRole("dialog", { name: "Delete reminder_slow (en)?" }).getByRole("button", { name: "Delete" }).click();
    await p.getByRole("heading", { name: "Templates", level: 1 }).waitFor();
    await p.getByRole("link", { name: "hello" }).waitFor();
    assert.ok(!(await names(p)).includes("reminder_slow"));
    await visit(p, base + "/templates/" + slow.id);
    await p.getByRole("heading", { name: "Template not found" }).waitFor();
  });

  it("are one-time codes, which stay hidden, and carousels", async (t) => {
    const p = await open(t, company, "/templates/new");
    const preview = p.getByRole("figure", { name: "Preview" });
    await p.getByLabel("Name", { exact: true }).focus();
    await p.getByText("Authentication", { exact: true }).click(); // a fault at the empty name would move it away
    assert.equal(await p.getByText("Required").count(), 0);
    await p.getByLabel("Name", { exact: true }).fill("door_code");
    assert.equal(await p.getByRole("textbox", { name: "Text", exact: true }).count(), 0, "the channel writes it");
    await preview.getByText("is your verification code").waitFor();
    await p.getByLabel("Minutes until the code expires").fill("95");
    await p.getByText("A whole number from 1 to 90").waitFor();
    await p.getByLabel("Minutes until the code expires").fill("5");
    await preview.getByText("This code expires in 5 minutes.").waitFor();
    await p.getByText("One tap", { exact: true }).click();
    await p.getByLabel("Package name of app 1").fill("com.example.app");
    await p.getByLabel("Key hash of app 1").fill("short");
    await p.getByLabel("Key hash of app 1").blur();
    await p.getByText("Exactly 11 characters").waitFor();
    await looks(p, "panel-template-code");
    await p.getByText("Copy", { exact: true }).click();
    await p.getByRole("button", { name: "Submit for approval" }).click();
    await p.getByRole("region", { name: "Status" }).getByText("Approved", { exact: true }).waitFor();

    await p.getByRole("main").getByRole("link", { name: "Send", exact: true }).click();
    await p.getByRole("combobox", { name: "To", exact: true }).fill("+34 600 110 101");
    await p.getByLabel("One-time code").fill("918273");
    await shot(p, "panel-send-code");
    await p.getByRole("button", { name: "Send", exact: true }).click();
    await p.getByRole("heading", { name: "To +34 600 110 101", exact: true }).waitFor();
    await visit(p, base + "/notifications");
    await p.getByRole("link", { name: "door_code" }).first().click();
    await p.getByText("••••••").first().waitFor();
    assert.ok(!(await p.getByRole("main").innerText()).includes("918273"));
    await shot(p, "panel-notification-code");

    await visit(p, base + "/templates/new");
    await p.getByLabel("Name", { exact: true }).fill("spring");
    await p.getByText("Marketing", { exact: true }).click();
    await p.getByRole("textbox", { name: "Text", exact: true }).first().fill("Our tours in spring");
    await p.getByRole("checkbox", { name: /^Cards/ }).check();
    for (const n of [1, 2]) {
      const card = p.getByRole("group", { name: "Card " + n, exact: true });
      await card.getByRole("textbox", { name: "Text", exact: true }).fill("Tour " + n + " from {{1}}");
      await card.getByLabel("Sample for {{1}}").fill("9 €");
      await card.getByLabel("Button text").fill("Book");
    }
    await preview.getByText("Tour 2 from").waitFor();
    await looks(p, "panel-template-carousel");
    await p.getByRole("button", { name: "Save draft" }).click();
    await p.getByRole("heading", { name: "spring", level: 1 }).waitFor();
    await p.getByText("card_1_body_text_0").waitFor();
    await shot(p, "panel-template-carousel-draft");
  });

  it("are read and not changed by who may only read, in Spanish", async (t) => {
    const p = await open(t, company, "/templates", { locale: "es-ES" }, await member(company, "Rita", "viewer"));
    await p.getByRole("link", { name: "booking_confirmed" }).first().waitFor();
    assert.equal(await p.getByRole("link", { name: "Nueva plantilla" }).count(), 0);
    await shot(p, "panel-templates-es");
    await p.getByRole("link", { name: "booking_confirmed" }).first().click();
    await p.getByRole("region", { name: "Estado" }).getByText("Aprobada", { exact: true }).waitFor();
    assert.equal(await p.getByRole("button", { name: "Más acciones" }).count(), 0);
    await accessible(p, "a template in Spanish");
    await shot(p, "panel-template-es");
    await visit(p, base + "/templates/new");
    await p.getByRole("heading", { name: "No puede abrir esta página" }).waitFor();
  });
});
