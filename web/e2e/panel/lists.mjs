// The list of things that are loaded as a whole: sorted, walked through by keys, and what can be done with a row.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { accessible, shot } from "../browser.mjs";
import { act } from "../lists.mjs";
import { call, newCompany, open, until } from "../world.mjs";

let company;

const names = (p) => p.locator("[data-list] tbody .row-title").allInnerTexts();

describe("a list", () => {
  beforeEach(async () => {
    company = await newCompany();
    for (const id of ["zebra", "apple"]) await call("POST", "/panel/v1/knowledge", company.token, { id, articles: [] });
  });

  it("is sorted by its headings, and its rows open by a click and by Enter", async (t) => {
    const p = await open(t, company, "/knowledge");
    await p.getByRole("link", { name: "zebra" }).waitFor();
    const head = p.getByRole("columnheader", { name: "Name" });
    await head.getByRole("button").click();
    await p.locator('th[aria-sort="ascending"]').waitFor();
    const up = await names(p);
    assert.deepEqual(up, up.toSorted());
    await head.getByRole("button").click();
    await p.locator('th[aria-sort="descending"]').waitFor();
    await until(async () => isDeepStrictEqual(await names(p), up.toReversed()), "the names go down");
    for (const row of await p.locator("[data-list] tbody tr").all())
      assert.ok(Math.abs((await row.boundingBox()).height - 44) <= 1.5, "a row has 44 px");
    await accessible(p, "a sorted list");
    await shot(p, "list-sorted");
    await p.keyboard.press("j");
    await p.keyboard.press("Enter");
    await p.getByRole("heading", { name: "zebra", level: 1 }).waitFor();
    await p.goBack();
    await p.getByRole("row", { name: /apple/ }).getByRole("cell").last().click({ force: true }); // on the link, which covers the row
    await p.getByRole("heading", { name: "apple", level: 1 }).waitFor();
  });

  it("keeps what is not confirmed to be removed, and says what is lost", async (t) => {
    const p = await open(t, company, "/knowledge/apple");
    await act(p, "Remove knowledge base");
    const dialog = p.getByRole("dialog", { name: "Remove “apple”?" });
    await dialog.getByText("Its 0 articles are deleted.").waitFor();
    await accessible(p, "a question before something is removed");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    const left = (await call("GET", "/panel/v1/knowledge", company.token)).data.map((b) => b.id);
    assert.ok(left.includes("apple"), left.join());
  });
});
