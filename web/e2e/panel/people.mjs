// One person's data: found, exported and erased, from the inbox or by a number.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { beforeEach, describe, it } from "node:test";
import { accessible, looks, shot } from "../browser.mjs";
import { send } from "../sent.mjs";
import { call, newCompany, open, until } from "../world.mjs";

let company;
const number = "34600701234";

describe("one person's data", () => {
  beforeEach(async () => {
    company = await newCompany();
    await send(company, [number], { campaign_name: "phone" });
    await call("POST", "/panel/v1/sandbox/phone/messages", company.token, {
      sender: "demo",
      number,
      client_id: "1",
      name: "Ana Torres",
      kind: "text",
      text: "May I bring a dog?",
    });
  });

  it("is reached from the inbox, exported and erased", async (t) => {
    const conversation = await until(
      async () =>
        (await call("GET", "/panel/v1/conversations?folder=all", company.token)).data.map(
          (x) => x.conversation ?? x,
        )[0],
      "there is a conversation",
    );
    await until(
      async () => (await call("POST", "/panel/v1/people", company.token, { number })).notifications === 1,
      "the message is found",
    );
    const p = await open(t, company, "/inbox?folder=all&c=" + conversation.id, {
      viewport: { width: 1500, height: 900 },
    });
    await p.getByRole("link", { name: "Export or erase this person's data" }).click();
    await p.locator(".people-facts", { hasText: "Ana Torres" }).waitFor(); // the name stands in the inbox, too
    await accessible(p, "a person who is found");
    await looks(p, "panel-person");

    const [download] = await Promise.all([
      p.waitForEvent("download"),
      p.getByRole("button", { name: "Export as a ZIP archive" }).click(),
    ]);
    const archive = await readFile(await download.path());
    assert.equal(archive.subarray(0, 2).toString(), "PK");
    assert.ok(archive.includes("conversations.txt"));

    await p.getByRole("button", { name: "Erase this person" }).click();
    const dialog = p.getByRole("dialog");
    const go = dialog.getByRole("button", { name: "Erase this person" });
    assert.equal(await go.isDisabled(), true);
    await dialog.getByLabel(`Type ${number}`).fill("34600701235");
    assert.equal(await go.isDisabled(), true);
    await dialog.getByLabel(`Type ${number}`).fill(number);
    await accessible(p, "erasing a person");
    await shot(p, "panel-person-erase");
    await go.click();
    await p.getByText(/records were deleted or cleared/).waitFor();
    await shot(p, "panel-person-erased");
    assert.equal((await call("GET", "/panel/v1/conversations?folder=all", company.token)).data.length, 0);

    await p.getByRole("button", { name: "Find another person" }).click();
    await p.getByRole("textbox").fill("+34 600 70 12 34");
    await p.getByRole("button", { name: "Find" }).click();
    await p.getByText("No data about this person").waitFor();
    await shot(p, "panel-person-nobody");
  });

  it("is for those who may change the company's settings", async (t) => {
    const p = await open(t, company, "/people");
    await p.getByRole("textbox").fill("not a number");
    await p.getByRole("button", { name: "Find" }).click();
    assert.equal(await p.getByRole("textbox").getAttribute("aria-invalid"), "true");
    await shot(p, "panel-person-refused");
  });
});
