// Voice widgets and the voices of agents in the panel, as an administrator makes and tries them.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { accessible, context, launch, ready, shot } from "./browser.mjs";

const panel = ready.panel_url;
let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

async function opened(t, path, options = {}) {
  const c = await context(browser, { locale: "en-GB", reducedMotion: "reduce", viewport: { width: 1360, height: 900 }, ...options });
  t.after(() => c.close());
  const p = await c.newPage();
  await p.goto(panel + path);
  await p.getByLabel("E-mail").fill(ready.email);
  await p.locator('input[name="password"]').fill(ready.password);
  await p.getByRole("button", { name: "Sign in" }).click();
  await p.getByRole("heading", { level: 1 }).first().waitFor();
  return { c, p };
}

const save = async (p) => {
  await p.getByRole("region", { name: "Save" }).getByRole("button", { name: "Save" }).click();
  await p.getByRole("region", { name: "Save" }).waitFor({ state: "detached" });
};
const remove = async (p, what) => {
  await p.getByRole("button", { name: "Remove the " + what }).click();
  await p.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await p.getByText(`The ${what} is removed`).waitFor();
};

describe("voice widgets", () => {
  it("are designed beside the real page, saved, installed and tried", async (t) => {
    const { c, p } = await opened(t, "/widgets");
    await p.getByRole("button", { name: "Add a widget" }).click();
    const dialog = p.getByRole("dialog");
    await dialog.getByRole("radio", { name: "Voice" }).check({ force: true });
    const name = "Talk " + Date.now();
    await dialog.getByLabel("Name").fill(name);
    await dialog.getByText("Without an agent nobody answers").waitFor();
    await dialog.getByRole("combobox", { name: "Agent" }).click();
    await p.getByRole("option", { name: "Reception" }).click();
    await dialog.getByLabel("Welcome").fill("Ask me about <b>boats</b>");
    await accessible(p, "adding a widget");
    await shot(p, "panel-voice-add");
    await dialog.getByRole("button", { name: "Add a widget" }).click();
    await p.getByRole("heading", { name }).waitFor();

    const frame = p.frameLocator("iframe");
    await frame.getByText("Ask me about <b>boats</b>").waitFor();
    await p.getByRole("textbox", { name: "Colour", exact: true }).fill("#0b6e4f");
    await p.getByRole("combobox", { name: "Animation of the button" }).click();
    await p.getByRole("option", { name: "Pulse" }).click();
    await accessible(p, "the look of a voice widget");
    await shot(p, "panel-voice-look");
    await p.getByText("Talking", { exact: true }).click();
    await frame.getByRole("button", { name: "Hang up" }).waitFor();
    await p.getByText("After", { exact: true }).click();
    await frame.getByRole("heading", { name: "The conversation has ended" }).waitFor();
    await p.getByText("Before", { exact: true }).click();

    await p.getByRole("tab", { name: "Words" }).click();
    await p.getByRole("textbox", { name: "What the button is called" }).fill("Talk to the harbour");
    await p.getByRole("textbox", { name: "Start talking" }).fill("Call us");
    await accessible(p, "the words of a voice widget");
    await p.getByRole("tab", { name: "Behaviour" }).click();
    await p.getByText("This agent does not understand speech").waitFor();
    await p.getByRole("textbox", { name: "Consent" }).fill("We keep what you say for a week.");
    await frame.getByText("We keep what you say for a week.").waitFor();
    await p.getByRole("checkbox", { name: "First words" }).check({ force: true });
    await p.getByRole("switch", { name: "Show what is said" }).uncheck({ force: true });
    await accessible(p, "the behaviour of a voice widget");
    await shot(p, "panel-voice-behaviour");
    await save(p);
    await p.reload();
    await p.getByRole("tab", { name: "Behaviour" }).click();
    assert.equal(await p.getByRole("textbox", { name: "Consent" }).inputValue(), "We keep what you say for a week.");
    assert.deepEqual([await p.getByRole("checkbox", { name: "First words" }).isChecked(), await p.getByRole("checkbox", { name: "Voice and speed" }).isChecked(), await p.getByRole("switch", { name: "Show what is said" }).isChecked()], [true, false, false]);

    await p.getByRole("tab", { name: "Install" }).click();
    assert.equal(await p.getByRole("button", { name: "Try it on an empty page" }).isDisabled(), true);
    await p.getByRole("button", { name: "Make a key for this widget" }).click();
    await p.getByText("Copy the tag now").waitFor();
    const tag = await p.locator(".snippet code").first().textContent();
    assert.match(tag, /embed\/voice\.js"\s+widget="[\w-]{36}"\s+customer="ck_[\w-]{43}"\s+language-lovi="en"/);
    assert.match(await p.locator(".snippet code").nth(1).textContent(), /frame-src http:\/\/widget\.localhost/);
    await accessible(p, "installing a voice widget");
    await shot(p, "panel-voice-install");
    const [tried] = await Promise.all([c.waitForEvent("page"), p.getByRole("link", { name: "Try it on an empty page" }).click()]);
    await tried.waitForFunction(() => globalThis.carillonVoice?.on);
    await tried.evaluate(() => globalThis.carillonVoice("open"));
    let voice;
    for (const end = Date.now() + 15_000; !voice; await tried.waitForTimeout(50)) {
      voice = tried.frames().find((f) => f.url().includes("vw_id="));
      assert.ok(voice || Date.now() < end, "the widget does not open");
    }
    await voice.getByText("We keep what you say for a week.").waitFor();
    await tried.close();
    await remove(p, "widget");
    c.check();
  });
});

describe("the voice of an agent", () => {
  it("is chosen, heard before it is saved, and talked with", async (t) => {
    const { c, p } = await opened(t, "/agents");
    await p.getByRole("button", { name: "Add an agent" }).click();
    const name = "Harbour voice " + Date.now();
    await p.getByRole("dialog").getByLabel("Name").fill(name);
    await p.getByRole("dialog").getByRole("button", { name: "Add an agent" }).click();
    await p.getByRole("heading", { name }).waitFor();
    await p.getByRole("combobox", { name: "Knowledge" }).click();
    await p.getByRole("option", { name: "faq", exact: true }).click();
    await p.keyboard.press("Escape");
    await p.getByLabel("Greeting aloud").fill("Harbour Tours, good morning.");

    await p.getByRole("textbox", { name: "Text to speak" }).fill("Good evening");
    await p.getByRole("slider", { name: "Speed" }).press("ArrowRight");
    await p.getByText("105% of the usual").waitFor();
    const [spoken] = await Promise.all([p.waitForResponse((r) => r.url().includes("/speak")), p.getByRole("button", { name: "Listen" }).click()]);
    assert.deepEqual([spoken.status(), spoken.headers()["content-type"]], [200, "audio/wav"]);
    assert.equal(JSON.parse(spoken.request().postData()).agent.voice.speed, 1.05);

    await p.getByRole("radio", { name: "A transcription server" }).check({ force: true });
    await p.getByLabel("Address of the server").fill("not an address");
    await p.getByRole("region", { name: "Save" }).getByRole("button", { name: "Save" }).click();
    await p.locator(".mantine-InputWrapper-error").first().waitFor();
    await p.getByLabel("Address of the server").fill("http://127.0.0.1:9/v1");
    await p.getByRole("textbox", { name: "Model" }).fill("whisper");
    await p.getByLabel("Its key").first().fill("sk-voice-secret");
    await p.getByRole("button", { name: "Add a tool" }).click();
    const tool = p.getByRole("group", { name: "Name" });
    await tool.getByLabel("Name", { exact: true }).fill("show_map");
    const own = p.getByRole("group", { name: "show_map" });
    await own.getByLabel("Description").fill("Shows the map of the harbour");
    await own.getByLabel("Parameters").fill("{ place: ");
    await own.getByText("This is not valid JSON").waitFor();
    await own.getByLabel("Parameters").fill('{"type":"object","properties":{"place":{"type":"string"}}}');
    await own.getByText("This is not valid JSON").waitFor({ state: "detached" });
    await accessible(p, "an agent with a voice");
    await shot(p, "panel-voice-agent");
    await save(p);
    await p.reload();
    await p.getByRole("heading", { name }).waitFor();
    assert.equal((await p.content()).includes("sk-voice-secret"), false);
    assert.match(await p.getByRole("group", { name: "show_map" }).getByLabel("Parameters").inputValue(), /"place"/);
    await p.getByRole("radio", { name: "Nothing" }).check({ force: true });
    await p.getByText("nobody can talk to this agent").waitFor();

    await p.getByText("Talk", { exact: true }).click();
    await p.getByText("Your changes are not part of it").waitFor();
    await save(p);
    await p.getByText("write, and it answers aloud").waitFor();
    await p.getByRole("button", { name: "Start without a microphone" }).click();
    const log = p.getByRole("log", { name: "What is said" });
    await log.getByText("Harbour Tours, good morning.").waitFor();
    await p.getByRole("status").getByText("Speaking").waitFor();
    await p.getByLabel("Write as a visitor…").fill("Can I bring luggage aboard?");
    await p.keyboard.press("Enter");
    await log.getByText("one bag or small suitcase that fits under a seat").waitFor();
    await log.getByText("first sound after").first().waitFor();
    await accessible(p, "a talk with an agent");
    await shot(p, "panel-voice-try");
    await p.getByRole("button", { name: "Hang up" }).click();
    await p.getByRole("button", { name: "Start without a microphone" }).waitFor();
    await p.goto(panel + "/inbox?folder=all&closed=true");
    await p.locator(".inbox-row", { hasText: "test" }).first().waitFor();
    await p.goBack();
    await remove(p, "agent");
    c.check();
  });

  it("is ElevenLabs' where the agent is theirs", async (t) => {
    const { c, p } = await opened(t, "/agents/" + ready.agent_id, { viewport: { width: 390, height: 780 }, colorScheme: "dark" });
    await p.getByRole("radio", { name: "ElevenLabs" }).check({ force: true });
    await p.getByLabel("Agent there").waitFor();
    assert.equal(await p.getByRole("button", { name: "Listen" }).count(), 0);
    await accessible(p, "an agent of ElevenLabs on a phone");
    assert.equal(await p.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, "it scrolls sideways");
    await shot(p, "panel-voice-elevenlabs-phone-dark");
    await p.getByRole("button", { name: "Discard changes" }).click();
    await p.getByRole("button", { name: "Listen" }).waitFor();
    c.check();
  });
});
