// The voice widget on a customer's page, as a visitor talks with it.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { accessible, ready, shot } from "../browser.mjs";
import { call, fillIn, newCompany, stranger, until } from "../world.mjs";
import {
  heard,
  instrument,
  joined,
  likeness,
  microphone,
  played,
  silence,
  talkOn,
  talker,
  utterance,
  wav,
} from "../voice.mjs";

let company;
let token;
let marina; // an agent and its widget

const script = { script: true };

/** talking begins to talk, and waits until the greeting is over. */
async function talking(t, o = {}) {
  const v = await talkOn(t, company, o.widget ?? marina.widget, { microphone: script, ...o });
  await v.frame.getByRole("button", { name: "Start talking" }).click();
  await v.state("Speaking");
  await v.state("Listening");
  return v;
}

const say = async (v, pcm) => {
  await v.frame.evaluate((x) => globalThis.utter(Int16Array.from(x)), [...pcm]);
};
/** teammate is a page of the panel of somebody who is there. */
async function teammate(t) {
  const { c, p } = await stranger(t);
  await c.grantPermissions(["microphone"]);
  await c.addInitScript(instrument, script);
  await p.goto(ready.panel_url + "/inbox");
  await fillIn(p, company);
  await p.getByRole("navigation", { name: "Navigation", includeHidden: true }).waitFor({ state: "attached" });
  return { c, p };
}

/** understood says something, and waits until it is read. */
async function understood(v, pcm, text) {
  await say(v, pcm);
  await v.frame.locator(".me", { hasText: text }).first().waitFor();
}

const responses = (v) =>
  v.sockets.flatMap((s) => s.got.filter((x) => x.m.type === "agent_response").map((x) => x.m.agent_response_event));

describe("a talk on a page of another site, with a real microphone", () => {
  beforeEach(async () => {
    company = await newCompany();
    token = company.token;
    marina = await talker(company);
  });

  it("greets aloud, hears in real time, and answers with the source", async (t) => {
    const question = await utterance("How much does shipping cost?");
    // A file knows no signal, so that it says the question four times: the first may come while the greeting is spoken.
    const own = await microphone(
      await wav(
        "question",
        joined(silence(7000), ...[1, 2, 3, 4].flatMap(() => [question, silence(10_000)]), silence(40_000)),
      ),
    );
    t.after(() => own.close());
    const v = await talkOn(t, company, marina.widget, { browser: own, microphone: { raw: true } });
    await shot(v.p, "voice-start");
    await accessible(v.frame, "the start");
    assert.equal(
      await v.seen(() => globalThis.voiceSeen.asked),
      0,
      "the microphone is asked for only when one begins to speak",
    );
    await v.frame.getByRole("button", { name: "Start talking" }).click();
    await v.state("Speaking");
    const step = await until(
      () =>
        v.frame.evaluate(() => {
          const rest = document.querySelector(".rest")?.textContent.length;
          const all = document.querySelector(".bubble")?.textContent.length;
          return rest > 0 && rest < all && rest;
        }),
      "the caption has begun, and is not over",
    );
    await until(
      () => v.frame.evaluate((n) => document.querySelector(".rest")?.textContent.length < n, step),
      "the caption keeps step",
    );
    await shot(v.p, "voice-speaking");
    await v.state("Listening");
    await until(() => v.frame.evaluate(() => !document.querySelector(".rest")), "the caption is over");
    const greeting = responses(v)[0];
    assert.equal(greeting.agent_response, "Hello, this is Harbour Tours. What can I do for you?");
    const sound = await played(v.frame, greeting.event_id);
    const alike = [];
    for (const sentence of greeting.agent_response.match(/[^.?]+[.?]/g))
      alike.push(likeness(await utterance(sentence.trim()), sound));
    assert.ok(alike.length === 2 && Math.min(...alike) >= 0.95, "the greeting is that which is synthesised: " + alike);
    assert.deepEqual(await v.seen(() => globalThis.voiceSeen.constraints.audio), {
      channelCount: 1,
      echoCancellation: true,
      noiseSuppression: true,
      autoGainControl: true,
    });

    await v.frame.locator(".me", { hasText: "How much does shipping cost?" }).first().waitFor();
    const best = (await heard()).filter((h) => h.text === "How much does shipping cost?");
    assert.ok(best.length > 0 && best[0].score >= 0.9, JSON.stringify(best));
    await v.frame.locator(".bubble", { hasText: "Shipping costs 4.90 euros" }).first().waitFor();
    await v.frame.getByRole("link", { name: "Shipping and delivery of shop orders" }).first().waitFor();
    await v.state("Speaking");
    await v.state("Listening");
    await accessible(v.frame, "a talk");
    await shot(v.p, "voice-answered");

    const chunks = v.sockets[0].sent.filter((x) => x.m.user_audio_chunk);
    const sizes = new Set(chunks.map((x) => Buffer.from(x.m.user_audio_chunk, "base64").length));
    assert.deepEqual([...sizes], [1280], "pieces of 40 ms");
    const begin = v.sockets[0].got.find((x) => x.m.type === "conversation_initiation_metadata");
    assert.equal(begin.m.conversation_initiation_metadata_event.audio, "binary");
    t.diagnostic(`greeting ${alike.map((x) => x.toFixed(4))}, question ${best[0].score.toFixed(4)}`);

    await v.frame.getByRole("button", { name: "Hang up" }).click();
    await v.frame.getByRole("heading", { name: "The conversation has ended" }).waitFor();
    assert.equal(await v.seen(() => globalThis.voiceSeen.open), 0, "the microphone is given back");
    assert.deepEqual(v.logged, [], "errors of the console");
    v.c.check();
  });
});

