// A teammate who is rung by a visitor of a voice widget, and talks with them: each in a browser of their own.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { accessible, ready, shot } from "../browser.mjs";
import { call, fillIn, member, newCompany, stranger, until } from "../world.mjs";
import { instrument, likeness, talkOn, talker, utterance } from "../voice.mjs";

let company;
let token;
let marina; // an agent and its widget

/** teammate shows the inbox to somebody who may answer. */
async function teammate(t, name, options = {}, own = { script: true }) {
  const { email, password } = await member(company, name, "teammate");
  const { c, p } = await stranger(t, { viewport: { width: 1440, height: 900 }, ...options });
  await c.grantPermissions(["microphone"], { origin: new URL(ready.panel_url).origin });
  await c.addInitScript(instrument, own);
  await p.goto(ready.panel_url + "/inbox");
  await fillIn(p, { email, password });
  await p.getByText("Available").waitFor();
  return p;
}

/** visitor begins to talk, and asks for a person. */
async function visitor(t) {
  const v = await talkOn(t, company, marina.widget, { microphone: { script: true } });
  await v.frame.evaluate(() => {
    const Socket = globalThis.WebSocket;
    globalThis.sockets = [];
    globalThis.WebSocket = class extends Socket {
      constructor(...a) {
        super(...a);
        globalThis.sockets.push(this);
      }
    };
  });
  await v.frame.getByRole("button", { name: "Start talking" }).click();
  await v.state("Speaking");
  await v.state("Listening");
  v.conversation = v.sockets[0].got.find(
    (x) => x.m.type === "conversation_initiation_metadata",
  ).m.conversation_initiation_metadata_event.conversation_id;
  return v;
}

const ask = (v) => v.frame.getByRole("button", { name: "Talk to a person" }).click();
const ring = (p, v) => p.locator(`.ring[data-id="${v.conversation}"]`);
const stateOf = async (v) => (await call("GET", "/panel/v1/conversations/" + v.conversation, token)).conversation;

/** heardBy has somebody say something, and returns how like it is what the other hears. */
async function heardBy(to, from, pcm) {
  const before = await to.evaluate(() => globalThis.voiceSeen.played.length);
  await from.evaluate((x) => globalThis.utter(Int16Array.from(x)), [...pcm]);
  let heard = new Int16Array();
  await until(async () => {
    const all = await to.evaluate((n) => globalThis.voiceSeen.played.slice(n).flatMap((x) => x.pcm), before);
    const first = all.findIndex((x) => Math.abs(x) > 300);
    heard = Int16Array.from(all.slice(Math.max(0, first - 1600)));
    return first >= 0 && heard.length > pcm.length + 8000;
  }, "something is heard");
  return likeness(pcm, heard.subarray(0, pcm.length + 12_000));
}

