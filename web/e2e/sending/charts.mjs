// Charts of what became of calls, conversations and campaigns: the figures are those of the lists, and nothing is cut off.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, describe, it } from "node:test";
import { accessible, dye, looks, shot, unclipped } from "../browser.mjs";
import { withKey } from "../sent.mjs";
import { call, newCompany, open, until } from "../world.mjs";

let company;

/** place has the demo's agent call a number of the sandbox. */
const place = (number) =>
  call("POST", withKey(company, "/functions/v1/notify/voice"), "", {
    contact: { number, first_name: "Ana" },
    recipient_id: "demo-line",
    agent_id: company.agent_id,
    notification_type: "transactional",
    campaign_name: "tours",
  });

/** waits has a visitor ask something, and wait for a person. */
async function waits(text) {
  const s = await call("POST", "/functions/v1/chat/session", "", {
    widget_id: company.chat_widget_id,
    customer_id: randomUUID(),
    lang: "en",
    page: "http://shop.localhost/",
  });
  await call("POST", "/functions/v1/chat/turns", s.token, { client_id: randomUUID(), text });
  await until(async () => (await answers()).agents.length > 0, "the agent answers");
  await call("POST", "/functions/v1/chat/handoff", s.token, {});
  return s;
}

const answers = () => call("GET", "/panel/v1/answers", company.token);

/** sums are the last row of a chart's table, by the heads of its columns. */
async function sums(card) {
  await card.getByRole("button", { name: "Show as a table" }).click();
  const heads = (await card.getByRole("columnheader").allInnerTexts()).slice(1);
  const cells = await card.locator("tfoot td").allInnerTexts();
  await card.getByRole("button", { name: "Show as a chart" }).click();
  return Object.fromEntries(heads.map((h, i) => [h, Number(/^\d+/.exec(cells[i].trim())[0])]));
}

describe("charts", () => {
  before(async () => {
    company = await newCompany();
    await Promise.all(["34600300013", "34600400013", "34600300099", "34600300021"].map(place));
    await call("POST", withKey(company, "/functions/v1/notify"), "", {
      contacts: ["34600000011", "34600000006"].map((number) => ({ number, first_name: "Ana" })),
      recipient_id: company.sender,
      name_template: company.template,
      language_template: "en",
      notification_type: "utility",
      campaign_name: "tours",
      components_push: { body_text_0: "Ana" },
    });
    const s = await waits("Is there a lift at pier 7?");
    const { data } = await call("GET", "/panel/v1/conversations?folder=unassigned&limit=50", company.token);
    const one = "/panel/v1/conversations/" + data[0].id;
    await call("POST", one + "/take", company.token, {});
    await call("POST", one + "/answers", company.token, { client_id: randomUUID(), text: "There is." });
    await call("POST", one + "/resolve", company.token, {});
    await call("POST", "/functions/v1/chat/rating", s.token, { rating: 4 });
  });

  it("of calls have the calls of the list, by their states", async (t) => {
    await until(async () => {
      const { total } = await call("GET", "/panel/v1/calls/outcomes", company.token);
      return total.rejected === 2 && !total.queued && !total.in_progress;
    }, "the calls have ended and are counted");
    const p = await open(t, company, "/calls");
    const card = p.getByRole("region", { name: "Calls by outcome" });
    const listed = (await call("GET", "/panel/v1/calls?limit=50", company.token)).data;
    const found = await until(async () => {
      const now = await sums(card);
      return now.Total === listed.length && now;
    }, "the chart has all calls");
    const count = (...states) => listed.filter((c) => states.includes(c.state)).length;
    for (const [name, n] of Object.entries({
      Completed: count("completed"),
      "Busy or declined": count("busy", "rejected"),
      Failed: count("failed"),
    }))
      assert.equal(found[name] ?? 0, n, name);
    await unclipped(p, "[data-chart]", "charts-calls");
    await p.getByText("7 days", { exact: true }).click();
    await p.waitForURL(/range=7d/);
    await p.locator('[data-bin="6"] rect').first().waitFor(); // today is the last of seven days
    await looks(p, "charts-calls-week");
    await p.getByRole("tab", { name: "Incoming" }).click();
    await p.getByText("No one has called yet").waitFor();
  });

  it("of a campaign and of the company show messages, calls, answers and response times", async (t) => {
    const p = await open(t, company, "/campaigns/tours");
    await p.getByRole("region", { name: "Messages by outcome" }).locator("rect[data-series]").first().waitFor();
    await p.getByRole("region", { name: "Calls by outcome" }).locator("rect[data-series]").first().waitFor();
    await p.locator(".campaigns-funnel", { hasText: "Answered" }).getByText("Completed").waitFor();
    await unclipped(p, "[data-chart]", "charts-campaign");
    await looks(p, "charts-campaign");

    await p.goto(company.panel_url + "/");
    const reply = p.getByRole("region", { name: "Time to first reply" });
    await reply.getByText("1 of 1 got a reply.", { exact: false }).waitFor();
    await p
      .getByRole("region", { name: "Response times by teammate" })
      .getByRole("cell", { name: "1", exact: true })
      .waitFor();
    await p.getByRole("region", { name: "Agent answers" }).locator("rect[data-series]").first().waitFor();
    await reply.getByRole("button", { name: "Show as a table" }).click();
    await reply.getByRole("columnheader", { name: "Median" }).waitFor();
    await reply.getByRole("button", { name: "Show as a chart" }).click();
    await unclipped(p, "[data-chart], .tiles, .overview-tables .table-wrap", "charts-overview");
    await looks(p, "charts-overview");

    await p.goto(company.panel_url + "/knowledge?tab=answers");
    const stars = p.getByRole("region", { name: "Ratings of conversations" });
    await stars.getByText("4 stars, from 1 rating.").waitFor();
    await accessible(p, "ratings");
    await shot(p, "charts-answers");
  });

  it("speak the language of the viewer", async (t) => {
    const p = await open(t, company, "/", { locale: "es", viewport: { width: 1440, height: 2600 } });
    await p.getByRole("region", { name: "Llamadas por resultado" }).locator("rect[data-series]").first().waitFor();
    await p.getByRole("region", { name: "Tiempo hasta la primera respuesta" }).waitFor();
    assert.match(
      await p
        .locator("[data-chart] svg text")
        .allTextContents()
        .then((x) => x.join(" ")),
      /\b\d\d:00\b/,
    );
    await unclipped(p, "[data-chart]", "charts-es");
    await dye(p, "dark");
    await shot(p, "charts-es-dark");
    await p.goto(company.panel_url + "/usage");
    await p.locator("[data-chart] rect[data-series]").first().waitFor();
    await looks(p, "charts-usage-es");
  });
});
