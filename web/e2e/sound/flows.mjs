// A flow in the voice widget: its first step is the greeting, a choice is tapped, another one is said.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { accessible, shot } from "../browser.mjs";
import { call, newCompany, until } from "../world.mjs";
import { likeness, played, talkOn, talker, utterance } from "../voice.mjs";

let company;
let token;
let marina; // an agent and its widget

/** lay publishes a flow that begins with each talk in the widget. */
async function lay(steps) {
  const { id } = await call("POST", "/panel/v1/flows/drafts", token, {
    flow: { name: "boats " + marina.widget.id, trigger: { widget: marina.widget.id }, steps },
  });
  await call("POST", `/panel/v1/flows/${id}/publish`, token);
  return id;
}

/** runs are those of a flow, with what happened in them. */
async function runs(flow) {
  const { data } = await call("GET", "/panel/v1/flow-runs?flow=" + flow, token);
  return Promise.all(data.map((x) => call("GET", "/panel/v1/flow-runs/" + x.id, token)));
}

const question = "Hello, which boat would you like?";
const chip = (v, name) =>
  v.frame.getByRole("group", { name: "Suggested answers" }).getByRole("button", { name, exact: true });

describe("a flow in the voice widget", () => {
  beforeEach(async () => {
    company = await newCompany();
    token = company.token;
    marina = await talker(company);
  });

  it("greets aloud with its first step, takes a tapped and a spoken choice, and ends the talk", async (t) => {
    const flow = await lay([
      { say: question },
      { ask: "boat", choices: ["The red one", "The blue one"] },
      { say: "And when?" },
      { ask: "day", choices: ["On Monday", "On Friday"] },
      { set: { booking: "{{boat}}, {{day}}" } },
      { say: "Then it is {{booking}}. See you!" },
      { end: true },
    ]);
    const monday = await utterance("On Monday");
    const v = await talkOn(t, company, marina.widget, { microphone: { script: true } });
    await v.frame.getByRole("button", { name: "Start talking" }).click();
    await v.state("Speaking");
    await chip(v, "The blue one").waitFor();
    await accessible(v.frame, "a flow that asks");
    await v.state("Listening");
    const first = v.sockets[0].got.find((x) => x.m.type === "agent_response").m.agent_response_event;
    assert.equal(first.agent_response, question);
    assert.ok(
      likeness(await utterance(question), await played(v.frame, first.event_id)) >= 0.9,
      "the first step is heard",
    );
    assert.equal(await v.frame.locator(".them", { hasText: "Harbour Tours" }).count(), 0, "the agent greets too");
    await shot(v.p, "voiceflow-asked");

    await chip(v, "The blue one").click();
    await v.frame.locator(".them", { hasText: "And when?" }).waitFor();
    await chip(v, "On Friday").waitFor();
    assert.equal(await chip(v, "The blue one").count(), 0, "what was chosen can be chosen again");
    await v.state("Listening");
    await v.frame.evaluate((x) => globalThis.utter(Int16Array.from(x)), [...monday]);
    await v.frame.locator(".me", { hasText: "On Monday" }).first().waitFor();
    await v.frame.getByRole("heading", { name: "The conversation has ended" }).waitFor();
    await shot(v.p, "voiceflow-ended");
    const [run] = await until(async () => {
      const all = await runs(flow);
      return all[0] && !all[0].open && all;
    }, "the run is over");
    assert.deepEqual(
      [run.state, run.cause, run.channel, run.variables.booking],
      ["completed", "widget", "web_voice", "The blue one, On Monday"],
    );
    assert.deepEqual(
      run.entries.map((e) => e.kind),
      ["say", "ask", "response", "say", "ask", "response", "set", "say", "end"],
    );
    v.c.check();
  });

  it("keeps its choices while its question is asked again, on a small dark screen", async (t) => {
    const flow = await lay([
      { say: question },
      { ask: "boat", choices: ["The red one", "The blue one"] },
      { handoff: "a boat" },
    ]);
    const v = await talkOn(t, company, marina.widget, {
      microphone: { script: true },
      options: { viewport: { width: 390, height: 780 }, colorScheme: "dark" },
    });
    await v.frame.getByRole("button", { name: "Type instead" }).click();
    await chip(v, "The red one").waitFor();
    await v.frame.getByRole("textbox").fill("Could you repeat that?");
    await v.frame.getByRole("textbox").press("Enter");
    await until(
      async () => (await v.frame.locator(".them", { hasText: question }).count()) === 2,
      "the question is asked again",
    );
    await chip(v, "The red one").waitFor();
    await accessible(v.frame, "a flow on a small dark screen");
    await shot(v.p, "voiceflow-small-dark");
    await v.frame.getByRole("textbox").fill("red");
    await v.frame.getByRole("textbox").press("Enter");
    await v.frame.locator(".them", { hasText: "Sorry, I didn't catch that." }).waitFor();
    await chip(v, "The red one").click();
    await until(async () => (await runs(flow))[0]?.state === "handed_off", "the run hands off");
    const [run] = await runs(flow);
    assert.deepEqual(
      run.entries.map((e) => e.kind),
      ["say", "ask", "repeat", "retry", "response", "handoff"],
    );
    v.c.check();
  });
});
