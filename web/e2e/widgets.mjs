// The chat on a customer's page, which is on a site of its own.
import { context, ready, site } from "./browser.mjs";
import { browser } from "./world.mjs";

/** tag embeds the chat of a company in a page. */
export const tag = (company, more = "", widget = company.chat_widget_id) =>
  `<script async src="${ready.widget_url}/embed/chat.js" widget="${widget}" customer="${company.access_key}" ${more}></script>`;

/** page is a page of a shop. */
export const page = (body, lang = "en") =>
  `<!doctype html><html lang="${lang}"><head><meta charset="utf-8"><title>Shop</title><meta name="viewport" content="width=device-width, initial-scale=1"></head><body><h1>Shop</h1>${body}</body></html>`;

/** opening is the frame of a widget that is about to be opened: "cw_id=" is in the address of a chat, "vw_id=" in that of a voice. */
export function opening(p, address = "cw_id=") {
  return p.waitForEvent("framenavigated", (f) => f !== p.mainFrame() && f.url().includes(address));
}

/** chatOf opens the chat of a page that embeds it, and returns its frame. */
export async function chatOf(p) {
  await p.waitForFunction(() => globalThis.carillon?.on);
  const loaded = opening(p);
  await p.evaluate(() => globalThis.carillon("open"));
  const frame = await loaded;
  await frame.getByRole("log").waitFor();
  return frame;
}

/** visitor is somebody with the chat of a company open, on a page in their language. */
export async function visitor(t, company, { lang = "en", body = tag(company), ...options } = {}) {
  const host = await site("shop", page(body, lang));
  const c = await context(browser, { reducedMotion: "reduce", ...options });
  t.after(async () => {
    c.check();
    await c.close();
    await host.close();
  });
  const p = await c.newPage();
  await p.goto(host.url);
  return { c, p, host, frame: await chatOf(p) };
}

/** say has a visitor write something. */
export async function say(frame, text) {
  const box = frame.locator("footer textarea");
  await box.fill(text);
  await box.press("Enter");
}
