// Reviews of conversations in the inbox, and their counts.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, it } from "node:test";
import { accessible, looks, shot } from "../browser.mjs";
import { direct, newCompany, open } from "../world.mjs";

/** asks has a visitor say something in the chat, and returns the conversation. */
async function asks(company, text) {
  const post = async (path, token, body) => {
    const r = await fetch(`${direct()}/functions/v1/chat/${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...(token ? { Authorization: "Bearer " + token } : {}) },
      body: JSON.stringify(body),
    });
    assert.ok(r.ok, `${path}: ${r.status}`);
    return r.json();
  };
  const visitor = { widget_id: company.chat_widget_id, customer_id: randomUUID(), lang: "en" };
  const { token, conversation_id } = await post("session", "", visitor);
  await post("turns", token, { client_id: randomUUID(), text });
  return conversation_id;
}

describe("reviews", () => {
  it("follow the end of a conversation, with the agent's goal and topics", async (t) => {
    const company = await newCompany();
    const p = await open(t, company, `/agents/${company.agent_id}?tab=review`);
    const card = p.getByRole("region", { name: "After a conversation" });
    await card.getByLabel("Goal", { exact: true }).fill("The visitor knows when we open");
    await card.getByRole("button", { name: "New topic" }).click();
    const topic = card.getByRole("group", { name: "Topic 7" });
    await topic.getByLabel("Name").fill("Opening times");
    await card.getByRole("group", { name: "Opening times" }).getByLabel("Keywords").fill("open");
    await p.keyboard.press("Enter");
    await accessible(p, "the goal of an agent");
    await shot(p, "panel-agent-goal");
    await p.getByRole("region", { name: "Save" }).getByRole("button", { name: "Save" }).click();
    await p.getByRole("region", { name: "Save" }).waitFor({ state: "detached" });
    await p.reload();
    assert.equal(await card.getByLabel("Goal", { exact: true }).inputValue(), "The visitor knows when we open");
    assert.equal(await card.getByLabel("Decided by").inputValue(), "confirmed");
    await p.getByRole("tab", { name: "Calls" }).click();
    await p.getByRole("button", { name: "Remove question confirmed", exact: true }).click(); // and it decides no longer
    await p.getByRole("region", { name: "Save" }).getByRole("button", { name: "Save" }).click();
    await p.getByRole("region", { name: "Save" }).waitFor({ state: "detached" });

    await p.goto(company.panel_url + "/knowledge?tab=answers&view=reviews");
    await p.getByText("No reviews in this period").waitFor();
    const id = await asks(company, "When is your office open?");
    await p.goto(company.panel_url + `/inbox?folder=all&c=${id}`);
    const details = p.getByRole("complementary", { name: "Contact details" });
    await details.getByRole("heading", { name: "Messages" }).waitFor();
    await p.getByText("Source of this answer").waitFor(); // the agent has answered
    assert.equal(await details.getByText("Rule-based").count(), 0);
    await p.evaluate(() => localStorage.setItem("carillon.inbox.prefs", JSON.stringify({ next: false }))); // stays at this one
    await p.reload();
    await p.getByText("Source of this answer").waitFor();
    await p.getByRole("button", { name: /^Resolve: / }).click();
    await details.getByText(/^Began with “When is your office open\?”/).waitFor(); // as it is made, without a reload
    await details.getByText("Goal: unknown").waitFor();
    await details.getByRole("list", { name: "Topics" }).getByText("Opening times").waitFor();
    await accessible(p, "a review");
    await shot(p, "panel-review");

    await p.goto(company.panel_url + "/knowledge?tab=answers&view=reviews");
    await p.locator(".tile").filter({ hasText: "Unknown" }).getByText("100").waitFor();
    await p.locator("[data-chart] rect[data-series]").first().waitFor();
    await looks(p, "panel-reviews");
    await p.getByRole("button", { name: "Show as a table" }).click();
    await p.getByRole("columnheader", { name: "Unknown" }).waitFor();
    await p.getByRole("link", { name: "Show conversations about Opening times" }).click();
    await p.locator(".inbox-row").first().waitFor();
    assert.equal(await p.locator(".inbox-row").count(), 1);
  });
});
