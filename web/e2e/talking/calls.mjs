// The pages of telephone calls that nobody answers, of those that were never placed, and of failures.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { accessible, shot } from "../browser.mjs";
import { call, direct, newCompany, open, until } from "../world.mjs";
import { chip, narrow } from "../lists.mjs";
import { withKey } from "../sent.mjs";

let company;

/** place has the demo's agent call a number of the sandbox. */
async function place(number, name, more = {}) {
  const r = await call("POST", withKey(company, "/functions/v1/notify/voice"), "", {
    contact: { number, first_name: name, last_name: "Ruiz" },
    recipient_id: "demo-line",
    agent_id: company.agent_id,
    notification_type: "transactional",
    campaign_name: "tours-tomorrow",
    ...more,
  });
  return r.notification_id;
}

const row = (p, id) => p.locator(`tr[data-id="${id}"]`);

describe("calls that nobody answers", () => {
  beforeEach(async () => {
    company = await newCompany();
  });

  it("are told in plain words: busy, and when the next attempt is; a call that waits is canceled", async (t) => {
    const id = await place("34600300011", "Jorge");
    const p = await open(t, company, "/calls/" + id);
    await p.getByText("Busy: 486 Busy Here").waitFor();
    await p.getByText(/^Next attempt at /).waitFor();
    await p.getByRole("button", { name: "Cancel call" }).click();
    await p.getByRole("dialog").getByRole("button", { name: "Cancel call" }).click();
    await p.locator(".calls-head", { hasText: "Canceled" }).waitFor();
    await shot(p, "calls-page-busy");
    const later = await place("34600300099", "Rui", { datetime_sending: "2098-01-01T10:00:00" });
    await p.goto(company.panel_url + "/calls/" + later);
    await p.getByText(/^Scheduled for /).waitFor();
  });

  it("are narrowed by the address, and new ones do not move what is being read", async (t) => {
    const told = await place("34600300011", "Ana");
    await place("34600400011", "Bea");
    const p = await open(t, company, "/calls?state=busy&campaign=nothing");
    await p.getByText("No calls match these filters").waitFor();
    await p.getByRole("button", { name: "Clear filters" }).first().click();
    await row(p, told).waitFor();
    await narrow(p, "Number", { text: "+34 600 300 011" });
    await p.waitForURL(/number=/);
    await until(async () => (await p.locator("tbody tr").count()) === 1, "one call is left");
    await p.reload();
    await row(p, told).waitFor();
    assert.equal(await p.locator("tbody tr").count(), 1);
    await chip(p, "number")
      .getByRole("button", { name: /^Remove filter/ })
      .click();
    await until(async () => (await p.locator("tbody tr").count()) > 1, "all are there again");

    await p.locator("[data-chart] rect[data-series]").first().waitFor();
    await row(p, told).hover();
    const before = await row(p, told).boundingBox();
    const id = await place("34600500013", "New");
    await p.getByRole("button", { name: "1 new call" }).waitFor();
    assert.equal(await row(p, id).count(), 0);
    assert.deepEqual(await row(p, told).boundingBox(), before, "the row has moved");
    await accessible(p, "a list with new calls");
    await p.getByRole("button", { name: "1 new call" }).hover();
    await place("34600500014", "Newer");
    await p.getByRole("button", { name: "2 new calls" }).waitFor(); // under the pointer, instead of a row that is clicked by mistake
    assert.equal(await row(p, id).count(), 0);
    await p.getByRole("button", { name: "2 new calls" }).click();
    await row(p, id).waitFor();
  });

  it("begin with a command that works, where there are none", async (t) => {
    const p = await open(t, company, "/calls");
    await p.route("**/panel/v1/events?*", (r) => r.abort()); // once it is there, the list is loaded again by itself
    await p.route("**/panel/v1/calls?*", (r) => r.fulfill({ json: { data: [], next_cursor: null } }));
    await p.reload();
    await p.getByRole("button", { name: "New key" }).click();
    await p.getByText("won't be shown again").waitFor();
    await accessible(p, "no calls");
    await shot(p, "calls-empty");
    const command = await p.locator(".snippet code").innerText();
    const [, address, body] = /curl '([^']+)'[^]*-d '([^']+)'/.exec(command);
    const r = await fetch(direct(address), { method: "POST", headers: { "Content-Type": "application/json" }, body });
    assert.equal(r.status, 200, await r.text());
  });

  it("to a line have a tab of their own", async (t) => {
    const p = await open(t, company, "/calls?state=busy");
    await p.getByRole("tab", { name: "Incoming" }).click();
    await p.getByText("No one has called yet").waitFor();
    await accessible(p, "no incoming calls");
    const id = "01a211ff-5250-7000-817f-c48c2d9a05b6";
    const at = new Date(Date.now() - 60_000).toISOString();
    const one = {
      call_id: id,
      direction: "incoming",
      state: "completed",
      number: "",
      agent_id: company.agent_id,
      line_id: "demo-line",
      created_at: at,
      ringing_at: at,
      answered_at: at,
      ended_at: new Date(Date.now() - 20_000).toISOString(),
      duration_s: 40,
      attempts: 0,
      ended_by: "caller",
      has_recording: false,
    };
    await p.route("**/panel/v1/calls?*direction=incoming*", (r) =>
      r.fulfill({ json: { data: [one], next_cursor: null } }),
    );
    await p.route("**/panel/v1/calls/" + id + "*", (r) =>
      r.fulfill({
        json: {
          ...one,
          tries: [],
          turns: [{ seq: 1, author: "agent", kind: "text", text: "Harbour Tours, hello.", at, name: "Reception" }],
        },
      }),
    );
    await p.reload();
    await row(p, id).getByText("Number withheld").waitFor();
    assert.equal(await p.getByRole("columnheader", { name: "Campaign" }).count(), 0);
    await shot(p, "calls-incoming");
    await row(p, id).getByRole("link").click();
    await p.getByText("The caller hung up").first().waitFor();
    await accessible(p, "an incoming call");
    await p.locator("a.back").click();
    await row(p, id).waitFor();
  });

  it("say so when they cannot be loaded", async (t) => {
    const told = await place("34600300011", "Ana");
    const p = await open(t, company, "/calls");
    await p.route("**/panel/v1/events?*", (r) => r.abort()); // once it is there, the list is loaded again by itself
    await p.route("**/panel/v1/calls?*", (r) =>
      r.fulfill({ status: 400, json: { error: "internal_error", message: "no", request_id: "req_x" } }),
    );
    await p.reload();
    await p.getByRole("alert").getByText("Something went wrong in Carillon.").waitFor();
    await p.unroute("**/panel/v1/calls?*");
    await p.getByRole("button", { name: "Try again" }).click();
    await row(p, told).waitFor();
    await p.goto(company.panel_url + "/calls/01a211ff-5250-7000-817f-c48c2d9a05b6");
    await p.getByText("Call not found").waitFor();
  });
});
