/**
 * S52 Archives made to harm: refused before anything of them is decompressed where their list tells, and else as they are
 * read. Nothing of them is ever written to a disk under a name of theirs.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { seen } from "../durability/StoreLook.ts"
import { failedImport, Hostile, refusedImport, sendFile, settledImport } from "./Hostile.ts"
import { zipBytes } from "./ZipBytes.ts"

const csv = (name: string) => `Email,FirstName\r\n${name}@zip.example,Zoë\r\n`
const people = (content: string | Uint8Array = csv("never")) => ({ name: "people.csv", content })

/** Entries without contents, of 32 bytes each, before the one that the list has. */
const manyEntries = (count: number): Buffer => {
  const entry = zipBytes([{ name: "a/", content: "", stored: true }]).subarray(0, 32)
  const listed = zipBytes([people()])
  const before = Buffer.concat(Array.from({ length: count }, () => entry))
  return Buffer.concat([before, patched(listed, -6, listed.readUInt32LE(listed.length - 6) + before.length)])
}

layer(Hostile.layer(), { excludeTestServices: true, timeout: "60 seconds" })("S.4 hostile archives", (it) => {
  it.effect.each([
    ["two files", zipBytes([people(), { name: "b.csv", content: csv("never") }]), "more than one file"],
    ["no file", zipBytes([{ name: "folder/", content: "", stored: true }]), "no file"],
    ["nothing", zipBytes([]), "no file"],
    ["a name that climbs out", zipBytes([{ name: "../../x.csv", content: csv("never") }]), "leads out"],
    ["a name that climbs out by backslashes", zipBytes([{ name: "a\\..\\..\\x", content: csv("never") }]), "leads out"],
    ["an absolute name", zipBytes([{ name: "/etc/cron.d/x", content: csv("never") }]), "leads out"],
    ["a drive", zipBytes([{ name: "C:\\x.csv", content: csv("never") }]), "leads out"],
    ["a link", zipBytes([{ name: "x.csv", content: "/etc/passwd", mode: 0o120777, stored: true }]), "a link"],
    ["a password", zipBytes([{ ...people(), encrypted: true }]), "encrypted"],
    ["an archive in it", zipBytes([{ name: "x.zip", content: zipBytes([people()]) }]), "another archive"],
    [
      "an archive in it, stored",
      zipBytes([{ name: "x.zip", content: zipBytes([people()]), stored: true }]),
      "another archive"
    ],
    ["a gzip file in it", zipBytes([{ name: "x.csv", content: gzipSync(csv("never")) }]), "gzip"],
    ["a million entries in its list", zipBytes([people()], { listedEntries: 1_000_000, wideEnd: true }), "100 entries"],
    ["many entries in its list", zipBytes([people()], { listedEntries: 60_000 }), "100 entries"],
    ["a million entries that its list keeps quiet", manyEntries(1_000_000), "100 entries"],
    ["a bomb by its list", zipBytes([people(Buffer.alloc(20 * 1024 * 1024, "Email,"))]), "200 times"],
    [
      "4 GiB by its list",
      zipBytes([
        { ...people(), listedSize: 0xfffffffe },
        { name: "folder/", content: "", listedSize: 0xffff }
      ]),
      "4 GiB"
    ],
    ["a workbook", zipBytes([{ name: "[Content_Types].xml", content: "<Types/>" }, people()]), "workbook"],
    ["no list, cut off", zipBytes([people()]).subarray(0, -30), "breaks off"],
    ["half a file, cut off", zipBytes([people()]).subarray(0, 50), "breaks off"],
    ["nothing behind its first bytes", Buffer.from([0x50, 0x4b, 3, 4]), "breaks off"],
    ["a list outside of it", patched(zipBytes([people()]), -6, 0x7fffffff), "outside"],
    ["a list that is none", patched(zipBytes([people()]), -6, 0), "cannot be read"],
    ["a checksum that is wrong", patched(zipBytes([people()]), 14, 1), "CRC"],
    ["data that is none", patched(zipBytes([people()]), 40, 0xffffffff), "cannot be read"]
  ] as const)("S52 an archive with %s is refused at once", ([, bytes, reason]) =>
    Effect.gen(function* () {
      const text = yield* refusedImport(sendFile(bytes))
      assert.include(text, reason)
      assert.match(text, /archive|workbook|gzip/)
    })
  )

  it.effect("S52 a bomb whose list lies is stopped as it is decompressed, with little memory", () =>
    Effect.gen(function* () {
      // Rows that are good, so that nothing but the limit stops them.
      const head = Buffer.from(csv("bomb"))
      const row = Buffer.from(`bomb@zip.example,${"x".repeat(30_000)}\r\n`)
      const content = Buffer.concat([head, ...Array.from({ length: 3400 }, () => row)])
      const problem = yield* failedImport(sendFile(zipBytes([{ ...people(content), listedSize: 1000 }])))
      assert.include(problem, "200 times")
    })
  )

  it.effect("S52 a bomb in a folder or beside the file is stopped too", () =>
    Effect.gen(function* () {
      const zeros = Buffer.alloc(64 * 1024 * 1024)
      for (const name of ["folder/", "__MACOSX/x"]) {
        const bomb = zipBytes([{ name, content: zeros, listedSize: 0 }, people()])
        assert.include(yield* refusedImport(sendFile(bomb)), "200 times")
      }
    })
  )

  it.effect("S52 a second file that the list keeps quiet ends the import", () =>
    Effect.gen(function* () {
      const first = `${csv("listed")}${"listed@zip.example,Zoë\r\n".repeat(50_000)}`
      const bytes = zipBytes([people(first), { name: "b.csv", content: csv("unlisted") }], { listed: [0] })
      const settled = yield* settledImport(sendFile(bytes))
      assert.strictEqual(settled.job.state, "Error")
      assert.include(settled.job.problem, "more than one file")
      assert.notInclude(
        settled.contacts("zip.example").map(({ email }) => email),
        "unlisted@zip.example"
      )
    })
  )

  it.effect.each([
    ["deflated", (content: string) => zipBytes([people(content)])],
    ["stored", (content: string) => zipBytes([{ ...people(content), stored: true }])],
    ["with its sizes behind the data", (content: string) => zipBytes([{ ...people(content), descriptor: true }])],
    ["with sizes of ZIP64", (content: string) => zipBytes([{ ...people(content), wide: true }], { wideEnd: true })],
    [
      "with sizes of ZIP64 behind the data",
      (content: string) => zipBytes([{ ...people(content), wide: true, descriptor: true }])
    ],
    [
      "with its folder",
      (content: string) =>
        zipBytes([
          { name: "export/", content: "", stored: true },
          { name: "export/people.csv", content }
        ])
    ],
    [
      "as a Mac makes it",
      (content: string) =>
        zipBytes([
          people(content),
          { name: "__MACOSX/", content: "", stored: true },
          { name: "__MACOSX/._people.csv", content: "\0\u0005\u0016\u0007" },
          { name: ".DS_Store", content: "Bud1" }
        ])
    ],
    ["in UTF-16", (content: string) => zipBytes([people(Buffer.from(`\ufeff${content}`, "utf16le"))])]
  ] as const)("S52 a good archive is taken: %s", ([why, archive]) =>
    Effect.gen(function* () {
      const name = why.replaceAll(/\W/g, "-").toLowerCase()
      const { contacts, job } = yield* settledImport(sendFile(archive(csv(name))))
      assert.deepInclude(job, { state: "Ready", accepted: 1, rejected: 0 })
      assert.deepStrictEqual(
        contacts("zip.example").flatMap(({ email, first_name }) =>
          email === `${name}@zip.example` ? [first_name] : []
        ),
        ["Zoë"]
      )
    })
  )

  it.effect("S52 names of archives are written nowhere", () =>
    Effect.gen(function* () {
      const { place } = yield* Hostile
      // The folder of an upload is removed after its answer.
      yield* seen(
        () => readdirSync(place.temporary),
        (names) => names.length === 0
      )
      assert.deepStrictEqual(
        readdirSync(place.folder).filter((name) => !/^(?:roster\.db(?:-wal|-shm)?|key|tmp)$/.test(name)),
        []
      )
      assert.isFalse(existsSync(join(place.folder, "..", "x.csv")))
    })
  )
})

/** The bytes with four of them changed; a place below 0 counts from the end. */
function patched(bytes: Buffer, at: number, value: number): Buffer {
  const copy = Buffer.from(bytes)
  copy.writeUInt32LE(value, at < 0 ? copy.length + at : at)
  return copy
}
