/**
 * S53 Forms that are none: refused with 400, and no temporary file stays. (`uploadCut` is about those that break off.)
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync } from "node:fs"
import { uploadsIn } from "../durability/KillableServe.ts"
import { jobsIn, seen } from "../durability/StoreLook.ts"
import { fieldPart, filePart, form, Hostile, part, refusedImport, sendImport, settledImport } from "./Hostile.ts"

const csv = "Email\r\nform@form.example\r\n"
const good = form(filePart(csv))
const disposition = (rest: string) => `Content-Disposition: form-data; ${rest}`

layer(Hostile.layer(), { excludeTestServices: true, timeout: "60 seconds" })("S.4 hostile forms", (it) => {
  it.effect.each([
    ["no boundary", good, { type: "multipart/form-data" }, "boundary"],
    ["an empty boundary", good, { type: "multipart/form-data; boundary=" }, ""],
    ["a boundary of 100 000 characters", good, { type: `multipart/form-data; boundary=${"b".repeat(10_000)}` }, ""],
    ["another boundary", good, { type: "multipart/form-data; boundary=other" }, ""],
    [
      "10 000 parts",
      form(...Array.from({ length: 10_000 }, (_, n) => fieldPart(`f${n}`, "")), filePart(csv)),
      {},
      "20 parts"
    ],
    ["a field of 1 MB", form(fieldPart("listName", "x".repeat(1_000_000)), filePart(csv)), {}, "64 KiB in a field"],
    [
      "a part header of 1 MB",
      form(part(`${disposition('name="file"; filename="x.csv"')}\r\nX-Long: ${"x".repeat(1_000_000)}`, csv)),
      {},
      "16 KiB"
    ],
    [
      "a part header of 1 MB without an end",
      Buffer.concat([part(disposition('name="file"'), ""), Buffer.alloc(1_000_000, "y")]),
      {},
      ""
    ],
    [
      "10 000 headers of a part",
      form(part(`${disposition('name="file"')}\r\n${"X: y\r\n".repeat(10_000)}X: y`, csv)),
      {},
      "headers of a part"
    ],
    ["a header that is none", form(part("no header at all", csv)), {}, "headers of a part"],
    ["a part without a name", form(part("Content-Disposition: form-data", csv)), {}, ""],
    ["two files", form(filePart(csv), filePart(csv)), {}, "more than one file"],
    ["a hundred files", form(...Array.from({ length: 100 }, () => filePart(csv))), {}, ""],
    [
      "list_name as a file",
      form(part(disposition('name="list_name"; filename="x"'), "x"), filePart(csv)),
      {},
      "list_name"
    ],
    [
      "listName as a file behind it",
      form(filePart(csv), part(disposition('name="listName"; filename="x"'), "x")),
      {},
      "listName"
    ],
    [
      "encodingName as bytes",
      form(
        part(`${disposition('name="encodingName"')}\r\nContent-Type: application/octet-stream`, "utf-8"),
        filePart(csv)
      ),
      {},
      "encodingName"
    ],
    ["no terminator", filePart(csv), {}, "before its end"],
    ["half a terminator", good.subarray(0, -4), {}, "before its end"],
    ["3 GiB, by its own word", good, { length: 3 * 1024 ** 3 }, "2 GiB"],
    ["bytes that are no form", Buffer.alloc(100_000, 0xff), {}, ""],
    [
      "a file and an address",
      form(filePart(csv), fieldPart("fileUrl", "https://files.example.com/")),
      {},
      "one or the other"
    ]
  ] as const)("S53 a form with %s is refused", ([, body, options, reason]) =>
    Effect.gen(function* () {
      assert.include(yield* refusedImport(sendImport(body, options)), reason)
    })
  )

  it.effect.each([
    ["../../x", 'filename="../../x"'],
    ["an absolute path", 'filename="/etc/cron.d/x"'],
    ["a drive", 'filename="C:\\\\Windows\\\\x.csv"'],
    ["a name of 10 000 characters", `filename="${"n".repeat(10_000)}"`],
    ["a NUL by percent", "filename*=UTF-8''x%00.csv"],
    ["a line break by percent", "filename*=UTF-8''x%0d%0aX-Evil%3a%201"],
    ["an empty name", 'filename=""'],
    ["a device of Windows", 'filename="CON"']
  ] as const)("S53 a file called %s is taken, and nothing is written under its name", ([why, name]) =>
    Effect.gen(function* () {
      const { place } = yield* Hostile
      const before = readdirSync(place.folder)
      const email = `${why.replaceAll(/\W/g, "-").replaceAll(/^-+/g, "")}@form.example`
      const body = form(part(disposition(`name="file"; ${name}`), `Email\r\n${email}\r\n`))
      const { contacts } = yield* settledImport(sendImport(body))
      assert.include(
        contacts("form.example").map((contact) => contact.email),
        email
      )
      yield* seen(
        () => readdirSync(place.temporary),
        (left) => left.length === 0
      )
      assert.deepStrictEqual(readdirSync(place.folder), before)
    })
  )

  it.effect.each([
    ["less than it says", good.subarray(0, -20)],
    ["nothing of what it says", ""]
  ] as const)("S53 a form with %s and then the end of its connection is refused", ([, body]) =>
    Effect.gen(function* () {
      const { place } = yield* Hostile
      const before = jobsIn(place).length
      // Below HTTP: the answer has no body, for there never was a whole request.
      assert.strictEqual((yield* sendImport(body, { length: good.length, end: true })).status, 400)
      yield* seen(
        () => uploadsIn(place),
        (uploads) => uploads.length === 0
      )
      assert.strictEqual(jobsIn(place).length, before)
    })
  )

  it.effect("S53 a file sent as a text is a file all the same", () =>
    Effect.gen(function* () {
      const body = form(part(disposition('name="file"'), "Email\r\ntext@form.example\r\n"))
      assert.deepInclude((yield* settledImport(sendImport(body))).job, { state: "Ready", accepted: 1 })
    })
  )

  it.effect("S53 uploads side by side have folders of their own, and none stays", () =>
    Effect.gen(function* () {
      const { place } = yield* Hostile
      const bodies = Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? filePart(csv) : good.subarray(0, -4)))
      const answers = yield* Effect.forEach(bodies, (body) => sendImport(body), { concurrency: "unbounded" })
      assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [400])
      yield* seen(
        () => uploadsIn(place),
        (uploads) => uploads.length === 0
      )
    })
  )
})
