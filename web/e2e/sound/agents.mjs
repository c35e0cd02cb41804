// The voice of an agent in the panel, as an administrator chooses and tries it.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { accessible, shot } from "../browser.mjs";
import { act } from "../lists.mjs";
import { newCompany, open } from "../world.mjs";

let company;

const save = async (p) => {
  await p.getByRole("region", { name: "Save" }).getByRole("button", { name: "Save" }).click();
  await p.getByRole("region", { name: "Save" }).waitFor({ state: "detached" });
};

describe("the voice of an agent", () => {
  beforeEach(async () => {
    company = await newCompany();
  });

  it("is chosen, heard before it is saved, and talked with", async (t) => {
    const p = await open(t, company, "/agents");
    await p.getByRole("button", { name: "New agent" }).click();
    const name = "Harbour voice";
    await p.getByRole("dialog").getByLabel("Name").fill(name);
    await p.getByRole("dialog").getByRole("button", { name: "New agent" }).click();
    await p.getByRole("heading", { name }).waitFor();
    await p.getByRole("combobox", { name: "Knowledge" }).click();
    await p.getByRole("option", { name: "faq", exact: true }).click();
    await p.getByLabel("Spoken greeting").fill("Harbour Tours, good morning.");
    await p.getByRole("tab", { name: "Voice" }).click();

    await p.getByRole("textbox", { name: "Text to speak" }).fill("Good evening");
    await p.getByRole("slider", { name: "Speed" }).press("ArrowRight");
    await p.getByText("105% of normal").waitFor();
    const [spoken] = await Promise.all([
      p.waitForResponse((r) => r.url().includes("/speak")),
      p.getByRole("button", { name: "Listen" }).click(),
    ]);
    assert.deepEqual([spoken.status(), spoken.headers()["content-type"]], [200, "audio/wav"]);
    assert.equal(JSON.parse(spoken.request().postData()).agent.voice.speed, 1.05);

    await p.getByRole("radio", { name: "A transcription server" }).check({ force: true });
    await p.getByLabel("Server URL").fill("not an address");
    await p.getByRole("region", { name: "Save" }).getByRole("button", { name: "Save" }).click();
    await p.locator(".mantine-InputWrapper-error").first().waitFor();
    await p.getByLabel("Server URL").fill("http://127.0.0.1:9/v1");
    await p.getByRole("textbox", { name: "Model" }).fill("whisper");
    await p.getByLabel("API key").first().fill("sk-voice-secret");
    await p.getByRole("tab", { name: "Tools" }).click();
    await p.getByRole("button", { name: "New tool" }).click();
    const tool = p.getByRole("group", { name: "Name" });
    await tool.getByLabel("Name", { exact: true }).fill("show_map");
    const own = p.getByRole("group", { name: "show_map" });
    await own.getByLabel("Description").fill("Shows the map of the harbour");
    await own.getByLabel("Parameters").fill("{ place: ");
    await own.getByText("This isn't valid JSON").waitFor();
    await own.getByLabel("Parameters").fill('{"type":"object","properties":{"place":{"type":"string"}}}');
    await own.getByText("This isn't valid JSON").waitFor({ state: "detached" });
    await accessible(p, "an agent with a voice");
    await shot(p, "panel-voice-agent");
    await save(p);
    await p.reload();
    await p.getByRole("heading", { name }).waitFor();
    assert.equal((await p.content()).includes("sk-voice-secret"), false);
    assert.match(await p.getByRole("group", { name: "show_map" }).getByLabel("Parameters").inputValue(), /"place"/);
    await p.getByRole("tab", { name: "Voice" }).click();
    await p.getByRole("radio", { name: "Off (visitors type)" }).check({ force: true });
    await p.getByText("visitors can't speak to this agent").waitFor();

    await p.getByText("Talk", { exact: true }).click();
    await p.getByText("Save your changes to test them").waitFor();
    await save(p);
    await p.getByText("Type, and the agent answers aloud").waitFor();
    await p.getByRole("button", { name: "Start without a microphone" }).click();
    const log = p.getByRole("log", { name: "Transcript" });
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
    await p.goto(company.panel_url + "/inbox?folder=all&closed=true");
    await p.locator(".inbox-row", { hasText: "test" }).first().waitFor();
    await p.goBack();
    await act(p, "Remove agent");
    await p.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await p.getByText("Agent removed").waitFor();
  });
});
