import { assert, describe, it } from "@effect/vitest"
import { readContacts } from "@roster/domain"
import { Effect, Schema, Stream } from "effect"
import { readRow } from "../../../src/jobs/imports/ImportJob.ts"

const Header = Schema.Literals([
  "FirstName,LastName,city",
  "a\0b,FirstName,c",
  '"a\0b",LastName,"c"',
  "Source,b,1",
  "b,B,"
])
const Cell = Schema.Array(Schema.Literals(["a", "é", "😀", " ", "\0", "\u0001", "\u007f", "\\", "'", '"', "\ufeff"]))
const Line = Schema.Tuple([Schema.Literals(["ann@example.com", "ann", "ann@xn--bcher-kva.example"]), Cell, Cell, Cell])

describe("readRow", () => {
  it.effect.prop(
    "gives the same for a row on the fast path as by its cells",
    [Header, Schema.Array(Line)],
    ([header, lines]) =>
      Effect.gen(function* () {
        const rows = lines.map(([email, ...cells]) => [email, ...cells.map((cell) => cell.join(""))].join(","))
        const file = new TextEncoder().encode([`Email,${header}`, ...rows].join("\n"))
        for (const row of yield* Stream.runCollect(readContacts(Stream.make(file)))) {
          const { cells, contact, header, line } = row
          assert.deepStrictEqual(readRow(row), readRow({ cells, contact, header, line }))
        }
      })
  )
})
