// The knowledge that agents answer from.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { accessible, shot } from "../browser.mjs";
import { act } from "../lists.mjs";
import { newCompany, open } from "../world.mjs";

let company;

describe("knowledge", () => {
  beforeEach(async () => {
    company = await newCompany();
  });

  it("is written, imported, searched and removed; open questions are answered", async (t) => {
    const p = await open(t, company, "/knowledge");
    await p.getByRole("link", { name: "faq", exact: true }).waitFor();
    await shot(p, "panel-knowledge");
    const base = "not-an-id";
    await p.getByRole("button", { name: "New knowledge base" }).click();
    await p.getByRole("dialog").getByLabel("Name").fill("?");
    await p.getByRole("dialog").getByRole("button", { name: "New knowledge base" }).click();
    await p.getByRole("dialog").locator(".mantine-InputWrapper-error").waitFor();
    await p.getByRole("dialog").getByLabel("Name").fill("not an id");
    await p.getByText(`Agents refer to the base as ${base}.`).waitFor();
    await p.getByRole("dialog").getByRole("button", { name: "New knowledge base" }).click();
    await p.getByRole("heading", { name: base }).waitFor();
    await p.getByRole("button", { name: "New article" }).click();
    const drawer = p.getByRole("dialog");
    await drawer.getByLabel("Title").fill("Lighthouse <i>tickets</i>");
    await drawer.getByRole("button", { name: "Save" }).click();
    await drawer.getByText("Required").waitFor();
    await drawer.getByLabel("Text").fill("The lighthouse costs six euros and opens at ten.");
    await accessible(p, "an article");
    await shot(p, "panel-article");
    await drawer.getByRole("button", { name: "Save" }).click();
    await drawer.waitFor({ state: "detached" });
    await p.getByRole("button", { name: /Lighthouse <i>tickets<\/i>/ }).waitFor();
    await p.getByRole("button", { name: "Import" }).click();
    await p.getByText("From Markdown").click();
    await p.getByLabel("Markdown", { exact: true }).fill("# Dogs\n\nDogs sail for **free** on a lead.");
    await p.getByRole("button", { name: "Fetch page" }).click();
    await p.getByRole("dialog").getByLabel("Title").waitFor();
    assert.equal(await p.getByRole("dialog").getByLabel("Title").inputValue(), "Dogs");
    await p.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await p.getByRole("button", { name: /^Dogs/ }).waitFor();
    await shot(p, "panel-base");
    await p.getByRole("button", { name: /^Dogs/ }).click();
    await p.waitForURL(/article=1/);
    await p.getByRole("dialog").getByLabel("Text").fill("Dogs sail for free, on a lead, at all times.");
    await p.keyboard.press("Escape");
    await p
      .getByRole("dialog", { name: "Leave without saving?" })
      .getByRole("button", { name: "Keep editing" })
      .click();
    await p.getByRole("dialog", { name: "Article" }).getByRole("button", { name: "Save" }).click();
    await p.getByText("at all times").waitFor();

    await p
      .getByLabel("Files to import as articles", { exact: true })
      .locator("input[type=file]")
      .setInputFiles([
        {
          name: "faq.csv",
          mimeType: "text/csv",
          buffer: Buffer.from("question,answer\nCats?,Cats sail in a box.\nFish?,No.\n"),
        },
        { name: "gaps.csv", mimeType: "text/csv", buffer: Buffer.from("question,answer\nBirds?,\n") },
      ]);
    const review = p.getByRole("dialog", { name: "Articles in your files" });
    await review.getByText("Line 2: the answer is missing.").waitFor();
    await review.getByRole("checkbox", { name: /Fish/ }).uncheck();
    await accessible(p, "the articles of files");
    await shot(p, "panel-files");
    await review.getByRole("button", { name: "Add 1 article" }).click();
    await p.getByRole("button", { name: /^Cats/ }).waitFor();
    assert.equal(await p.getByRole("button", { name: /^Fish/ }).count(), 0);

    await p.getByRole("button", { name: "New website" }).click();
    const form = p.getByRole("dialog", { name: "New website" });
    await form.getByLabel("URL").fill("ftp://site.invalid");
    await form.getByLabel("Only paths that start with").fill("help");
    await form.getByRole("button", { name: "New website" }).click();
    await form.locator(".mantine-InputWrapper-error").first().waitFor();
    await form.getByLabel("Only paths that start with").fill("/help/");
    await form.getByLabel("URL").fill("site.invalid");
    await form.getByRole("button", { name: "New website" }).click();
    await p.getByText("The site couldn't be reached.").waitFor();
    await accessible(p, "a site that cannot be reached");
    await shot(p, "panel-site");
    await p.getByRole("button", { name: "Change history" }).click();
    await p
      .getByRole("dialog", { name: /Change history/ })
      .getByText("The site couldn't be reached.")
      .waitFor();
    await p.keyboard.press("Escape");
    await p.getByRole("button", { name: /^Actions for / }).click();
    await p.getByRole("menuitem", { name: "Remove site" }).click();
    await p.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await p.getByText("This base has no websites.").waitFor();

    const synonyms = p.getByRole("textbox", { name: "Synonyms" });
    await synonyms.fill("lighthouse, beacon\nalone");
    await p.getByRole("button", { name: "Save", exact: true }).click();
    await p.getByText("Line 2 must have 2 to 16 words").waitFor();
    await synonyms.fill("lighthouse, beacon");
    await p.getByRole("button", { name: "Save", exact: true }).click();
    await p.getByRole("button", { name: "Discard changes" }).waitFor({ state: "detached" });
    await p.reload();
    assert.equal(await synonyms.inputValue(), "lighthouse, beacon");

    await p.goto(company.panel_url + "/knowledge?tab=search");
    await p.getByLabel("Question", { exact: true }).fill("What does the lighthouse cost?");
    await p.keyboard.press("Enter");
    await p.getByText("Answers").first().waitFor();
    await p.getByRole("listitem").filter({ hasText: base }).getByText("The lighthouse costs six euros").waitFor();
    await shot(p, "panel-search");

    const widget = await p.context().newPage();
    await widget.goto(
      `${company.base_url}/functions/v1/widgetWebView?customer_id=${company.access_key}&widget_id=${company.chat_widget_id}`,
    );
    const box = widget.frameLocator("iframe").locator("footer textarea");
    const question = "Zyxwv qqfrob?";
    await box.fill(question);
    await box.press("Enter");
    await widget.frameLocator("iframe").getByText("I couldn't find that").first().waitFor();
    await widget.close();
    await p.getByRole("tab", { name: "Unanswered questions" }).click();
    const row = p.getByRole("listitem", { name: question });
    await row.waitFor();
    await accessible(p, "the open questions");
    await shot(p, "panel-questions");
    await row.getByRole("button", { name: /New answer/ }).click();
    await p.getByRole("menuitem", { name: "In faq", exact: true }).click();
    await p.getByRole("dialog").getByLabel("Title").waitFor();
    assert.equal(await p.getByRole("dialog").getByLabel("Title").inputValue(), question);
    await p.goBack();
    await row.getByRole("button", { name: /Dismiss/ }).click();
    await row.waitFor({ state: "detached" });

    await p.goto(`${company.panel_url}/knowledge/${base}`);
    await act(p, "Remove knowledge base");
    await p.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await p.getByText("Knowledge base removed").waitFor();
    await p.getByRole("link", { name: base }).waitFor({ state: "detached" });
  });
});
