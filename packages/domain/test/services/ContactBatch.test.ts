import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { makeBatchWriter } from "../../src/services/ContactBatch.ts"
import { readContacts } from "../../src/csv/ContactCsv.ts"

describe("a batch of contacts", () => {
  it.effect("has their custom fields by the names that they have", () =>
    Effect.gen(function* () {
      // JSON.parse takes the second for the first.
      for (const name of ["5\\", '5"']) {
        const file = new TextEncoder().encode(`Email,x,"${name.replaceAll('"', '""')}"\nann@example.com,1,2\n`)
        const writer = makeBatchWriter(10)
        yield* Stream.runForEach(readContacts(Stream.make(file)), (row) => Effect.sync(() => writer.add(row)))
        assert.deepStrictEqual(
          writer.take().contacts.map(({ customFields }) => customFields),
          [{ x: "1", [name]: "2" }]
        )
      }
    })
  )
})
