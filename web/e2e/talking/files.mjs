// Files in the chat: chosen, refused, shown, there after a reload.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { accessible, png, shot } from "../browser.mjs";
import { newCompany, stranger, until } from "../world.mjs";

let company;

describe("files in the chat", () => {
  beforeEach(async () => {
    company = await newCompany();
  });
  for (const [name, options] of [
    ["light", {}],
    ["dark-phone", { colorScheme: "dark", viewport: { width: 390, height: 780 } }],
  ]) {
    it(`are sent, shown and still there after a reload, ${name}`, async (t) => {
      const { p } = await stranger(t, options);
      await p.goto(
        `${company.base_url}/functions/v1/widgetWebView?customer_id=${company.access_key}&widget_id=${company.chat_widget_id}&lang=en`,
      );
      let frame = p.frames()[1];
      await frame.locator("button[title='Attach a file']:enabled").waitFor();
      const choose = (file) => frame.locator("input[type=file]").setInputFiles(file);
      await choose({ name: "harbour <b>at</b> dusk.png", mimeType: "image/png", buffer: png() });
      const picture = frame.getByRole("img", { name: /dusk\.png$/ });
      await picture.waitFor();
      await frame.waitForFunction(() => {
        const i = document.querySelector(".picture img");
        return i && i.complete && i.naturalWidth === 320;
      });
      await choose({
        name: "invoice.pdf",
        mimeType: "application/pdf",
        buffer: Buffer.from("%PDF-1.7\n" + "x".repeat(52_000)),
      });
      await frame.getByRole("link", { name: /invoice\.pdf/ }).waitFor();
      await frame.getByText("51 kB").waitFor();
      await choose({ name: "page.txt", mimeType: "text/plain", buffer: Buffer.from("<script>alert(1)</script>") });
      await frame.getByText("This type of file can't be sent.").waitFor();
      await accessible(frame, "the chat with files, " + name);
      await shot(p, "files-" + name);
      await choose({ name: "film.mp4", mimeType: "video/mp4", buffer: Buffer.from("x") });
      await choose({ name: "large.pdf", mimeType: "application/pdf", buffer: Buffer.alloc(11 << 20, "x") });
      await frame.getByText("The file is larger than 10 MB.").waitFor();
      const [download] = await Promise.all([
        p.waitForEvent("download"),
        frame.getByRole("link", { name: /invoice\.pdf/ }).click(),
      ]);
      assert.equal(download.suggestedFilename(), "invoice.pdf");
      await p.reload();
      const has = (f) =>
        f
          .locator(".picture img")
          .count()
          .catch(() => 0); // a frame of before may be gone
      frame = await until(async () => {
        for (const f of p.frames()) if (await has(f)) return f;
        return undefined;
      }, "the picture is back");
      assert.equal(await frame.locator(".row .picture, .row .file").count(), 2);
    });
  }
});
