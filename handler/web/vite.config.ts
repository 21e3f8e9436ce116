import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

export default defineConfig({
  base: "./", // the page works wherever it is mounted
  plugins: [react()],
  // Axios speaks XMLHttpRequest here; its second way to send, which a browser never takes, stays out of the bundle.
  resolve: { alias: [{ find: /^\.\/fetch\.js$/, replacement: fileURLToPath(new URL("src/no-fetch.ts", import.meta.url)) }] },
  build: {
    target: "es2022",
    assetsInlineLimit: 0, // the policy allows our own files, and nothing inline
    modulePreload: { polyfill: false },
    sourcemap: false,
    reportCompressedSize: true,
  },
  test: { environment: "jsdom", include: ["src/**/*.test.ts"] },
});