describe("a talk", () => {
  beforeEach(async () => {
    company = await newCompany();
    token = company.token;
    marina = await talker(company);
  });

  it("stops when it is spoken to, understands that, and has the page do things", async (t) => {
    const v = await talking(t);
    const [question, wish] = [await utterance("When are you open?"), await utterance("Please show me the map")];
    await understood(v, question, "When are you open?");
    await v.state("Speaking");
    await until(
      () =>
        v.frame.evaluate(() => {
          // a part of the answer is heard, and not all of it
          const rest = document.querySelector(".rest");
          return rest && rest.textContent.length < rest.closest(".bubble").textContent.length;
        }),
      "the answer is heard",
    );
    const before = await v.seen(() => globalThis.voiceSeen.flushes.length);
    await say(v, wish);
    await until(() => v.seen((n) => globalThis.voiceSeen.flushes.length > n, before), "the answer is cut off");
    const { onset, ducked, cut } = await v.frame.evaluate((n) => {
      const seen = globalThis.voiceSeen;
      const flush = seen.flushes[n];
      const loud = seen.captured.filter((x) => x.level > 0.01 && x.at < flush).slice(-30);
      return { onset: loud[0].at - 40, ducked: seen.ducks.find((d) => d.on && d.at > loud[0].at - 40)?.at, cut: flush };
    }, before);
    t.diagnostic(
      `ducked ${(ducked - onset).toFixed(0)} ms and cut ${(cut - onset).toFixed(0)} ms after the first sound of the visitor`,
    );
    assert.ok(ducked <= cut, "it is ducked before it is cut");
    await v.frame.locator(".me", { hasText: "Please show me the map" }).first().waitFor();
    await v.frame.getByText("interrupted").first().waitFor();
    const { agent_response_correction_event: correction } = (
      await until(() => v.sockets[0].got.find((x) => x.m.type === "agent_response_correction"), "what was heard of it")
    ).m;
    assert.ok(
      correction.corrected_agent_response.length > 0 &&
        correction.original_agent_response.startsWith(correction.corrected_agent_response),
      JSON.stringify(correction),
    );
    await until(() => v.p.evaluate(() => globalThis.tools.length >= 1), "the page shows the map");
    const result = await until(
      () => v.sockets[0].sent.find((x) => x.m.type === "client_tool_result"),
      "the agent gets the result",
    );
    assert.deepEqual([result.m.result, result.m.is_error], ["The map is open", false]);
    v.c.check();
  });

  it("goes on in writing with the microphone given back, and speaks again", async (t) => {
    const v = await talking(t);
    await v.frame.getByRole("button", { name: "Turn off the microphone and type" }).click();
    await v.state("Your turn");
    await until(() => v.seen(() => globalThis.voiceSeen.open === 0), "the microphone is given back");
    const sent = v.sockets[0].sent.length;
    await v.frame.getByRole("textbox").fill("How much does shipping cost?");
    await v.frame.getByRole("textbox").press("Enter");
    await v.frame.locator(".bubble", { hasText: "Shipping costs 4.90 euros" }).waitFor();
    await v.state("Speaking"); // the answer is spoken all the same
    await shot(v.p, "voice-typed");
    assert.deepEqual(
      v.sockets[0].sent.slice(sent).filter((x) => x.m.user_audio_chunk),
      [],
      "nothing of the microphone is sent",
    );
    await v.frame.getByRole("button", { name: "Turn on the microphone" }).click();
    await until(() => v.seen(() => globalThis.voiceSeen.open === 1), "the microphone is open again");
    await v.frame.getByRole("button", { name: "Mute the microphone", exact: true }).click();
    await v.frame.getByRole("button", { name: "Unmute the microphone" }).waitFor();
    v.c.check();
  });

  it("leads to a person, ends, and is rated", async (t) => {
    const ana = await teammate(t);
    const v = await talking(t);
    await v.frame.getByRole("button", { name: "Talk to a person" }).click();
    await v.frame.getByText("Connecting you with our team.").waitFor();
    await v.state("On hold");
    await shot(v.p, "voice-queued");
    await v.frame.getByRole("button", { name: "Cancel" }).click();
    await v.frame.getByRole("button", { name: "Talk to a person" }).waitFor();
    await v.frame.getByRole("button", { name: "Hang up" }).click();
    await v.frame.getByRole("heading", { name: "The conversation has ended" }).waitFor();
    const id = await v.frame.locator("code").textContent();
    await v.frame.getByText("4 out of 5").locator("..").click();
    await v.frame.getByLabel("What could be better?").fill("A little faster");
    await accessible(v.frame, "the end");
    await shot(v.p, "voice-ended");
    await v.frame.getByRole("button", { name: "Send rating" }).click();
    await v.frame.getByText("Thanks for your rating.").waitFor();
    const { turns } = await call("GET", `/panel/v1/conversations/${id}/turns?after=0`, token);
    assert.deepEqual(
      turns.filter((x) => x.event === "rated").map((x) => [x.rating, x.text]),
      [[4, "A little faster"]],
    );
    await v.frame.getByRole("button", { name: "Talk again" }).click();
    await v.frame.getByRole("button", { name: "Start talking" }).waitFor();
    v.c.check();
  });

  it("is silent where one prefers to write, until the sound is turned on", async (t) => {
    const v = await talkOn(t, company, marina.widget, { microphone: script });
    await v.frame.getByRole("button", { name: "Type instead" }).click();
    await v.frame.getByText("Hello, this is Harbour Tours. What can I do for you?").waitFor();
    assert.equal(await v.frame.locator(".rest").count(), 0, "what is not heard is there at once");
    assert.equal(await v.seen(() => globalThis.voiceSeen.asked), 0, "the microphone is not asked for");
    await until(() => v.frame.evaluate(() => document.activeElement?.tagName === "TEXTAREA"), "one may write at once");
    const sound = v.frame.getByRole("button", { name: "Turn off the sound" });
    assert.equal(await sound.getAttribute("aria-pressed"), "true");
    await sound.click();
    await v.p.keyboard.press("Shift+Tab");
    await v.frame.getByRole("textbox").fill("How much does shipping cost?");
    await v.frame.getByRole("button", { name: "Send" }).click();
    await v.frame.getByRole("link", { name: "Shipping and delivery of shop orders" }).waitFor();
    await v.frame.locator(".rest").waitFor(); // it is spoken
    v.c.check();
  });

  it("says plainly that there is no microphone, and is typed", async (t) => {
    for (const [refuse, text] of [
      ["NotAllowedError", "Your microphone is blocked."],
      ["NotFoundError", "No microphone found."],
    ]) {
      const v = await talkOn(t, company, marina.widget, { microphone: { refuse } });
      await v.frame.getByRole("button", { name: "Start talking" }).click();
      await v.frame.getByRole("alert").getByText(text).waitFor();
      await v.state("Speaking"); // the greeting is heard
      await v.frame.getByRole("textbox").fill("How much does shipping cost?");
      await v.frame.getByRole("textbox").press("Enter");
      await v.frame.locator(".bubble", { hasText: "Shipping costs 4.90 euros" }).waitFor();
      await v.state("Speaking");
      await accessible(v.frame, "without a microphone");
      await shot(v.p, "voice-" + refuse);
      v.c.check();
    }
  });

  it("speaks but does not listen where nothing understands speech, and says so", async (t) => {
    const deaf = await talker(company, {
      agent: { name: "Deaf Marina", voice: { speaker: "espeak", transcriber: "none", speed: 1, silence_ms: 600 } },
    });
    const v = await talkOn(t, company, deaf.widget, { microphone: script });
    await v.frame
      .getByText("This browser can't turn speech into text here. Type or tap, and I'll answer aloud.")
      .waitFor();
    await shot(v.p, "voice-deaf");
    await v.frame.getByRole("button", { name: "Start", exact: true }).click();
    await v.state("Speaking");
    await v.state("Your turn");
    assert.equal(await v.seen(() => globalThis.voiceSeen.asked), 0, "the microphone is not asked for");
    await v.frame.getByRole("textbox").fill("When are you open?");
    await v.frame.getByRole("textbox").press("Enter");
    await v.state("Speaking");
    v.c.check();
  });

  it("needs neither the constraint of the sampling rate nor the rate itself", async (t) => {
    const v = await talking(t, { microphone: { script: true, real: true, bare: true, rate: 44100 } });
    await understood(v, await utterance("Where do we meet?"), "Where do we meet?");
    const best = (await heard()).filter((h) => h.text === "Where do we meet?");
    assert.ok(best.length > 0 && best[0].score >= 0.9, JSON.stringify(best)); // at another rate nothing would be like it
    v.c.check();
  });

  it("goes on after the connection is lost, with all that was said", async (t) => {
    const v = await talking(t);
    await v.frame.getByRole("textbox").fill("How much does shipping cost?");
    await v.frame.getByRole("textbox").press("Enter");
    await v.frame.getByRole("link", { name: "Shipping and delivery of shop orders" }).waitFor();
    await v.c.setOffline(true);
    await v.state("Reconnecting");
    await v.frame.getByRole("textbox").fill("When are you open?");
    await v.frame.getByRole("textbox").press("Enter");
    await v.c.setOffline(false);
    await v.frame.locator(".them", { hasText: "opens at 9:00" }).waitFor();
    const said = await v.frame.locator(".me .bubble").allTextContents();
    assert.deepEqual(said, ["How much does shipping cost?", "When are you open?"]);
    assert.equal(
      v.sockets.at(-1).url.match(/conversation=([^&]+)/)[1],
      v.sockets[0].url.match(/conversation=([^&]+)/)[1],
      "it is the same conversation",
    );
    assert.equal(
      await v.frame.locator(".them", { hasText: "Hello, this is Harbour Tours." }).count(),
      1,
      "it does not greet again",
    );
    v.c.check();
  });

  it("asks for consent where that is wanted, in the language that is chosen", async (t) => {
    const own = await talker(company, {
      agent: { name: "Careful Marina" },
      widget: {
        terms: "We keep this conversation for 30 days.",
        translations: { es: "Pregunte por las excursiones." },
      },
    });
    const v = await talkOn(t, company, own.widget, { microphone: script });
    await v.frame.getByText("We keep this conversation for 30 days.").waitFor();
    assert.equal(await v.frame.getByRole("button", { name: "Start talking" }).isDisabled(), true);
    await v.frame.getByLabel("Language").selectOption("es");
    await v.frame.getByText("Pregunte por las excursiones.").waitFor();
    assert.equal(await v.frame.evaluate(() => document.documentElement.lang), "es");
    await v.frame.getByRole("checkbox").check();
    await accessible(v.frame, "the start with consent");
    await shot(v.p, "voice-consent");
    await v.frame.getByRole("button", { name: "Empezar a hablar" }).click();
    await v.state("Hablando");
    v.c.check();
  });

  it("can be used by keyboard, on a phone, in the dark, from right to left, with less motion", async (t) => {
    const v = await talkOn(t, company, marina.widget, {
      microphone: script,
      lang: "ar",
      options: { viewport: { width: 390, height: 780 }, colorScheme: "dark", reducedMotion: "reduce" },
    });
    assert.equal(await v.frame.evaluate(() => document.documentElement.dir), "rtl");
    await until(
      () => v.frame.evaluate(() => document.activeElement?.textContent === "Start talking"),
      "the first thing to do has the focus",
    );
    await accessible(v.frame, "the start, dark, from right to left");
    await v.p.keyboard.press("Enter");
    await v.state("Speaking");
    await shot(v.p, "voice-phone-dark-rtl");
    await until(
      () => v.frame.evaluate(() => document.activeElement?.classList.contains("mic")),
      "the microphone has the focus",
    );
    await v.p.keyboard.press("Space");
    await v.frame.getByRole("button", { name: "Unmute the microphone" }).waitFor();
    await v.p.keyboard.press("Tab");
    assert.equal(await v.frame.evaluate(() => document.activeElement?.getAttribute("aria-label")), "Hang up");
    await v.state("Muted");
    await accessible(v.frame, "a talk, dark, from right to left");
    assert.equal(
      await v.frame.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
      true,
      "it scrolls sideways",
    );
    for (const box of await v.frame.evaluate(() =>
      [...document.querySelectorAll("button, a, input, select, textarea")]
        .map((e) => e.getBoundingClientRect())
        .map((r) => [r.width, r.height]),
    ))
      assert.ok(Math.min(...box) >= 24, "a target of " + box);
    await v.p.keyboard.press("Escape");
    await v.p.waitForFunction(
      () => document.activeElement?.tagName === "DIV" && !document.activeElement.classList.contains("o"),
    );
    await v.p.evaluate(() => globalThis.carillonVoice("open"));
    await v.state("Muted"); // it went on
    await v.frame.getByRole("button", { name: "Hang up" }).press("Enter");
    await v.frame.getByRole("heading", { name: "The conversation has ended" }).waitFor();
    v.c.check();
  });
});

