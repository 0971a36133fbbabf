import { assert, describe, it, vi } from "@effect/vitest"
import { ContactsService, EmailAddress } from "@roster/domain"
import { Effect, ManagedRuntime } from "effect"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import * as SqlServices from "../../src/services/SqlServices.ts"

const program = (layer: string) => `
import { ContactsService } from "@roster/domain"
import { SqlServices } from "@roster/server"
import { Effect, ManagedRuntime } from "effect"
const runtime = ManagedRuntime.make(${layer})
const count = Effect.gen(function* () {
  const contacts = yield* ContactsService
  yield* contacts.add([{ email: "ann@example.com" }])
  yield* contacts.export({})
  return (yield* contacts.list({ rule: "email = 'ann@example.com'" })).length
})
console.log(await runtime.runPromise(count))
`

describe("a program that never closes its store", () => {
  it.live.each<readonly [string, (folder: string) => string]>([
    ["in memory", () => "SqlServices.layerMemory()"],
    ["on a file", (folder) => `SqlServices.layer({ filename: ${JSON.stringify(join(folder, "a.db"))} })`]
  ])("ends when it has nothing else to do: a store %s", ([, layer]) =>
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "roster-exit-"))),
        (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
      )
      const cwd = fileURLToPath(new URL("../..", import.meta.url))
      const args = ["--input-type=module", "-e", program(layer(folder))]
      const ended = yield* Effect.promise(() => promisify(execFile)(process.execPath, args, { cwd, timeout: 30_000 }))
      assert.strictEqual(ended.stdout, "1\n")
    }).pipe(Effect.scoped)
  )
})

describe("the fake timers of a test", () => {
  /** What a store does while timers are fake; a hang is told by the time, which is real. */
  const under = async (
    toFake: ReadonlyArray<"setImmediate" | "setTimeout" | "setInterval" | "Date" | "performance">
  ) => {
    vi.useFakeTimers({ toFake: [...toFake] })
    const runtime = ManagedRuntime.make(SqlServices.layerMemory())
    try {
      const work = Effect.gen(function* () {
        const contacts = yield* ContactsService
        yield* contacts.add([{ email: EmailAddress.make("ann@example.com") }])
        if (!toFake.includes("setImmediate")) yield* contacts.export({})
        return (yield* contacts.list()).length
      })
      return await Promise.race([runtime.runPromise(work), setTimeout(20_000, "hangs")])
    } finally {
      vi.useRealTimers()
      await runtime.dispose()
    }
  }

  it("do not hang the writes of a store, although Effect itself begins fibers by the global setImmediate", async () => {
    assert.strictEqual(await under(["setTimeout", "setInterval", "setImmediate", "Date", "performance"]), 1)
  })

  it("do not hang its jobs either, if they leave setImmediate to Effect", async () => {
    assert.strictEqual(await under(["setTimeout", "setInterval", "Date", "performance"]), 1)
  })
})
