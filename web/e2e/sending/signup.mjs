// A number connected in Facebook's dialog, whose scripts the test makes up.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { accessible, fits, shot } from "../browser.mjs";
import { ask, fillIn, stranger } from "../world.mjs";

/** sdk is a made-up Facebook SDK: the test ends its dialogs. */
const sdk = `
  window.FB = {
    init: (options) => { window.initialized = options; },
    login: (done, options) => { window.dialog = { done, options }; },
  };
  window.fbAsyncInit();
`;

/** ends ends the open dialog: with the messages of its window, and a code or none. */
async function ends(p, messages, code, origin = "https://www.facebook.com") {
  await p.waitForFunction(() => window.dialog);
  return p.evaluate(
    ({ messages, code, origin }) => {
      const { done, options } = window.dialog;
      delete window.dialog;
      for (const [event, data] of messages)
        window.dispatchEvent(
          new MessageEvent("message", { origin, data: JSON.stringify({ type: "WA_EMBEDDED_SIGNUP", event, data }) }),
        );
      done({ authResponse: code ? { code } : null });
      return options;
    },
    { messages, code, origin },
  );
}

const finish = ["FINISH", { phone_number_id: "1000001", waba_id: "2000001", business_id: "3000009" }];

describe("Facebook's dialog", () => {
  it("connects a number, and says how a try ended", async (t) => {
    const { panel_url: address, email, password } = await ask("signup");
    const { c, p } = await stranger(t, { viewport: { width: 1440, height: 900 } });
    c.allowed = ["connect.facebook.net"];
    const loaded = [];
    await c.route("https://connect.facebook.net/**", (route) => {
      loaded.push(route.request().url());
      return route.fulfill({
        contentType: "text/javascript",
        headers: { "access-control-allow-origin": "*" },
        body: sdk,
      });
    });
    const policies = {};
    p.on("response", async (r) => {
      if (r.request().isNavigationRequest())
        policies[new URL(r.url()).pathname] = (await r.allHeaders())["content-security-policy"];
    });
    await p.goto(address + "/sign-in?next=%2Fsenders%2Fnew");
    await fillIn(p, { email, password });
    await p.getByRole("link", { name: "Connect with Facebook" }).waitFor();
    await accessible(p, "the two ways to connect a number");
    await shot(p, "senders-connect");
    await p.getByRole("link", { name: "Connect with Facebook" }).click();
    const go = p.getByRole("button", { name: "Continue with Facebook" });
    await go.waitFor();
    assert.deepEqual(loaded, [], "nothing is loaded before the button is pressed");
    assert.match(policies["/panel/senders/sign-up"], /https:\/\/connect\.facebook\.net/);
    await accessible(p, "the sign-up");
    await shot(p, "senders-sign-up");

    // Closed; a message of another origin counts for nothing.
    await go.click();
    const asked = await ends(p, [finish], "", "https://www.facebook.com.evil.test");
    assert.deepEqual(asked, {
      config_id: "4000001",
      response_type: "code",
      override_default_response_type: true,
      extras: { setup: {} },
    });
    await p.getByText(/Facebook's window was closed before the end/).waitFor();
    assert.deepEqual(loaded, ["https://connect.facebook.net/en_US/sdk.js"]);
    assert.deepEqual(await p.evaluate(() => window.initialized), {
      appId: "3000001",
      version: "v23.0",
      cookie: false,
      xfbml: false,
    });

    // An account without a number; an error; a code that came too late.
    await p.getByRole("radio", { name: "Keep using the WhatsApp Business app" }).check();
    await go.click();
    const coexists = await ends(p, [["FINISH_ONLY_WABA", { waba_id: "2000001" }]], await ask("code"));
    assert.equal(coexists.extras.featureType, "whatsapp_business_app_onboarding");
    await p.getByText(/has no number yet. Start again and add a number/).waitFor();
    await go.click();
    await ends(p, [["CANCEL", { error_message: "Something of Facebook's" }]], "");
    await p.getByText("Something of Facebook's").waitFor();
    await p.getByRole("radio", { name: "Only here" }).check();
    await go.click();
    await ends(p, [finish], await ask("code?late"));
    await p.getByText("Failed: get access from Meta").waitFor();
    await p.getByText(/valid for 30 seconds/).waitFor();
    await accessible(p, "a refused sign-up");
    await p.setViewportSize({ width: 390, height: 844 });
    await fits(p, "the sign-up on a phone");
    await shot(p, "senders-sign-up-phone");
    await p.setViewportSize({ width: 1440, height: 900 });

    // Connected, checked and registered, in a document without Facebook's scripts.
    await go.click();
    await ends(p, [finish], await ask("code"));
    await p.waitForURL(/\/senders\/15555550100\/connect/);
    const list = p.getByRole("list", { name: "Check" });
    await list.getByText("Your app gets this account's callbacks.").waitFor();
    assert.equal(await p.evaluate(() => "FB" in window), false);
    assert.doesNotMatch(policies["/panel/senders/15555550100/connect"], /facebook/);
    await p.getByLabel("PIN").fill("918273");
    await p.getByRole("button", { name: "Register the number" }).click();
    await list.getByText("The number can send and receive.").waitFor();
  });
});