describe("a visitor who wants to talk with a person", () => {
  beforeEach(async () => {
    company = await newCompany();
    token = company.token;
    marina = await talker(company);
  });

  it("rings, is answered aloud, hears and is heard, goes back to the agent, and is taken over", async (t) => {
    const p = await teammate(t, "Vera");
    const v = await visitor(t);
    await ask(v);
    await ring(p, v).getByText("would like to talk").waitFor();
    await accessible(p, "a ring");
    await shot(p, "panel-voice-ring");
    await p.locator(".inbox-row", { hasText: "Speaking now" }).first().waitFor();

    await p.keyboard.press("v");
    const bar = p.getByRole("region", { name: /^Talking with/ });
    await bar.getByRole("timer").waitFor();
    await v.frame.getByText("Vera has joined").waitFor();
    assert.equal((await stateOf(v)).state, "active");
    const greeting = await utterance("Good morning, this is Vera speaking.");
    const said = (text) => p.locator(".inbox-bubble", { hasText: text });
    const forth = await heardBy(v.frame, p, greeting);
    const question = await utterance("I have lost my hat on the boat.");
    const back = await heardBy(p, v.frame, question);
    assert.ok(forth >= 0.9 && back >= 0.9, `likeness ${forth} and ${back}`);
    t.diagnostic(`likeness ${forth.toFixed(4)} and ${back.toFixed(4)}`);
    await said("I have lost my hat on the boat.").first().waitFor();
    await said("Good morning, this is Vera speaking.").first().waitFor();
    await accessible(p, "a talk");
    await shot(p, "panel-voice-talk");

    await bar.getByRole("button", { name: "Mute" }).click();
    await bar.getByRole("button", { name: "Unmute" }).click();
    await p
      .getByRole("link", { name: "Account" })
      .or(p.getByRole("link", { name: "Inbox" }))
      .first()
      .waitFor();
    await bar.getByRole("button", { name: "Return to agent" }).click();
    await bar.waitFor({ state: "detached" });
    await v.frame.getByText("Vera has left").waitFor();
    await until(async () => (await stateOf(v)).state === "bot", "the agent has it again");
    assert.equal(await p.evaluate(() => globalThis.voiceSeen.open), 0, "the microphone is given back");

    await p.getByRole("button", { name: "Take over by voice" }).click();
    await bar.getByRole("timer").waitFor();
    await bar.getByRole("button", { name: "Hang up" }).click();
    await bar.waitFor({ state: "detached" });
    assert.equal((await stateOf(v)).state, "active", "it goes on in writing");
    await p.keyboard.press("r");
    await p.keyboard.type("Your hat is at pier 3.");
    await p.keyboard.press("Enter");
    await v.frame.getByText("Your hat is at pier 3.").waitFor();

    await v.frame.getByRole("button", { name: "Hang up" }).click();
    await until(async () => (await stateOf(v)).state === "wrap_up", "the visitor has left");
    assert.deepEqual(v.logged, []);
  });

  it("rings at all who are there, stops when one answers, and does not ring who is away", async (t) => {
    const [ana, ben, away] = [await teammate(t, "Rita"), await teammate(t, "Bruno"), await teammate(t, "Alma")];
    await away.getByRole("button", { name: /Available/ }).click();
    await away.getByRole("switch", { name: "Available" }).click();
    await away.keyboard.press("Escape");
    const v = await visitor(t);
    await ask(v);
    await ring(ana, v).waitFor();
    await ring(ben, v).waitFor();
    assert.equal(await ring(away, v).count(), 0);
    await ben.goto(ready.panel_url + "/account"); // on any page
    await ring(ben, v).waitFor();
    await ring(ben, v).getByRole("button", { name: "Silence" }).click();
    await ring(ben, v).waitFor({ state: "detached" });
    await ring(ana, v).getByRole("button", { name: "Answer by voice" }).click();
    await v.frame.getByText("Rita has joined").waitFor();
    await ring(ana, v).waitFor({ state: "detached" });

    await ben.goto(ready.panel_url + "/inbox?folder=all&c=" + v.conversation);
    await ben.getByText("Rita", { exact: true }).first().waitFor();
    await ben.getByRole("button", { name: "Take over by voice" }).click();
    await ben
      .getByRole("region", { name: /^Talking with/ })
      .getByRole("timer")
      .waitFor();
    await ana.getByRole("region", { name: /^Talking with/ }).waitFor({ state: "detached" });
  });

  it("goes on talking when they come back", async (t) => {
    const p = await teammate(t, "Greta");
    const v = await visitor(t);
    await ask(v);
    await ring(p, v).getByRole("button", { name: "Answer by voice" }).click();
    await v.frame.getByText("Greta has joined").waitFor();
    const bar = p.getByRole("region", { name: /^Talking with/ });
    await bar.getByRole("timer").waitFor();
    await v.frame.evaluate(() => globalThis.sockets.at(-1).close(4000)); // as a broken connection ends
    await bar.getByText("Reconnecting…").waitFor();
    await bar.getByRole("timer").waitFor();
    await until(async () => (await v.frame.evaluate(() => globalThis.sockets.length)) === 2, "the visitor is back");
    assert.equal((await stateOf(v)).state, "active");
    await v.frame.getByRole("button", { name: "Hang up" }).click();
    await bar.waitFor({ state: "detached" });
    await p.getByText(/The call with .* has ended/).waitFor();
  });

  it("is answered in writing", async (t) => {
    const p = await teammate(t, "Olga");
    const v = await visitor(t);
    await ask(v);
    await ring(p, v).getByRole("button", { name: "Answer by text" }).click();
    await ring(p, v).waitFor({ state: "detached" });
    await until(async () => (await stateOf(v)).state === "active", "Olga has it");
    await p.getByRole("textbox", { name: "Reply" }).fill("I am in a meeting, but I can write.");
    await p.getByRole("textbox", { name: "Reply" }).press("Enter");
    await v.frame.getByText("I am in a meeting, but I can write.").waitFor();
    assert.equal(await p.evaluate(() => globalThis.voiceSeen.asked), 0, "the microphone is not asked for");
    await p.getByRole("button", { name: "Answer by voice" }).waitFor(); // still possible
  });

  it("is heard by a teammate without a microphone, who writes", async (t) => {
    const p = await teammate(
      t,
      "Nina",
      { viewport: { width: 390, height: 780 }, hasTouch: true, colorScheme: "dark" },
      { refuse: "NotAllowedError" },
    );
    const v = await visitor(t);
    await ask(v);
    await ring(p, v).waitFor();
    await accessible(p, "a ring on a phone");
    await shot(p, "panel-voice-ring-phone-dark");
    await ring(p, v).getByRole("button", { name: "Answer by voice" }).click();
    await p.getByText("Your microphone is blocked on this site").waitFor();
    await v.frame.getByText("Nina has joined").waitFor();
    await p.locator(".inbox-bubble").first().waitFor();
    assert.equal(
      await p.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
      true,
      "it scrolls sideways",
    );
    await accessible(p, "a talk on a phone");
    await shot(p, "panel-voice-talk-phone-dark");
    const question = await utterance("Is there a toilet on board?");
    const alike = await heardBy(p, v.frame, question);
    assert.ok(alike >= 0.9, "likeness " + alike);
    await p.getByRole("textbox", { name: "Reply" }).fill("Yes, below the deck.");
    await p.getByRole("textbox", { name: "Reply" }).press("Enter");
    await v.frame.getByText("Yes, below the deck.").waitFor();
  });
});