describe("the embed script", () => {
  beforeEach(async () => {
    company = await newCompany();
    token = company.token;
    marina = await talker(company);
  });

  it("stays one when its tag is there twice, shares the chat's button, and survives single-page navigation", async (t) => {
    const tag = `<script async src="${ready.widget_url}/embed/voice.js" widget="${marina.widget.id}" customer="${company.access_key}"></script><script async src="${ready.widget_url}/embed/chat.js" widget="${company.chat_widget_id}" customer="${company.access_key}"></script>`;
    const v = await talkOn(t, company, marina.widget, { body: tag, microphone: script });
    await v.p.waitForFunction(() => globalThis.carillon?.on && document.querySelectorAll("html > div").length === 2);
    const boxes = await v.p.evaluate(() =>
      [...document.querySelectorAll("html > div")].map((d) => d.getBoundingClientRect()).map((r) => [r.left, r.right]),
    );
    assert.equal(boxes.filter(([left, right]) => right > left).length, 1, "two buttons: " + JSON.stringify(boxes));
    await shot(v.p, "voice-beside-chat");
    await v.frame.getByRole("button", { name: "Start talking" }).click();
    await v.state("Speaking");
    await v.p.evaluate(() => {
      document.body.replaceWith(document.createElement("body"));
    });
    await v.p.waitForFunction(() => document.querySelectorAll("html > div").length === 2);
    await v.state("Listening"); // it goes on
    assert.equal(v.p.frames().filter((f) => f.url().includes("vw_id=")).length, 1);
    v.c.check();
  });
});
