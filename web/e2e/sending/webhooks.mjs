// Webhooks, as a developer of the company sets one up and looks after it: a real server receives the events and verifies each by hand.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { beforeEach, describe, it } from "node:test";
import { accessible, looks, shot, visit } from "../browser.mjs";
import { act } from "../lists.mjs";
import { call, direct, newCompany, open, until } from "../world.mjs";

let company;
let token;

/** receiver is a program that gets events: what arrived, signed by which of its secrets, and what it responds. */
async function receiver(t) {
  const r = { got: [], secrets: {}, status: 204 };
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts).toString();
    const {
      "webhook-id": id,
      "webhook-timestamp": at,
      "webhook-signature": signatures = "",
      authorization,
    } = request.headers;
    const signedBy = Object.keys(r.secrets).filter((name) => {
      const want = createHmac("sha256", Buffer.from(r.secrets[name].replace("whsec_", ""), "base64"))
        .update(`${id}.${at}.${body}`)
        .digest("base64");
      return signatures.split(" ").includes("v1," + want);
    });
    assert.ok(Math.abs(Date.now() / 1000 - Number(at)) < 300, "the time of the attempt");
    const event = JSON.parse(body);
    assert.equal(event.id, id);
    const status = r.status;
    response.writeHead(status).end(status < 300 ? "" : JSON.stringify({ error: "no such order" }));
    r.got.push({ event, signedBy, authorization, status });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  );
  r.host = "127.0.0.1:" + server.address().port;
  /** first returns the first request that fits, which may be still to come. */
  r.first = (fits) => until(() => r.got.find(fits), "a request");
  return r;
}

