// Widgets on pages with policies of their own: docs/guides/embed.md has the table. What cannot work says on the console why.
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { context, launch, site } from "../browser.mjs";
import { newCompany, stranger } from "../world.mjs";
import { opening, page, say } from "../widgets.mjs";

let company;

const kinds = [
  { kind: "chat", api: "carillon", address: "cw_id=", id: () => company.chat_widget_id },
  { kind: "voice", api: "carillonVoice", address: "vw_id=", id: () => company.voice_widget_id },
];

const tagOf = (x, more = "async") =>
  `<script ${more} src="${company.widget_url}/embed/${x.kind}.js" widget="${x.id()}" customer="${company.access_key}"></script>`;

/** sandboxed is a page with a widget's tag in a frame that has no origin. */
const sandboxed = (x) =>
  page(
    `<iframe sandbox="allow-scripts" allow="microphone; autoplay" width="900" height="700" srcdoc="${page(tagOf(x)).replaceAll("&", "&amp;").replaceAll('"', "&quot;")}"></iframe>`,
  );

/** visit opens a site's page, and returns it with the messages of its console. */
async function visit(t, html, headers, who = stranger) {
  const host = await site("policies", html, headers);
  const { p } = await who(t);
  t.after(() => host.close());
  const said = [];
  p.on("console", (m) => {
    if (["error", "warning"].includes(m.type())) said.push(m.text());
  });
  await p.goto(host.url);
  return { p, said };
}

/** opened opens a widget in a page or in a frame of it, and returns the widget's own frame, which works. */
async function opened(p, x, within = p) {
  await within.waitForFunction((api) => globalThis[api]?.on, x.api);
  const loaded = opening(p, x.address);
  await within.evaluate((api) => globalThis[api]("open"), x.api);
  const frame = await loaded;
  if (x.kind === "chat") {
    await frame.locator("footer textarea").waitFor();
    await say(frame, "said on a page with a policy");
    await frame.getByText("Sent").last().waitFor();
  } else {
    await frame.locator(".start button").last().click(); // the last one is to type
    const box = frame.locator(".line textarea");
    await box.fill("typed on a page with a policy");
    await box.press("Enter");
    await frame.getByRole("log").getByText("typed on a page with a policy").waitFor();
  }
  return frame;
}

/** loadWorklets loads the worklets of a voice page, as it does for a talk. */
async function loadWorklets() {
  const { src } = document.querySelector("script[src]");
  const names = (await (await fetch(src)).text()).match(/[\w.-]*worklet[\w.-]*\.js/g);
  if (!names?.length) throw new Error("the script names no worklets");
  const { audioWorklet } = new AudioContext();
  await Promise.all(names.map((name) => audioWorklet.addModule(new URL(name, src))));
}

/** logged is what a page's console says but for the sound that nobody has asked for yet. */
const logged = (said) => said.filter((text) => !text.includes("AudioContext"));

const policies = {
  "isolates itself": { "Cross-Origin-Embedder-Policy": "require-corp", "Cross-Origin-Opener-Policy": "same-origin" },
  "isolates itself without credentials": {
    "Cross-Origin-Embedder-Policy": "credentialless",
    "Cross-Origin-Opener-Policy": "same-origin",
  },
  "takes trusted types alone": {
    "Content-Security-Policy": "require-trusted-types-for 'script'; trusted-types 'none'",
  },
  "allows no styles, pictures and fonts": () => ({
    "Content-Security-Policy": `default-src 'none'; script-src ${company.widget_url}; connect-src ${company.widget_url}; frame-src ${company.widget_url}`,
  }),
};

