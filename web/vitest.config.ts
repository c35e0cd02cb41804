import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    dir: "src",
    css: { include: /(outcome|tokens)\.css/ },
    testTimeout: 30_000,
    setupFiles: ["src/panel/testing.ts"],
  },
});