/** sent sends a message through the sandbox. */
async function sent(number) {
  const r = await fetch(`${direct()}/functions/v1/notify?access_key=${company.access_key}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      contact: { number, name: "Ana" },
      name_template: "hello",
      language_template: "en",
      recipient_id: company.sender,
      notification_type: "transactional",
      campaign_name: "webhooks",
      components_push: { body_text_0: "{{name}}" },
    }),
  });
  assert.ok(r.ok, await r.clone().text());
  return (await r.json()).notification_id;
}

const copied = (p) => p.evaluate(() => navigator.clipboard.readText());

describe("a webhook", () => {
  beforeEach(async () => {
    company = await newCompany();
    token = company.token;
  });

  it("is added, tested, fails, recovers, changes its secret and is deleted", async (t) => {
    const r = await receiver(t);
    const p = await open(t, company, "/webhooks");
    await p.getByRole("heading", { name: "No webhooks yet" }).waitFor();
    await p.getByRole("button", { name: "Copy code" }).click();
    assert.match(await copied(p), /webhook\.verify\(req\.body, req\.headers\)/);
    await looks(p, "webhooks-empty");

    await p.getByRole("button", { name: "New webhook" }).click();
    const form = p.getByRole("dialog");
    await form.getByRole("button", { name: "New webhook" }).click();
    await form.getByText("Required").waitFor();
    await form.getByLabel("URL").fill("ftp://x");
    await form.getByRole("button", { name: "New webhook" }).click();
    await form.getByText("Enter a web address").waitFor();
    await form.getByLabel("URL").fill("http://192.0.2.1/hook");
    await form.getByRole("button", { name: "New webhook" }).click();
    await form.getByText("Use an address that can be reached from the internet").waitFor();
    await form.getByLabel("URL").fill(`http://${r.host}/hook`);
    await form.getByRole("switch", { name: "All events, including future ones" }).uncheck();
    await form.getByLabel("Message read").uncheck();
    await form.getByRole("button", { name: "New header" }).click();
    await form.getByLabel("Name 1").fill("Authorization");
    await form.getByLabel("Value 1").fill("Bearer for-the-hook");
    await looks(p, "webhooks-add");
    await form.getByRole("button", { name: "New webhook" }).click();
    await form.getByRole("button", { name: "Copy secret" }).click();
    r.secrets.first = await copied(p);
    assert.match(r.secrets.first, /^whsec_/);
    await shot(p, "webhooks-secret");
    await form.getByRole("button", { name: "Done" }).click();

    await p.getByRole("heading", { name: r.host, level: 1 }).waitFor();
    await p.getByText("No events sent yet. Send a test").waitFor();
    assert.equal(await p.getByText(r.secrets.first).count(), 0, "the secret is shown once");
    await p.getByRole("button", { name: "Send a test" }).click();
    const test = p.getByRole("dialog");
    await test.getByRole("button", { name: "Send", exact: true }).click();
    await test.getByText("Delivered", { exact: true }).waitFor();
    const example = await r.first((g) => g.event.test);
    assert.deepEqual(
      [example.event.type, example.signedBy, example.authorization],
      ["message.delivered", ["first"], "Bearer for-the-hook"],
    );
    await looks(p, "webhooks-test");
    await p.keyboard.press("Escape");
    await p.getByText("The last test was delivered").waitFor();

    const id = p.url().match(/webhooks\/([0-9a-f-]{36})/)[1];
    await visit(p, `/panel/webhooks/${id}`);
    const failed = await sent("34600110001");
    const arrived = await r.first((g) => g.event.type === "message.failed" && g.event.data.notification_id === failed);
    assert.deepEqual(arrived.signedBy, ["first"]);
    const rows = p.getByRole("region", { name: "Deliveries" });
    await rows.getByRole("button", { name: "message.failed" }).first().click();
    const drawer = p.getByRole("dialog");
    await drawer.getByText("Event ID, the same in every attempt").waitFor();
    await drawer.getByRole("link", { name: "Open message" }).waitFor();
    await drawer.getByRole("button", { name: "Copy as curl" }).click();
    assert.ok(
      !/signature|for-the-hook/.test(await copied(p)) && (await copied(p)).includes("webhook-id: " + arrived.event.id),
    );
    assert.match(p.url(), /delivery=/, "the address holds the delivery");
    await looks(p, "webhooks-delivery");
    const before = r.got.length;
    await drawer.getByRole("button", { name: "Replay this event" }).click();
    await r.first((g, i) => i >= before && g.event.id === arrived.event.id);
    await p.keyboard.press("Escape");
    await drawer.waitFor({ state: "hidden" });

    r.status = 500;
    await Promise.all(["34600119101", "34600119102"].map(sent)); // three events each
    const state = p.getByRole("region", { name: "Status" });
    await state.getByText("Down", { exact: true }).waitFor();
    await state.getByText("Last error: The endpoint responded 500.").waitFor();
    await p.getByRole("switch", { name: "Only failed" }).check();
    await rows.getByText("Failed · 500").first().waitFor();
    await rows.getByText("Delivered · 204").first().waitFor({ state: "detached" });
    await looks(p, "webhooks-down");
    await visit(p, "/panel");
    await p.getByText(`Webhook ${r.host} is failing`).waitFor();
    await p.getByText("The endpoint responded 500").waitFor();
    await shot(p, "webhooks-attention");
    await p.getByRole("link", { name: "Open webhook" }).click();
    r.status = 204;
    await state.getByRole("button", { name: "Try now" }).click();
    const enable = p.getByRole("dialog");
    await enable.getByText("Skip the backlog").waitFor();
    await enable.getByRole("button", { name: "Try now" }).click();
    await state.getByText("Active", { exact: true }).waitFor();
    await state.getByText("Nothing to retry").waitFor();

    await act(p, "Rotate secret");
    const rotate = p.getByRole("dialog");
    await rotate.getByText("3 days").click();
    await accessible(p, "rotating a secret");
    await rotate.getByRole("button", { name: "Generate new secret" }).click();
    await rotate.getByRole("button", { name: "Copy secret" }).click();
    await rotate.getByText("The old secret is also valid until").waitFor();
    r.secrets.second = await copied(p);
    assert.notEqual(r.secrets.second, r.secrets.first);
    await shot(p, "webhooks-rotated");
    await rotate.getByRole("button", { name: "Done" }).click();
    await rotate.waitFor({ state: "hidden" });

    await state.getByRole("button", { name: "Pause" }).click(); // which must keep both secrets
    await state.getByText("Paused", { exact: true }).waitFor();
    const later = await sent("34600110001");
    await state.getByRole("button", { name: "Resume" }).click();
    const both = await r.first((g) => g.event.data.notification_id === later);
    assert.deepEqual(both.signedBy, ["first", "second"]);

    await p.getByRole("button", { name: "Replay", exact: true }).click();
    const replay = p.getByRole("dialog");
    await replay.getByRole("button", { name: "Resend" }).click();
    await replay.getByText("Choose a start time").waitFor();
    await replay.getByLabel("From").fill(
      await p.evaluate(() => {
        const d = new Date(Date.now() - 3_600_000);
        return new Date(d - d.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
      }),
    );
    await replay.getByRole("combobox", { name: "Only these types" }).click();
    await p.getByRole("option", { name: "message.failed" }).click();
    const count = r.got.length;
    await replay.getByRole("button", { name: "Resend" }).click();
    await replay.getByText("Resending 2 events").waitFor();
    await r.first((g, i) => i >= count && g.event.data.notification_id === failed);
    await looks(p, "webhooks-replay");
    await replay.getByRole("button", { name: "Close" }).last().click();
    await replay.waitFor({ state: "hidden" });

    await p.getByRole("switch", { name: /Keep the order/ }).check();
    await p.keyboard.press("Control+s");
    await p.getByRole("region", { name: "Save" }).waitFor({ state: "detached" });
    const stored = await call("GET", "/panel/v1/webhooks/" + id, token);
    assert.deepEqual(
      [
        stored.ordered,
        stored.paused ?? false,
        stored.headers.map((h) => [h.name, h.value]),
        stored.events.includes("message.read"),
      ],
      [true, false, [["Authorization", undefined]], false],
    );
    await p.getByRole("button", { name: "Send a test" }).click();
    const last = r.got.length;
    await p.getByRole("dialog").getByRole("button", { name: "Send", exact: true }).click();
    const kept = await r.first((g, i) => i >= last && g.event.test);
    assert.equal(kept.authorization, "Bearer for-the-hook", "a header keeps its value");
    await p.getByRole("dialog").getByText("Delivered", { exact: true }).waitFor();
    await p.keyboard.press("Escape");

    await p.getByRole("navigation", { name: "Navigation" }).getByRole("link", { name: "Webhooks" }).click();
    await p
      .getByRole("row", { name: new RegExp(r.host) })
      .getByText("Active")
      .waitFor();
    await p.getByRole("link", { name: r.host }).click();
    await act(p, "Delete");
    const remove = p.getByRole("dialog");
    assert.ok(await remove.getByRole("button", { name: "Delete" }).isDisabled());
    await remove.getByLabel(`Type ${r.host} to confirm`).fill(r.host);
    await remove.getByRole("button", { name: "Delete" }).click();
    await p.getByRole("heading", { name: "No webhooks yet" }).waitFor();
  });

  it("at an address that doesn't respond is said to have failed its test, in the language of the page", async (t) => {
    const made = await call("POST", "/panel/v1/webhooks", token, { url: "http://127.0.0.1:1/hook" });
    const p = await open(t, company, "/webhooks/" + made.id, { locale: "es-ES" });
    await p.getByText("Aún no se han enviado eventos. Envíe una prueba").waitFor();
    await p.getByRole("button", { name: "Enviar una prueba" }).click();
    await p.getByRole("dialog").getByRole("button", { name: "Enviar", exact: true }).click();
    await p.getByRole("dialog").getByText("Nadie acepta conexiones en 127.0.0.1:1").first().waitFor();
    await p.keyboard.press("Escape");
    await p.getByText("La última prueba falló").waitFor();
    await looks(p, "webhooks-test-failed");
  });
});
