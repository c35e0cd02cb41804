// The overview, the usage and the suppressions, as an administrator reads them. What they show is sent as a script would, to the sandbox.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { accessible, looks, shot, unclipped } from "../browser.mjs";
import { act } from "../lists.mjs";
import { bareCompany, call, newCompany, open, until } from "../world.mjs";

let company;
let token;

/** send sends the demo's template to numbers of the sandbox. */
function send(campaign, numbers, type = "utility") {
  return call("POST", "/functions/v1/notify?access_key=" + company.access_key, "", {
    contacts: numbers.map((number) => ({ number, first_name: "Ana" })),
    recipient_id: company.sender,
    name_template: company.template,
    language_template: "en",
    notification_type: type,
    campaign_name: campaign,
    components_push: { body_text_0: "Ana" },
  });
}

const counts = async (query = "") => (await call("GET", "/panel/v1/overview?" + query, token)).total;
const tile = (p, name) =>
  p
    .locator(".tile", { has: p.locator("dt", { hasText: name }) })
    .locator("dd")
    .first();

describe("the overview", () => {
  beforeEach(async () => {
    company = await newCompany();
    token = company.token;
  });

  it("counts what was sent as it is delivered, read or fails, and narrows it", async (t) => {
    const p = await open(t, company, "/", { timezoneId: "Europe/Madrid" });
    await p.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
    await p.getByText("No messages in this period.").waitFor();
    await shot(p, "overview-empty");
    await send(
      "spring <b>sale</b>",
      ["34600000011", "34600000012", "34600000013", "34610000001", "34610000005"],
      "marketing",
    );
    await send("invoices", ["34600000021", "34600000023", "34600000006"]);
    await until(async () => (await counts()).read >= 5 && (await counts()).failed === 2);
    // A new hour is in the range once the page knows that it has begun.
    await until(
      async () => (await tile(p, "Failed").innerText()) === "2" && (await tile(p, "Accepted").innerText()) === "8",
      "all are counted",
    );
    // Each bar is read out with its figures and shares. One hour may begin between the two that were sent.
    const chart = p.getByRole("application", { name: /^Messages by outcome/ });
    await chart.focus();
    const read = { accepted: 0, failed: 0 };
    for (const key of ["End", "ArrowLeft"]) {
      const before = await chart.getByRole("status").innerText();
      await p.keyboard.press(key);
      const text = await until(async () => {
        const now = await chart.getByRole("status").innerText();
        return now && now !== before && now;
      }, "the chart says another hour");
      const of = (name) => Number(new RegExp(name + ": (\\d)").exec(text)?.[1] ?? 0);
      for (const name of ["Read", "Delivered, not read", "Sent, no receipt", "Waiting"]) read.accepted += of(name);
      read.accepted += of("Failed");
      read.failed += of("Failed");
    }
    assert.deepEqual(read, { accepted: 8, failed: 2 });
    await shot(p, "overview-chart");
    await p.keyboard.press("Escape");

    // The table has the figures of the lists, by the same outcomes.
    await p.getByRole("button", { name: "Show as a table" }).click();
    const table = p.getByRole("group", { name: "Messages by outcome: table" });
    const heads = (await table.getByRole("columnheader").allInnerTexts()).slice(1);
    const sums = (await table.locator("tfoot td").allInnerTexts()).map((x) => Number(/^\d+/.exec(x.trim())[0]));
    const { data } = await call("GET", "/panel/v1/notifications?limit=50", token);
    const listed = (...states) => data.reduce((n, x) => n + states.reduce((m, s) => m + (x.counts[s] ?? 0), 0), 0);
    assert.deepEqual(Object.fromEntries(heads.map((h, i) => [h, sums[i]])), {
      ...(listed("read") && { Read: listed("read") }),
      ...(listed("delivered") && { "Delivered, not read": listed("delivered") }),
      Failed: listed("failed"),
      Total: 8,
    });
    assert.equal(await table.locator("tbody tr").count(), 24); // the empty hours too
    await p.getByRole("button", { name: "Show as a chart" }).click();

    // Series that are toggled off leave; nothing is cut off at any width, nor at twice the size.
    const failed = p.getByRole("button", { name: "Failed 2" });
    await failed.click();
    await until(async () => (await failed.getAttribute("aria-pressed")) === "false");
    await p.locator('rect[data-series="failed"]').waitFor({ state: "detached" });
    await failed.click();
    await p.locator('rect[data-series="failed"]').first().waitFor();
    await unclipped(p, "[data-chart]", "overview-chart");
    await p.getByRole("button", { name: "Only spring <b>sale</b>" }).click();
    await until(async () => (await tile(p, "Accepted").innerText()) === "5");
    assert.match(decodeURIComponent(p.url()), /campaign=spring/);
    await p.reload();
    await until(async () => (await tile(p, "Accepted").innerText()) === "5");
    const link = await p.getByRole("link", { name: "spring <b>sale</b>" }).getAttribute("href");
    assert.match(decodeURIComponent(link.replaceAll("+", " ")), /notifications\?.*campaign=spring <b>sale<\/b>/);
    await p.getByRole("button", { name: "Clear filters" }).click();
    await p.getByText("30 days", { exact: true }).click();
    await until(async () => (await tile(p, "Accepted").innerText()) === "8");
    await p.waitForURL(/range=30d/);
    await p.getByText("Custom", { exact: true }).click();
    await p.getByLabel("From").fill("2026-01-02");
    await p.getByLabel("To", { exact: true }).fill("2026-01-03");
    await p.getByText("No messages in this period.").waitFor();
  });

  it("says what needs attention in plain words, with the way there; and that a part failed", async (t) => {
    const p = await open(t, company, "/", { locale: "es" });
    await p.getByText("Todo en orden").waitFor();
    const at = new Date(Date.now() + 3_600_000).toISOString();
    await p.route("**/panel/v1/overview/attention*", (route) =>
      route.fulfill({
        json: {
          data: [
            { kind: "maintenance", since: at, until: at },
            {
              kind: "sender_failing",
              sender: "main",
              number: "15555550100",
              channel: "messaging",
              class: "account",
              detail: "(#190) <b>token</b> expired",
              since: at,
              until: at,
            },
            {
              kind: "sender_failing",
              sender: "office",
              number: "15555550101",
              channel: "voice",
              class: "unreachable",
              detail: "no route",
              since: at,
            },
            { kind: "quota", used: 90, of: 100, reset_time: at },
            { kind: "conversations_waiting", count: 3 },
            { kind: "messages_failing", sender: "main", channel: "messaging", used: 9, of: 20 },
            { kind: "calls_failing", sender: "office", channel: "voice", used: 9, of: 20 },
            {
              kind: "template",
              template: "spring",
              id: "7",
              language: "es",
              status: "rejected",
              detail: "INVALID_FORMAT",
            },
            { kind: "template", template: "summer", id: "8", language: "es", status: "paused" },
            { kind: "search_behind", behind_s: 700 },
            { kind: "counts_behind", behind_s: 300 },
          ],
        },
      }),
    );
    await p.route("**/panel/v1/overview?*", (route) =>
      route.fulfill({ status: 500, json: { error: "internal_error", message: "x", request_id: "req_test" } }),
    );
    await p.reload();
    await p.getByText("El remitente main falla").waitFor();
    await p.getByText(/El canal rechaza la cuenta/).waitFor();
    await p.getByText("(#190) <b>token</b> expired").waitFor();
    await p.getByText("req_test").waitFor();
    for (const [name, to] of [
      ["Abrir la línea", "/lines/office"],
      ["Ver uso", "/usage"],
      ["Abrir la bandeja", "/inbox"],
    ]) {
      assert.ok((await p.getByRole("link", { name }).first().getAttribute("href")).includes(to), name);
    }
    await looks(p, "overview-failing");
  });
});

