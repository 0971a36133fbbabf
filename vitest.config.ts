import { defineConfig } from "vitest/config"

export default defineConfig({
  oxc: { tsconfig: false },
  test: {
    include: ["packages/*/test/**/*.test.ts", "examples/test/**/*.test.ts", "scripts/test/**/*.test.ts"],
    globalSetup: "./scripts/bundle.ts",
    reporters: ["default", "./scripts/PlainSummary.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000
  }
})