for (const x of kinds) {
  describe(`the ${x.kind} on a page that`, () => {
    before(async () => {
      company = await newCompany();
    });

    for (const [name, headers] of Object.entries(policies)) {
      it(name, async (t) => {
        const { p, said } = await visit(t, page(tagOf(x)), typeof headers === "function" ? headers() : headers);
        const frame = await opened(p, x);
        if (x.kind === "voice") await frame.evaluate(loadWorklets); // which play and record, once somebody talks
        assert.deepEqual(logged(said), []);
      });
    }

    it("loads it as a module", async (t) => {
      const { p, said } = await visit(t, page(tagOf(x, 'type="module"')));
      await opened(p, x);
      assert.deepEqual(logged(said), []);
    });

    it("is in a sandboxed frame, without an origin", async (t) => {
      const { p } = await visit(t, sandboxed(x));
      const within = p.frames()[1];
      assert.equal(await within.evaluate(() => globalThis.origin), "null");
      await opened(p, x, within);
    });

    for (const [directive, rest] of [
      ["frame-src", "connect-src"],
      ["connect-src", "frame-src"],
    ]) {
      it(`blocks it by ${directive}, and says so`, async (t) => {
        const { p, said } = await visit(t, page(tagOf(x)), {
          "Content-Security-Policy": `default-src 'none'; script-src ${company.widget_url}; ${rest} ${company.widget_url}`,
        });
        const warned = `carillon: CSP lacks ${directive} ${company.widget_url}`;
        await p.waitForFunction((api) => globalThis[api]?.on, x.api);
        const heard = said.includes(warned) ? undefined : p.waitForEvent("console", (m) => m.text() === warned);
        await p.evaluate((api) => globalThis[api]("open"), x.api);
        await heard;
      });
    }

    it("names no tag, and says so", async (t) => {
      const { p, said } = await visit(t, page(""));
      const warned = `carillon: no script[src*="/embed/${x.kind}.js"]`;
      const heard = p.waitForEvent("console", (m) => m.text() === warned);
      await p.evaluate((src) => import(src), `${company.widget_url}/embed/${x.kind}.js`);
      await heard;
      assert.deepEqual(said, [warned]);
    });
  });
}

/** speaker is somebody who has a microphone, and allows it to every page that asks. */
async function speaker(t) {
  const b = await launch("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream");
  t.after(() => b.close());
  const c = await context(b, { locale: "en-GB", reducedMotion: "reduce", permissions: ["microphone"] });
  const p = await c.newPage();
  await p.route(/functions\/v1\/voice-widget\?/, async (route) => {
    // as where what is said is understood
    const response = await route.fetch({
      url: route
        .request()
        .url()
        .replace(/\/\/[^/:]+/, "//127.0.0.1"),
    }); // Node knows no localhost but its own
    await route.fulfill({ response, json: { ...(await response.json()), speech: true, hearing: true } });
  });
  return { c, p };
}

/** microphone asks for the microphone in a frame: "given", or the name of the error. */
const microphone = () =>
  navigator.mediaDevices?.getUserMedia({ audio: true }).then(
    (s) => {
      for (const track of s.getTracks()) track.stop();
      return "given";
    },
    (e) => e.name,
  ) ?? "none";

describe("the voice of somebody with a microphone", () => {
  before(async () => {
    company = await newCompany();
  });
  const x = kinds[1];

  for (const [where, html, given] of [
    ["on a page", page, true],
    ["in a sandboxed frame, where it is typed to", sandboxed, false],
  ]) {
    it(where, async (t) => {
      const { p } = await visit(t, given ? html(tagOf(x)) : html(x), {}, speaker);
      const within = given ? p.mainFrame() : p.frames()[1];
      await within.waitForFunction((api) => globalThis[api]?.on, x.api);
      const loaded = opening(p, x.address);
      await within.evaluate((api) => globalThis[api]("open"), x.api);
      const frame = await loaded;
      await frame.locator(".start button").first().waitFor();
      assert.equal((await frame.evaluate(microphone)) === "given", given);
      await frame.locator(".start button").first().click(); // to talk
      await frame.getByRole("button", { name: "Agree and talk" }).click();
      await frame.getByRole("button", { name: given ? "Mute the microphone" : "Turn on the microphone" }).waitFor();
      if (given) return;
      await frame.getByText("You can type instead").waitFor();
      const box = frame.locator(".line textarea");
      await box.fill("typed, for there is no microphone");
      await box.press("Enter");
      await frame.getByRole("log").getByText("typed, for there is no microphone").waitFor();
    });
  }
});

describe("the wrapper page on a page that", () => {
  before(async () => {
    company = await newCompany();
  });

  for (const name of ["isolates itself", "isolates itself without credentials"]) {
    it(name, async (t) => {
      const wrapper = `${company.base_url}/functions/v1/widgetWebView?customer_id=${company.access_key}&amp;widget_id=${company.chat_widget_id}`;
      const { p } = await visit(t, page(`<iframe width="400" height="600" src="${wrapper}"></iframe>`), policies[name]);
      const frame = p.frames().find((f) => f.url().includes("cw_id=")) ?? (await opening(p));
      await frame.locator("footer textarea").waitFor();
      await say(frame, "said within two frames");
      await frame.getByText("Sent").last().waitFor();
    });
  }
});
