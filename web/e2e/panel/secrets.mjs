// The secrets of flows: written, used by a step, and never shown again.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { accessible, shot } from "../browser.mjs";
import { act } from "../lists.mjs";
import { call, newCompany, open } from "../world.mjs";

let company;
const value = "sk-live-0123456789";

/** flowOf makes a flow whose only step sends a header. */
const flowOf = async (header) => {
  const flow = {
    name: "Order state",
    trigger: {},
    steps: [{ http: { method: "GET", url: "https://shop.example.com/orders", headers: { Authorization: header } } }],
  };
  return (await call("POST", "/panel/v1/flows/drafts", company.token, { flow })).id;
};

describe("secrets", () => {
  beforeEach(async () => {
    company = await newCompany();
  });

  it("are stored, replaced, and deleted once no flow sends them", async (t) => {
    const p = await open(t, company, "/secrets");
    await p.getByRole("heading", { name: "Secrets", exact: true, level: 1 }).waitFor();
    await p.getByRole("button", { name: "New secret" }).click();
    const dialog = p.getByRole("dialog");
    await dialog.getByLabel("Name").fill("shop-key");
    await dialog.getByRole("combobox", { name: "Sent to" }).fill("shop.example.com");
    await dialog.locator("input[type=password]").fill(value);
    await dialog.getByRole("button", { name: "New secret" }).click();
    await dialog.getByText("Use letters, digits and underscores").waitFor();
    await accessible(p, "adding a secret");
    await shot(p, "panel-secret-add");
    await dialog.getByLabel("Name").fill("shop_key");
    await dialog.getByRole("button", { name: "New secret" }).click();
    await dialog.waitFor({ state: "detached" });
    const row = p.getByRole("row", { name: /shop_key/ });
    await row.getByRole("cell", { name: "shop.example.com" }).waitFor();
    assert.equal((await p.content()).includes(value), false);
    await shot(p, "panel-secrets");

    await act(p, "Replace", "shop_key");
    await dialog.getByRole("combobox", { name: "Sent to" }).fill("evil.example.com");
    await dialog.getByRole("button", { name: "Replace" }).click();
    await dialog.getByText("Enter a value.").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });

    const flow = await flowOf("Bearer {{secret.shop_key}}");
    await call("POST", `/panel/v1/flows/${flow}/publish`, company.token);
    await p.reload();
    await row.getByRole("link", { name: "Order state" }).waitFor();
    await act(p, "Delete", "shop_key");
    await dialog.getByText("These flows use it").waitFor();
    await dialog.getByRole("button", { name: "Close" }).last().click();
    await dialog.waitFor({ state: "detached" });
    await call("DELETE", `/panel/v1/flows/${flow}`, company.token);
    await p.reload();
    await act(p, "Delete", "shop_key");
    await dialog.getByRole("button", { name: "Delete" }).click();
    await p.getByText("No secrets yet").waitFor();
  });

  it("take a key out of a header by a click", async (t) => {
    const flow = await flowOf("Bearer " + value);
    const p = await open(t, company, `/flows/${flow}?step=steps.0`);
    await p.getByText("Everyone who can edit this flow can read this value.").waitFor();
    await accessible(p, "a header with a key");
    await shot(p, "panel-flow-readable");
    await p.getByRole("button", { name: "Make it a secret" }).click();
    const dialog = p.getByRole("dialog");
    await dialog.getByText("shop.example.com").waitFor();
    await dialog.getByLabel("Name").fill("shop_key");
    await dialog.getByRole("button", { name: "New secret" }).click();
    await dialog.waitFor({ state: "detached" });
    assert.equal(
      await p.getByRole("textbox", { name: "Value: Authorization" }).inputValue(),
      "Bearer {{secret.shop_key}}",
    );
    await p.getByText("Everyone who can edit this flow can read this value.").waitFor({ state: "detached" });
  });
});
