// Files in the chat: chosen, refused, shown, there after a reload.
import assert from "node:assert/strict";
import { deflateSync } from "node:zlib";
import { after, before, describe, it } from "node:test";
import { accessible, context, launch, ready, shot } from "./browser.mjs";

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

const wrapper = `${ready.base_url}/functions/v1/widgetWebView?customer_id=${ready.access_key}&widget_id=${ready.chat_widget_id}&lang=en`;

function crc(bytes) {
  let c = ~0;
  for (const b of bytes) { c ^= b; for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1; }
  return ~c >>> 0;
}

/** png is a picture of a sky over a sea. */
function png(width = 320, height = 200) {
  const rows = Buffer.alloc(height * (1 + width * 3));
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) {
    const at = y * (1 + width * 3) + 1 + x * 3, sea = y > height * 0.62 + 6 * Math.sin(x / 18);
    rows.set(sea ? [20, 100 + x / 8, 160] : [250 - y / 2, 190 - y / 4, 120 + y / 2], at);
  }
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type), data]), out = Buffer.alloc(body.length + 8);
    out.writeUInt32BE(data.length, 0); body.copy(out, 4); out.writeUInt32BE(crc(body), body.length + 4);
    return out;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0); head.writeUInt32BE(height, 4); head.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), chunk("IHDR", head), chunk("IDAT", deflateSync(rows)), chunk("IEND", Buffer.alloc(0))]);
}

describe("files in the chat", () => {
  for (const [name, options] of [["light", {}], ["dark-phone", { colorScheme: "dark", viewport: { width: 390, height: 780 } }]]) {
    it(`are sent, shown and still there after a reload, ${name}`, async (t) => {
      const c = await context(browser, options);
      t.after(() => c.close());
      const p = await c.newPage();
      await p.goto(wrapper);
      let frame = p.frames()[1];
      await frame.locator("button[title='Attach a file']:enabled").waitFor();
      const choose = (file) => frame.locator("input[type=file]").setInputFiles(file);
      await choose({ name: "harbour <b>at</b> dusk.png", mimeType: "image/png", buffer: png() });
      const picture = frame.getByRole("img", { name: /dusk\.png$/ });
      await picture.waitFor();
      await frame.waitForFunction(() => { const i = document.querySelector(".picture img"); return i && i.complete && i.naturalWidth === 320; });
      await choose({ name: "invoice.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.7\n" + "x".repeat(52_000)) });
      await frame.getByRole("link", { name: /invoice\.pdf/ }).waitFor();
      await frame.getByText("51 kB").waitFor();
      await choose({ name: "page.txt", mimeType: "text/plain", buffer: Buffer.from("<script>alert(1)</script>") });
      await frame.getByText("This kind of file cannot be sent.").waitFor();
      await accessible(frame, "the chat with files, " + name);
      await shot(p, "files-" + name);
      await choose({ name: "film.mp4", mimeType: "video/mp4", buffer: Buffer.from("x") });
      await choose({ name: "large.pdf", mimeType: "application/pdf", buffer: Buffer.alloc(11 << 20, "x") });
      await frame.getByText("The file is larger than 10 MB.").waitFor();
      const [download] = await Promise.all([p.waitForEvent("download"), frame.getByRole("link", { name: /invoice\.pdf/ }).click()]);
      assert.equal(download.suggestedFilename(), "invoice.pdf");
      await p.reload();
      frame = p.frames()[1];
      await frame.locator(".picture img").waitFor();
      assert.equal(await frame.locator(".row .picture, .row .file").count(), 2);
      c.check();
    });
  }
});
