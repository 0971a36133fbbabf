import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { isFromDeadProcess, isOrphaned, makeLease, processMark } from "../../src/store/ProcessMark.ts"

const isLinux = process.platform === "linux"

describe("the mark of a process", () => {
  const pid = String(process.pid)
  const dead = String(spawnSync(process.execPath, ["--version"]).pid)

  it("tells the end of a process, and not of one that runs", () => {
    const name = `${processMark}name`
    const lease = Effect.runSync(makeLease)
    assert.isFalse(isFromDeadProcess(name))
    assert.isFalse(isOrphaned(lease))
    assert.isTrue(isFromDeadProcess(name.replace(`-${pid}`, `-${dead}`)))
    assert.isTrue(isOrphaned(lease.replace(` ${pid}`, ` ${dead}`)))
  })

  it.skipIf(!isLinux)("tells it of a process whose number another one has now (skipped where only Linux tells)", () => {
    const other = (text: string) => text.replace(/(?<=[- ]\d+\.)\d+/, "1")
    assert.isTrue(isFromDeadProcess(`${other(processMark)}name`))
    assert.isTrue(isOrphaned(other(Effect.runSync(makeLease))))
  })

  it("knows those of older versions, which have no start", () => {
    const older = (text: string) => text.replace(/(?<=[- ]\d+)\.\d+/, "")
    assert.isFalse(isFromDeadProcess(`${older(processMark)}name`))
    assert.isFalse(isOrphaned(older(Effect.runSync(makeLease))))
    assert.isTrue(isFromDeadProcess(`${older(processMark).replace(`-${pid}`, `-${dead}`)}name`))
  })

  it("tells nothing of other machines and of other names", () => {
    for (const name of [
      "",
      "x",
      `0${processMark.replace(`-${pid}`, `-${dead}`)}`,
      processMark.replace(`-${pid}`, "-0")
    ]) {
      assert.isFalse(isFromDeadProcess(name), name)
      assert.isFalse(isOrphaned(`x ${name} elsewhere`), name)
    }
  })
})
