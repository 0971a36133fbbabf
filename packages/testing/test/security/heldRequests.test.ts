import { NodeServices } from "@effect/platform-node"
import { describe } from "@effect/vitest"
import { Effect, FileSystem, Path } from "effect"
import { givenBackCases } from "./GivenBack.ts"
import { heldRequestCases } from "./HeldRequests.ts"

const store = Effect.gen(function* () {
  const { makeTempDirectoryScoped } = yield* FileSystem.FileSystem
  const folder = yield* makeTempDirectoryScoped({ prefix: "roster-held-" })
  const filename = (yield* Path.Path).join(folder, "roster.db")
  // A busy machine takes longer.
  return { filename, allowedSenders: ["*@example.com"], ruleDeadline: "60 seconds" } as const
}).pipe(Effect.provide(NodeServices.layer))

describe("requests that are held open", () => {
  heldRequestCases(store)
  givenBackCases(store)
})
