// Builds the pages of the panel and of the widgets, and what the documentation's pages load, into dist, with a brotli and a gzip form beside every file.
// `node build.mjs --dev` serves the panel with hot reload; requests for data go to a running Carillon (CARILLON, default
// http://127.0.0.1:8080).
import { readdir, readFile, rm, writeFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { fileURLToPath } from "node:url";
import { build, createServer } from "vite";
import react from "@vitejs/plugin-react";

const here = fileURLToPath(new URL(".", import.meta.url));
const dist = join(here, "dist");
const carillon = process.env.CARILLON ?? "http://127.0.0.1:8080";

const common = { configFile: false, logLevel: "warn", clearScreen: false };
const output = {
  emptyOutDir: false,
  target: "es2022",
  modulePreload: { polyfill: false },
  assetsInlineLimit: 0,
  reportCompressedSize: false,
};

const panel = {
  ...common,
  root: join(here, "src/panel"),
  base: "/panel/",
  plugins: [react()],
  html: { cspNonce: "CSP_NONCE" }, // the server puts the nonce of each response there
  build: {
    ...output,
    outDir: join(dist, "panel"),
    assetsDir: "assets",
    // everything that the first page needs in one file, instead of one for each module that pages share with it
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: "core", test: /src\/panel\/main\.tsx$/ }] } } },
  },
};
const widget = (name) => ({
  ...common,
  root: join(here, "src", name),
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: { ...output, outDir: join(dist, name), assetsDir: name + "-assets" },
});
const script = (entry, name, format = "iife") => ({
  ...common,
  root: here,
  build: {
    ...output,
    outDir: join(dist, "embed"),
    lib: { entry: join(here, "src/embed", entry), formats: [format], name: "carillon", fileName: () => name },
  },
});

/** The service worker of web push messages: one file whose name does not change. */
const worker = {
  ...common,
  root: here,
  build: {
    ...output,
    outDir: join(dist, "panel/push"),
    lib: { entry: join(here, "src/panel/push/worker.ts"), formats: ["iife"], name: "w", fileName: () => "worker.js" },
  },
};

const docs = {
  ...common,
  root: here,
  build: {
    ...output,
    outDir: join(dist, "docs"),
    lib: {
      entry: join(here, "src/docs/main.ts"),
      formats: ["iife"],
      name: "carillonDocs",
      fileName: () => "docs.js",
      cssFileName: "docs",
    },
  },
};

if (process.argv.includes("--dev")) {
  const addresses = {
    name: "addresses",
    transformIndexHtml: (html) => html.replace(/CARILLON_(BASE|WIDGETS)/g, carillon),
  }; // which a running Carillon puts there
  const server = await createServer({
    ...panel,
    plugins: [...panel.plugins, addresses],
    logLevel: "info",
    server: { proxy: { "/panel/v1": { target: carillon, ws: true }, "/functions/v1": carillon, "/docs": carillon } }, // the host stays the pages' own: requests are of the same origin
  });
  await server.listen();
  server.printUrls();
} else {
  await rm(dist, { recursive: true, force: true });
  await mkdir(dist);
  await writeFile(join(dist, ".gitkeep"), "");
  await build(panel);
  await build(worker);
  for (const name of ["chat", "voice"]) {
    await build(widget(name));
    await build(script(name + ".ts", name + ".js"));
  }
  await build(script("ears.ts", "ears.js", "es"));
  await build(docs);
  await compress(dist);
}

// compress writes x.br and x.gz beside every file x that gets smaller by it. Pages are filled in by the server, and stay as they are.
async function compress(folder) {
  for (const file of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const name = join(file.parentPath, file.name);
    if (!file.isFile() || !/\.(js|css|svg|json|map)$/.test(file.name)) continue;
    const data = await readFile(name);
    const br = brotliCompressSync(data, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
    const gz = gzipSync(data, { level: 9 });
    if (br.length < data.length) await writeFile(name + ".br", br);
    if (gz.length < data.length) await writeFile(name + ".gz", gz);
  }
}
