// The search by meaning: the server that a base names, its vectors, and what a search says when it fails.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { accessible, looks } from "../browser.mjs";
import { act } from "../lists.mjs";
import { ask, member, newCompany, open } from "../world.mjs";

/** search tries a search, and waits for its results. */
async function search(p, company, question) {
  await p.goto(company.panel_url + "/knowledge?tab=search&q=" + encodeURIComponent(question));
  const results = p.getByRole("region", { name: "Results" });
  await results.waitFor();
  return results;
}

describe("the search by meaning", () => {
  it("has a server that is tried, saved, fails and is removed", async (t) => {
    const company = await newCompany();
    const url = await ask("embeddings");
    const p = await open(t, company, "/knowledge/faq");
    const card = p.getByRole("region", { name: "Search by meaning" });
    await card.getByText("This base is searched by keywords only").waitFor();
    await card.getByRole("button", { name: "New server" }).click();
    const dialog = p.getByRole("dialog");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("Required").first().waitFor();

    await dialog.getByLabel("Base URL").fill(url);
    await dialog.getByLabel("Model").fill("words-1");
    await dialog.getByRole("button", { name: "Test" }).click();
    await dialog.getByText("The embeddings server rejected the API key (401).").waitFor();
    await looks(p, "panel-meaning-refused");
    await dialog.getByRole("textbox", { name: "API key" }).fill("sk-1");
    await dialog.getByRole("button", { name: "Test" }).click();
    await dialog.getByText(/Connected\. 256 dimensions in \d+ ms/).waitFor();
    await accessible(p, "the form of an embeddings server that answers");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    await card.getByText(/^([\d,]+) of \1 passages have vectors · 256 dimensions · Last complete/).waitFor();
    await looks(p, "panel-meaning-made");

    // The program waits for the server 300 ms: on a busy machine that may be too short at first.
    let shown = 0;
    for (let n = 0; shown === 0; n++) {
      const results = await search(p, company, `May I bring a hound ${n}`);
      shown = await results.getByText(/Similarity/).count();
    }
    await looks(p, "panel-meaning-found");

    await ask("embeddings/status?is=503");
    await search(p, company, "May I bring a suitcase");
    await p.getByText(/faq: Searching by keywords only:/).waitFor();
    assert.equal(await p.getByText(/Similarity/).count(), 0);
    await looks(p, "panel-meaning-alone");
    await p.goto(company.panel_url + "/knowledge/faq");
    await card.getByText(/Searching by keywords only: the embeddings server/).waitFor();
    await looks(p, "panel-meaning-failing");

    await ask("embeddings/status");
    await card.getByRole("button", { name: "Edit server" }).click();
    assert.equal(await dialog.getByLabel("Base URL").inputValue(), url);
    assert.equal(await dialog.getByRole("textbox", { name: "API key" }).inputValue(), "");
    await dialog.getByRole("button", { name: "Test" }).click(); // with the stored key
    await dialog.getByText(/Connected\. 256 dimensions/).waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });

    await act(p, "Search by keywords only", "Search by meaning");
    await dialog.getByRole("button", { name: "Search by keywords only" }).click();
    await card.getByText("This base is searched by keywords only").waitFor();
  });

  it("says why vectors are missing, and has buttons for those who may change it", async (t) => {
    const company = await newCompany();
    const url = await ask("embeddings");
    await ask("embeddings/status?is=500");
    const p = await open(t, company, "/knowledge/faq");
    const card = p.getByRole("region", { name: "Search by meaning" });
    await card.getByRole("button", { name: "New server" }).click();
    const dialog = p.getByRole("dialog");
    await dialog.getByLabel("Base URL").fill(url);
    await dialog.getByLabel("Model").fill("words-1");
    await dialog.getByRole("textbox", { name: "API key" }).fill("sk-1");
    await dialog.getByRole("button", { name: "Save" }).click();
    await card
      .getByText(/Some vectors couldn't be created. The embeddings server responded with an error \(500\)\./)
      .waitFor();
    await looks(p, "panel-meaning-unmade");
    const reader = await open(t, company, "/knowledge/faq", {}, await member(company, "Rita", "viewer"));
    const read = reader.getByRole("region", { name: "Search by meaning" });
    await read.getByText(/Some vectors couldn't be created/).waitFor();
    assert.equal(await read.getByRole("button").count(), 0);
    await ask("embeddings/status");
    await card.getByRole("button", { name: "Try again now" }).click();
    await card.getByText(/^([\d,]+) of \1 passages have vectors/).waitFor();
  });
});
