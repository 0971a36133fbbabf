import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"
import { useRunFolder } from "./scripts/RunFolder.ts"

useRunFolder()

const faults = "packages/testing/test/faults/**/*.test.ts"

export default defineConfig({
  oxc: { tsconfig: false, jsx: { runtime: "automatic", importSource: "preact" } },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: "libraries",
          include: [
            "packages/{domain,workflows,api,http-client,server,connect,studio}/test/**/*.test.ts",
            "examples/{test,strict}/**/*.test.ts",
            "scripts/test/**/*.test.ts"
          ]
        }
      },
      {
        extends: true,
        test: {
          name: "programs",
          include: ["packages/{cli,testing}/test/**/*.test.ts"],
          exclude: [faults],
          // These run the bundled command line, and share one PostgreSQL.
          globalSetup: ["./scripts/bundle.ts", "./packages/testing/test/postgres/SharedPostgres.ts"]
        }
      },
      // They look at every connection of their process, which all calls of `fetch` in it share.
      { extends: true, test: { name: "faults", include: [faults], isolate: true } }
    ],
    // Loading the sources anew for each file would take a third of the time of a run.
    isolate: false,
    // Commands have a home of their own in tests, in which nothing is compiled yet.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL("node_modules/.cache/compiled", import.meta.url)) },
    reporters: ["default", "./scripts/PlainSummary.ts", "./scripts/Reliability.ts"],
    // Most tests wait for processes and sockets: with one worker less than there are cores a machine of two stands idle.
    maxWorkers: 3,
    // A test waits for conditions: what ends at this time hangs, however busy the machine is.
    testTimeout: 180_000,
    hookTimeout: 180_000
  }
})
