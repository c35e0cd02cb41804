// Widgets, as an administrator designs and installs them.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { accessible, shot } from "../browser.mjs";
import { act } from "../lists.mjs";
import { newCompany, open } from "../world.mjs";
import { opening } from "../widgets.mjs";

let company;

const save = async (p) => {
  await p.getByRole("region", { name: "Save" }).getByRole("button", { name: "Save" }).click();
  await p.getByRole("region", { name: "Save" }).waitFor({ state: "detached" });
};

describe("widgets", () => {
  beforeEach(async () => {
    company = await newCompany();
  });

  it("are designed beside the real page, saved, installed and removed", async (t) => {
    const p = await open(t, company, "/widgets");
    await p.getByRole("link", { name: "Demo chat" }).waitFor();
    await shot(p, "panel-widgets");
    await p.getByRole("button", { name: "New widget" }).click();
    const dialog = p.getByRole("dialog");
    const name = "Shop";
    await dialog.getByLabel("Name").fill(name);
    await dialog.getByLabel("Welcome message").fill("Welcome aboard");
    await dialog.getByRole("button", { name: "New widget" }).click();
    await p.getByRole("heading", { name }).waitFor();
    const frame = p.frameLocator("iframe");
    await frame.getByText("Welcome aboard").waitFor();
    await p.getByLabel("Title").fill("<b>Harbour</b> help");
    await frame.getByRole("heading", { name: "<b>Harbour</b> help", includeHidden: true }).waitFor();
    await p.getByRole("textbox", { name: "Color", exact: true }).fill("#ffd84d");
    await p.getByText("is hard to see").waitFor();
    await accessible(p, "the designer");
    await shot(p, "panel-widget-look");
    await p.getByRole("button", { name: /^Use #/ }).click();
    await p.getByText("is hard to see").waitFor({ state: "detached" });
    await p.getByRole("tab", { name: "Text" }).click();
    await p
      .getByRole("combobox", { name: "New language" })
      .or(p.getByRole("textbox", { name: "New language" }))
      .fill("es");
    await p.getByRole("button", { name: "Add", exact: true }).click();
    await p.getByRole("textbox", { name: "Spanish" }).fill("Bienvenido a bordo");
    await frame.getByText("Bienvenido a bordo").waitFor();
    await accessible(p, "the words");
    await shot(p, "panel-widget-words");
    await p.getByRole("tab", { name: "Behavior" }).click();
    await p.getByRole("switch", { name: "Team hours" }).check({ force: true });
    await p.getByRole("combobox", { name: "Allowed sites" }).fill("not an address");
    await p.keyboard.press("Enter");
    await accessible(p, "the behaviour");
    await shot(p, "panel-widget-behaviour");
    await p.keyboard.press("Control+s");
    await p.getByText("Enter origins such as").first().waitFor();
    await p.getByRole("link", { name: "Overview" }).click();
    await p
      .getByRole("dialog", { name: "Leave without saving?" })
      .getByRole("button", { name: "Keep editing" })
      .click();
    for (let n = await p.locator(".mantine-TagsInput-pill button").count(); n > 0; n--)
      await p.locator(".mantine-TagsInput-pill button").first().click();
    await p.getByRole("region", { name: "Save" }).getByRole("button", { name: "Save" }).click();
    await p.getByRole("region", { name: "Save" }).waitFor({ state: "detached" });
    await p.reload();
    await p.getByRole("tab", { name: "Text" }).click();
    assert.equal(await p.getByRole("textbox", { name: "Spanish" }).inputValue(), "Bienvenido a bordo");
    await p.getByRole("tab", { name: "Install" }).click();
    await p.getByRole("button", { name: "New key for this widget" }).click();
    await p.getByText("Copy the snippet now").waitFor();
    const tag = await p.locator(".snippet code").first().textContent();
    assert.match(tag, /customer="ck_[\w-]{43}"/);
    await accessible(p, "installing");
    await shot(p, "panel-widget-install");
    const wrapper = await p.locator(".snippet code").nth(2).textContent();
    const shown = await p.context().newPage();
    await shown.goto(wrapper);
    await shown.frameLocator("iframe").getByText("Welcome aboard").waitFor();
    await shown.close();
    await act(p, "Remove widget");
    await p.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await p.getByText("Widget removed").waitFor();
    await p.getByRole("link", { name }).first().waitFor({ state: "detached" });
  });
});

describe("voice widgets", () => {
  beforeEach(async () => {
    company = await newCompany();
  });

  it("are designed beside the real page, saved, installed and tried", async (t) => {
    const p = await open(t, company, "/widgets");
    await p.getByRole("button", { name: "New widget" }).click();
    const dialog = p.getByRole("dialog");
    await dialog.getByRole("radio", { name: "Voice" }).check({ force: true });
    const name = "Talk";
    await dialog.getByLabel("Name").fill(name);
    await dialog.getByText("Without an agent, no one answers").waitFor();
    await dialog.getByRole("combobox", { name: "Agent" }).click();
    await p.getByRole("option", { name: "Reception" }).click();
    await dialog.getByLabel("Welcome message").fill("Ask me about <b>boats</b>");
    await accessible(p, "adding a widget");
    await shot(p, "panel-voice-add");
    await dialog.getByRole("button", { name: "New widget" }).click();
    await p.getByRole("heading", { name }).waitFor();

    const frame = p.frameLocator("iframe");
    await frame.getByText("Ask me about <b>boats</b>").waitFor();
    await p.getByRole("textbox", { name: "Color", exact: true }).fill("#0b6e4f");
    await p.getByRole("combobox", { name: "Button animation" }).click();
    await p.getByRole("option", { name: "Pulse" }).click();
    await accessible(p, "the look of a voice widget");
    await shot(p, "panel-voice-look");
    await p.getByText("Talking", { exact: true }).click();
    await frame.getByRole("button", { name: "Hang up" }).waitFor();
    await p.getByText("After", { exact: true }).click();
    await frame.getByRole("heading", { name: "The conversation has ended" }).waitFor();
    await p.getByText("Before", { exact: true }).click();

    await p.getByRole("tab", { name: "Text" }).click();
    await p.getByRole("textbox", { name: "Button name" }).fill("Talk to the harbour");
    await p.getByRole("textbox", { name: "Start talking" }).fill("Call us");
    await accessible(p, "the words of a voice widget");
    await p.getByRole("tab", { name: "Behavior" }).click();
    await p.getByText("This agent has no speech recognition.").waitFor();
    assert.equal(await p.getByRole("radio", { name: "The browser, on the device only" }).isChecked(), true);
    await p.getByRole("radio", { name: "Also the service of the browser's maker" }).check({ force: true });
    await p.getByRole("textbox", { name: "Consent" }).fill("We keep what you say for a week.");
    await frame.getByText("We keep what you say for a week.").waitFor();
    await p.getByRole("checkbox", { name: "First words" }).check({ force: true });
    await p.getByRole("switch", { name: "Show captions" }).uncheck({ force: true });
    await accessible(p, "the behaviour of a voice widget");
    await shot(p, "panel-voice-behaviour");
    await save(p);
    await p.reload();
    await p.getByRole("tab", { name: "Behavior" }).click();
    assert.equal(await p.getByRole("textbox", { name: "Consent" }).inputValue(), "We keep what you say for a week.");
    assert.deepEqual(
      [
        await p.getByRole("checkbox", { name: "First words" }).isChecked(),
        await p.getByRole("checkbox", { name: "Voice and speed" }).isChecked(),
        await p.getByRole("switch", { name: "Show captions" }).isChecked(),
        await p.getByRole("radio", { name: "Also the service of the browser's maker" }).isChecked(),
      ],
      [true, false, false, true],
    );

    await p.getByRole("tab", { name: "Install" }).click();
    assert.equal(await p.getByRole("button", { name: "Test on an empty page" }).isDisabled(), true);
    await p.getByRole("button", { name: "New key for this widget" }).click();
    await p.getByText("Copy the snippet now").waitFor();
    const tag = await p.locator(".snippet code").first().textContent();
    assert.match(tag, /embed\/voice\.js"\s+widget="[\w-]{36}"\s+customer="ck_[\w-]{43}"\s+language-lovi="en"/);
    assert.match(await p.locator(".snippet code").nth(1).textContent(), /frame-src http:\/\/widget\.localhost/);
    await accessible(p, "installing a voice widget");
    await shot(p, "panel-voice-install");
    const [tried] = await Promise.all([
      p.context().waitForEvent("page"),
      p.getByRole("link", { name: "Test on an empty page" }).click(),
    ]);
    await tried.waitForFunction(() => globalThis.carillonVoice?.on);
    const loaded = opening(tried, "vw_id=");
    await tried.evaluate(() => globalThis.carillonVoice("open"));
    const voice = await loaded;
    await voice.getByText("We keep what you say for a week.").waitFor();
    await tried.close();
    await act(p, "Remove widget");
    await p.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await p.getByText("Widget removed").waitFor();
  });
});
