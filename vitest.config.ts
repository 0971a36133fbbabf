import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

export default defineConfig({
  oxc: { tsconfig: false },
  test: {
    include: ["packages/*/test/**/*.test.ts", "examples/{test,strict}/**/*.test.ts", "scripts/test/**/*.test.ts"],
    // Commands have a home of their own in tests, in which nothing is compiled yet.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL("node_modules/.cache/compiled", import.meta.url)) },
    globalSetup: "./scripts/bundle.ts",
    reporters: ["default", "./scripts/PlainSummary.ts"],
    // Real sockets and killed processes meet a busy machine: a stall of it is not a failure of ours.
    retry: process.env["CI"] === undefined ? 0 : 2,
    // Most tests wait for processes and sockets: with one worker less than there are cores a machine of two stands idle.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000
  }
})
