// Agents, as an administrator makes and tries them.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { accessible, shot } from "../browser.mjs";
import { act } from "../lists.mjs";
import { newCompany, open } from "../world.mjs";

let company;

describe("agents", () => {
  beforeEach(async () => {
    company = await newCompany();
  });

  it("are made, tried before they are saved, and removed", async (t) => {
    const p = await open(t, company, "/agents");
    await p.getByRole("link", { name: "Reception" }).waitFor();
    await shot(p, "panel-agents");
    await p.getByRole("button", { name: "New agent" }).click();
    const name = "Night desk";
    await p.getByRole("dialog").getByLabel("Name").fill(name);
    await p.getByRole("combobox", { name: "Knowledge" }).click();
    await p.getByRole("option", { name: "faq", exact: true }).click(); // which closes the list above the button
    await p.getByRole("dialog").getByRole("button", { name: "New agent" }).click();
    await p.getByRole("heading", { name }).waitFor();
    await p.getByLabel("Write as a visitor").fill("Can I bring luggage aboard?");
    await p.keyboard.press("Enter");
    await p.getByRole("log").getByText("one bag or small suitcase that fits under a seat").waitFor();
    await p
      .getByRole("log")
      .getByRole("link", { name: /Luggage/ })
      .waitFor();
    await p.getByLabel("Write as a visitor").fill("xyzzy plugh frobnicate?");
    await p.keyboard.press("Enter");
    await p.getByText("No answer found").waitFor();
    await accessible(p, "an agent");
    await shot(p, "panel-agent");
    await p.getByRole("radio", { name: "Language model" }).check({ force: true });
    await p.getByLabel("Base URL").fill("not an address");
    await p.getByRole("textbox", { name: "Model" }).fill("m");
    await p.getByRole("region", { name: "Save" }).getByRole("button", { name: "Save" }).click();
    await p.getByText("Enter a web address").first().waitFor();
    await p.getByLabel("Base URL").fill("http://127.0.0.1:9/v1");
    await p.getByLabel("API key").first().fill("sk-secret-key");
    await p.getByRole("region", { name: "Save" }).getByRole("button", { name: "Save" }).click();
    await p.getByRole("region", { name: "Save" }).waitFor({ state: "detached" });
    await p.reload();
    await p.getByRole("heading", { name }).waitFor();
    assert.equal(await p.getByLabel("Base URL").inputValue(), "http://127.0.0.1:9/v1");
    assert.equal((await p.content()).includes("sk-secret-key"), false);
    await act(p, "Remove agent");
    await p.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await p.getByText("Agent removed").waitFor();
  });

  it("have the voice of ElevenLabs where they are theirs", async (t) => {
    const p = await open(t, company, "/agents/" + company.agent_id, {
      viewport: { width: 390, height: 780 },
      colorScheme: "dark",
    });
    await p.getByRole("radio", { name: "ElevenLabs" }).check({ force: true });
    await p.getByLabel("ElevenLabs agent ID").waitFor();
    assert.equal(await p.getByRole("button", { name: "Listen" }).count(), 0);
    await accessible(p, "an agent of ElevenLabs on a phone");
    assert.equal(
      await p.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
      true,
      "it scrolls sideways",
    );
    await shot(p, "panel-voice-elevenlabs-phone-dark");
    assert.equal(await p.getByRole("tab", { name: "Voice" }).count(), 0);
    await p.getByRole("button", { name: "Discard changes" }).click();
    await p.getByRole("tab", { name: "Voice" }).click();
    await p.getByRole("button", { name: "Listen" }).waitFor();
  });
});
