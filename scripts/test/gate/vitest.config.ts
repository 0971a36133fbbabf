/** What `gate.test.ts` runs: the settings of the whole run, with files whose names say how they fail. */
import { defineConfig } from "vitest/config"
import config from "../../../vitest.config.ts"

const { projects: _, ...test } = { ...config.test }

export default defineConfig({
  ...config,
  test: {
    ...test,
    include: ["scripts/test/gate/*.fixture.ts"],
    globalSetup: ["./packages/testing/test/postgres/SharedPostgres.ts"]
  }
})
