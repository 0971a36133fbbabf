/** A file to import with everything in it that makes rows count differently, and what has to come of it. */
import { assert } from "@effect/vitest"
import { Schema } from "effect"
import type { SeenContact, SeenJob } from "./StoreLook.ts"

const isBad = (row: number): boolean => row % 97 === 13
/** A row of two lines. */
const isTall = (row: number): boolean => row % 50 === 7
/** A row of the address of an earlier one, in another spelling, near it or far from it. */
const isRepeat = (row: number): boolean => row % 11 === 4 && row > 100
const repeated = (row: number): number => {
  const near = row % 2 === 0 ? row - 3 : Math.floor(row / 3)
  return isBad(near) || isRepeat(near) ? repeated(row - 11) : near
}

/** What has to come of a row and those that repeat it: the last one wins, and an empty cell says nothing. */
interface Expected {
  readonly email: string
  readonly first_name: string
  readonly last_name: string
  readonly note: string
  readonly isRepeated: boolean
}

/**
 * The file, and what has to come of it. A transaction of an import ends after 4 MiB of its file, and so with long notes
 * (in characters) few rows are many transactions.
 */
export const importFile = (count: number, noteLength = 0) => {
  let text = "Email,FirstName,LastName,note\r\n"
  let line = 2
  let duplicates = 0
  const good = new Map<number, Expected>()
  const bad: Array<number> = []
  for (let row = 0; row < count; row++) {
    const note = (isTall(row) ? `one\nof ${row}` : `of ${row}`).padEnd(noteLength, ".")
    const cell = isTall(row) ? `"${note}"` : note
    if (isBad(row)) {
      text += `nobody${row},First ${row},Lästname ${row},${cell}\r\n`
      bad.push(line)
    } else if (isRepeat(row)) {
      const earlier = repeated(row)
      const before = good.get(earlier)
      if (before === undefined) throw new Error(`row ${row} repeats no row`)
      text += `P${earlier}@Example.com,,Last ${row},${cell}\r\n`
      good.set(earlier, { ...before, last_name: `Last ${row}`, note, isRepeated: true })
      duplicates++
    } else {
      const email = `p${row}@example.com`
      text += `${email},First ${row},Lästname ${row},${cell}\r\n`
      good.set(row, { email, first_name: `First ${row}`, last_name: `Lästname ${row}`, note, isRepeated: false })
    }
    line += isTall(row) ? 2 : 1
  }
  return { text, good: [...good.values()], bad, duplicates }
}

export type ImportedFile = ReturnType<typeof importFile>

/** The row of a rejected row. */
export const SeenRejection = Schema.Struct({ line: Schema.Int, reason: Schema.String })

/** Fails the test unless the only import of a store was exactly this file. */
export const assertImported = (
  { bad, duplicates, good }: ImportedFile,
  found: {
    readonly jobs: ReadonlyArray<SeenJob>
    readonly contacts: ReadonlyArray<SeenContact>
    readonly rejections: ReadonlyArray<typeof SeenRejection.Type>
    /** The number of the parts that files are stored in. */
    readonly parts: number
  }
): void => {
  const [job, ...others] = found.jobs
  assert.isDefined(job)
  assert.deepStrictEqual(others, [])
  const accepted = good.length + duplicates
  assert.deepStrictEqual(
    [job?.state, job?.rows_done, job?.accepted, job?.rejected, job?.duplicates, job?.problem],
    ["Ready", accepted + bad.length, accepted, bad.length, duplicates, null]
  )
  const { contacts, parts, rejections } = found
  assert.strictEqual(contacts.length, good.length)
  let lastId = 0
  for (const [index, { email, first_name, isRepeated, last_name, note }] of good.entries()) {
    const contact = contacts[index]
    // In the order of the file, and written a second time only where the file has it twice.
    const isExpected =
      contact !== undefined &&
      contact.id > lastId &&
      (contact.date_updated === null) === !isRepeated &&
      contact.email === email &&
      contact.status === "Active" &&
      contact.first_name === first_name &&
      contact.last_name === last_name &&
      contact.custom_fields === JSON.stringify({ note }) &&
      contact.source === "FileUpload"
    if (!isExpected) assert.fail(`row ${index} after id ${lastId}: ${JSON.stringify([contact, good[index]])}`)
    lastId = contact.id
  }
  assert.deepStrictEqual(
    rejections.map(({ line }) => line),
    bad
  )
  assert.isTrue(rejections.every(({ reason }) => /e-mail|address/i.test(reason)))
  assert.strictEqual(parts, 0)
}