describe("a new company", () => {
  beforeEach(async () => {
    company = await newCompany();
    token = company.token;
  });

  it("has its first steps, each done when the server has it, until they are closed", async (t) => {
    const p = await open(t, await bareCompany());
    const steps = p.getByRole("region", { name: "First steps" });
    await steps.getByText("0 of 6 done").waitFor();
    await looks(p, "overview-new");
    await steps.getByRole("link", { name: "New key" }).click();
    await p.getByRole("button", { name: "New key" }).first().click();
    await p.getByRole("dialog").getByLabel("Label").fill("first");
    await p.getByRole("dialog").getByRole("button", { name: "New key" }).click();
    await p.getByRole("dialog").getByRole("button", { name: "Done" }).click();
    await p.getByRole("link", { name: "Overview" }).click();
    await steps.getByText("1 of 6 done").waitFor();
    await steps.getByRole("button", { name: "Don't show this again in this browser" }).click();
    await steps.waitFor({ state: "detached" });
    await p.reload();
    await p.getByText("All clear").waitFor();
    assert.equal(await steps.count(), 0);
  });
});

describe("usage and suppressions", () => {
  beforeEach(async () => {
    company = await newCompany();
    token = company.token;
  });

  it("show what is used of the limits", async (t) => {
    const p = await open(t, company, "/usage");
    await p.getByRole("heading", { name: "Usage and limits" }).waitFor();
    await p.getByText("recipients, without a daily quota").waitFor();
    await p.getByRole("cell", { name: "No limit" }).first().waitFor();
    const real = await call("GET", "/panel/v1/usage", token);
    await p.route("**/panel/v1/usage*", (route) => route.fulfill({ json: { ...real, quota: 1000, used: 850 } }));
    await p.reload();
    await p.getByText("of 1,000 recipients (85%)").waitFor();
    await shot(p, "usage-quota");
  });

  it("are added from a pasted list, found, exported and lifted", async (t) => {
    const p = await open(t, company, "/suppressions");
    await p.getByRole("heading", { name: "No opt-outs yet" }).waitFor();
    await shot(p, "suppressions-empty");
    await p.getByRole("button", { name: "Add numbers" }).first().click();
    const form = p.getByRole("dialog");
    await form
      .getByLabel("Numbers", { exact: true })
      .fill("+34 600 111 222\n34600111222\n0034-600-333-444; 12\nnobody");
    await form.getByText("2 entries aren't valid numbers:").waitFor();
    await form.getByRole("button", { name: "Add 2" }).click();
    await form.getByText("Fix or remove the invalid entries").waitFor();
    await accessible(p, "adding numbers");
    await shot(p, "suppressions-add");
    await form.getByLabel("Numbers", { exact: true }).fill("+34 600 111 222\n34600111222\n0034-600-333-444");
    await form.getByText("2 numbers. 1 repeated, counted once.").waitFor();
    await form.getByText("Marketing only").click();
    await form.getByLabel("Reason").fill('=HYPERLINK("x")');
    await form.getByRole("button", { name: "Add 2" }).click();
    await p.getByText("2 added").waitFor();
    await p.getByRole("row", { name: /\+34 600 111 222.*Marketing.*=HYPERLINK/ }).waitFor();
    const exported = await p.evaluate(() => fetch(document.querySelector("a[download]").href).then((r) => r.text()));
    assert.match(exported, /^34600111222,marketing,"'=HYPERLINK/m);
    await p.getByRole("searchbox").fill("+34 600 3");
    await p.getByRole("row", { name: /34 600 333 444/ }).waitFor();
    await until(async () => (await p.getByRole("row").count()) === 2);
    assert.match(p.url(), /number=(%22)?346003/);
    await act(p, "Remove", "+34 600 333 444");
    await p.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await p.getByText("No matching numbers").waitFor();
    const left = await call("GET", "/panel/v1/suppressions", token);
    assert.deepEqual(
      left.data.map((x) => [x.number, x.author]),
      [["34600111222", company.email]],
    );
  });
});
