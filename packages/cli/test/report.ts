/** The report of a command on standard output, whose shape, counts and exit code hold however the command ends. */
import { assert } from "@effect/vitest"
import { Schema } from "effect"
import { RunSummary } from "../src/commands/contacts/runs/RunSummary.ts"
import { type Ended, json } from "./roster.ts"

const decode = Schema.decodeUnknownSync(RunSummary, { onExcessProperty: "error" })

export const reportOf = (ended: Ended): typeof RunSummary.Type => {
  const report = decode(json(ended))
  const { alreadySo, changed, deleted, done, unknownWhetherNew } = report
  const { duplicates, leftOut, notSent, outdated, read, rejected, unknown } = report
  assert.strictEqual(read, done + leftOut + outdated + rejected + duplicates + notSent + unknown, ended.stdout)
  assert.strictEqual(done, report.new + changed + deleted + alreadySo + unknownWhetherNew, ended.stdout)
  assert.strictEqual(report.exitCode, ended.code, ended.stdout)
  assert.isAtMost(Date.parse(report.began), Date.parse(report.ended))
  return report
}
