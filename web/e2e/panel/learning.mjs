// What visitors ask, and how articles learn from it.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { accessible, shot } from "../browser.mjs";
import { newCompany, open } from "../world.mjs";

let company;

/** visit opens the chat as a visitor. ask says something and waits for the response. */
async function visit(p) {
  const page = await p.context().newPage();
  await page.goto(
    `${company.base_url}/functions/v1/widgetWebView?customer_id=${company.access_key}&widget_id=${company.chat_widget_id}`,
  );
  const chat = page.frameLocator("iframe");
  return {
    page,
    chat,
    async ask(question) {
      const responses = chat.locator(".row.them .bubble:not(.typing):not([aria-hidden])");
      const before = await responses.count();
      await chat.locator("footer textarea").fill(question);
      await chat.locator("footer textarea").press("Enter");
      await responses.nth(before).waitFor();
      return responses.nth(before).textContent();
    },
  };
}

describe("what visitors ask", () => {
  beforeEach(async () => {
    company = await newCompany();
  });

  it("is attached to the nearest article in two clicks, and answered from then on", async (t) => {
    const p = await open(t, company, "/knowledge?tab=questions");
    await p.getByText("No unanswered questions").waitFor();
    const visitor = await visit(p);
    const question = "zyxwv qqfrob voucher";
    await visitor.ask(question);
    await p.reload();
    const group = p.getByRole("listitem", { name: question });
    await group.getByText("Asked once").waitFor();
    await group.getByText("Closest article").waitFor();
    await accessible(p, "the open questions");
    await shot(p, "panel-questions-nearest");
    const article = await group.getByRole("link").first().textContent();
    await group.getByRole("button", { name: /Add to this article/ }).click();
    const dialog = p.getByRole("dialog");
    await dialog.getByText(question).waitFor();
    await dialog.getByRole("button", { name: "Add" }).click();
    await p.getByText("Question added to the article").waitFor();
    await p.getByText("No unanswered questions").waitFor();

    await visitor.ask(question);
    await visitor.chat.locator(".sources").first().waitFor();
    await visitor.page.close();
    await p.goto(company.panel_url + "/knowledge/faq");
    await p.getByRole("button", { name: article }).first().click();
    assert.match(await p.getByRole("dialog").getByLabel("Other wordings").inputValue(), new RegExp(question));
    await p.getByRole("dialog").getByLabel("Other wordings").fill("one wording\n\n another one ");
    await p.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await p.getByRole("dialog").waitFor({ state: "detached" });
    await p.getByRole("button", { name: article }).first().click();
    assert.equal(await p.getByRole("dialog").getByLabel("Other wordings").inputValue(), "one wording\nanother one");
  });

  it("is answered by a new article that takes the question off the list", async (t) => {
    const p = await open(t, company, "/knowledge?tab=questions");
    const visitor = await visit(p);
    const question = "zyxwv qqfrob glimmer";
    await visitor.ask(question);
    await visitor.page.close();
    await p.reload();
    const group = p.getByRole("listitem", { name: question });
    await group.getByRole("button", { name: /New answer/ }).click();
    await p.getByRole("menuitem", { name: "In faq", exact: true }).click();
    const drawer = p.getByRole("dialog");
    assert.equal(await drawer.getByLabel("Title").inputValue(), question);
    await drawer.getByLabel("Text", { exact: true }).fill("Glimmers are at the pier.");
    await drawer.getByRole("button", { name: "Save" }).click();
    await drawer.waitFor({ state: "detached" });
    await p.goto(company.panel_url + "/knowledge?tab=questions");
    await p.getByText("No unanswered questions").waitFor();
  });

  it("comes back when a visitor marks the answer as wrong, and the outcomes are counted", async (t) => {
    const p = await open(t, company, "/knowledge?tab=answers");
    await p.getByText("No questions in this period").waitFor();
    const visitor = await visit(p);
    const question = "When is your office open?";
    await visitor.ask(question);
    await visitor.chat.locator(".sources").first().waitFor();
    const wrong = visitor.chat.getByRole("button", { name: "This answer is wrong" });
    const helped = visitor.chat.getByRole("button", { name: "This answer helped" });
    await helped.click();
    await visitor.chat.getByText("Thanks").waitFor();
    await wrong.focus();
    await visitor.page.keyboard.press("Enter");
    await visitor.chat.locator(".thumb.dislike[aria-pressed=true]").waitFor(); // at once
    await visitor.chat.getByText("Thanks").waitFor(); // once it is stored
    await accessible(visitor.page.frames()[1], "an answer with thumbs");
    await shot(visitor.page, "chat-thumbs");
    await visitor.page.reload();
    await visitor.chat.locator(".thumb.dislike[aria-pressed=true]").waitFor();
    assert.equal(await helped.getAttribute("aria-pressed"), "false");

    await p.reload();
    await p.getByText("1 down").first().waitFor();
    await p.locator(".tile").filter({ hasText: "Answered" }).getByText("100").waitFor();
    await p.locator("[data-chart] rect[data-series]").first().waitFor();
    await accessible(p, "the answers");
    await shot(p, "panel-answers");
    await p.getByRole("button", { name: "Show as a table" }).first().click();
    await p.getByRole("columnheader", { name: "Handed over" }).first().waitFor();
    const [file] = await Promise.all([
      p.waitForEvent("download"),
      p.getByRole("link", { name: "Export as CSV" }).click(),
    ]);
    assert.equal(file.suggestedFilename(), "answers.csv");
    await p.getByRole("tab", { name: "Unanswered questions" }).click();
    const group = p.getByRole("listitem", { name: question });
    await group.getByText(/Answered from “.+”, marked as wrong/).waitFor();

    await wrong.click(); // a second press withdraws it
    await visitor.chat.locator(".thumb.dislike[aria-pressed=false]").waitFor();
    await p.reload();
    await p.getByText("No unanswered questions").waitFor();
    await visitor.page.close();

    await p.goto(company.panel_url + "/inbox?folder=all");
    await p.locator(".inbox-row").first().click();
    await p.getByText("Source of this answer").click();
    await p
      .locator(".inbox-why blockquote")
      .getByText(/\(\d+\s?%\)/)
      .waitFor();
    await shot(p, "panel-inbox-why");
  });
});
