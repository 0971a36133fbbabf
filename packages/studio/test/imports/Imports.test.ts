/** The import view without a browser: a file is looked at, mapped, planned and applied on a store in memory. */
import { assert, describe, it } from "@effect/vitest"
import { ContactsService, FaultPlan } from "@roster/domain"
import { layerMemory } from "@roster/server"
import { RunLog } from "@roster/workflows"
import { csvToWorkbook } from "@roster/workflows/Workbook"
import { Context, Effect, Layer, Stream } from "effect"
import { AtomRegistry } from "effect/reactivity"
import { RpcTest } from "effect/rpc"
import * as Corrections from "../../src/imports/Corrections.ts"
import * as ImportFile from "../../src/imports/ImportFile.ts"
import * as ImportPlan from "../../src/imports/ImportPlan.ts"
import * as ImportApply from "../../src/imports/ImportApply.ts"
import * as Choices from "../../src/imports/ImportChoices.ts"
import { ImportCalls, type RowsFileRequest } from "../../src/imports/thread/ImportCalls.ts"
import { ImportThread } from "../../src/imports/thread/ImportThread.ts"
import { warningAdvice, warningText } from "../../src/imports/ImportWords.ts"
import * as ImportWork from "../../src/imports/thread/ImportWork.ts"
import { undoOf } from "../../src/session/Undo.tsx"
import { studioOn } from "../StudioStore.ts"
import { takenCommand } from "../TakenCommand.ts"

/** The atoms of the view, whose thread works in this one, on services of which a test can put others in place. */
const opened = Effect.gen(function* () {
  const memory = yield* Layer.build(Layer.fresh(layerMemory()))
  const contacts = Context.get(memory, ContactsService)
  let services = contacts
  const asked = Context.add(
    memory,
    ContactsService,
    ContactsService.of({
      ...contacts,
      change: (changes, options) => services.change(changes, options),
      getMany: (emails) => services.getMany(emails)
    })
  )
  const store = yield* studioOn(Layer.succeedContext(asked))
  const connect = () => Layer.merge(Layer.succeedContext(asked), RunLog.layerMemory())
  const thread = yield* Layer.build(
    Layer.effect(ImportThread, RpcTest.makeClient(ImportCalls)).pipe(Layer.provide(ImportWork.layer(connect)))
  )
  store.registry.set(ImportFile.threads, { layer: Layer.succeedContext(thread) })
  for (const atom of [
    ImportFile.sight,
    ImportPlan.plan,
    ImportApply.apply,
    ImportFile.columns,
    ImportFile.words,
    ImportFile.mapping
  ]) {
    yield* store.mount(atom)
  }
  const look = Effect.fnUntraced(function* (content: string | Uint8Array<ArrayBuffer>, name = "people.csv") {
    ImportApply.choose(store.registry, new File([content], name))
    return yield* store.result(ImportFile.sight)
  })
  const rowsFile = (request: RowsFileRequest) =>
    Effect.provideContext(ImportPlan.rowsFileOf(request), thread).pipe(
      Effect.flatMap((blob) => Effect.promise(() => blob.text()))
    )
  /** Puts other services in place from now on. */
  const connectTo = (other: ContactsService["Service"]): void => {
    services = other
  }
  const plan = Effect.map(
    Effect.suspend(() => store.run(ImportPlan.plan, undefined)),
    (made) => (made._tag === "Planned" ? made.planned : assert.fail("no plan"))
  )
  return { ...store, contacts, look, rowsFile, connectTo, plan }
})

/** Services whose changes go wrong by their number; what only reads does not. */
const faulty = Effect.fnUntraced(function* (
  contacts: ContactsService["Service"],
  faults: { readonly [call: string]: FaultPlan.Fault }
) {
  const context = yield* Layer.build(
    FaultPlan.layer({ "contacts.change": faults })(Layer.succeed(ContactsService, contacts))
  )
  const { change } = Context.get(context, ContactsService)
  const wrong: ContactsService["Service"] = {
    ...contacts,
    change: (changes, options) =>
      options?.dryRun === true ? contacts.change(changes, options) : change(changes, options)
  }
  return wrong
})

const german = "Kunde;E-Mail;Status;Stadt\n1;ada@example.com;subscribed;Köln\n2;bob@example.com;vielleicht;Bonn\n"

describe("the import view", () => {
  it.effect("proposes how a file is read and what its columns and words are", () =>
    Effect.gen(function* () {
      const { look, registry } = yield* opened
      const latin = new Uint8Array(Array.from(german, (character) => character.charCodeAt(0)))
      const sight = yield* look(latin)
      assert.deepStrictEqual(sight.reading, { encoding: "windows-1252" })
      assert.strictEqual(sight.header?.delimiter, ";")
      assert.deepStrictEqual(sight.rows[0], ["1", "ada@example.com", "subscribed", "Köln"])
      assert.deepStrictEqual(sight.columns[3]?.values, [
        { value: "Köln", count: 1 },
        { value: "Bonn", count: 1 }
      ])
      assert.deepStrictEqual(
        registry.get(ImportFile.columns).map(({ field, isCustom, key }) => [key, field, isCustom]),
        [
          ["Kunde", "Kunde", true],
          ["E-Mail", "Email", false],
          ["Status", "Status", false],
          ["Stadt", "Stadt", true]
        ]
      )
      assert.deepStrictEqual(
        registry.get(ImportFile.words)[0]?.words.map(({ means, value }) => [value, means]),
        [
          ["subscribed", "Active"],
          ["vielleicht", undefined]
        ]
      )
      assert.deepStrictEqual(registry.get(ImportFile.mail), { willReceive: 1, willNot: 0, unsaid: 0, unclear: 1 })
      assert.deepStrictEqual(registry.get(ImportFile.mapping), {
        encoding: "windows-1252",
        columns: { "E-Mail": "Email" },
        values: { Status: { subscribed: "Active" } }
      })
    })
  )

  it.effect("plans nothing until a column that says who wants mail becomes the status or a field", () =>
    Effect.gen(function* () {
      const { contacts, look, plan, registry, run } = yield* opened
      yield* look(
        "Email,Status,opt_in,left_on\nann@example.com,Active,no,\nbob@example.com,Active,yes,\n" +
          "eve@example.com,Bounced,yes,\n",
        "shop.csv"
      )
      const problem = () => Choices.choiceProblem(registry.get(ImportFile.columns))
      assert.include(problem(), '"opt_in" says who wants mail')
      const choose = (field: string) =>
        registry.set(ImportFile.edits, ImportFile.setColumn(registry.get(ImportFile.edits), "opt_in", field))
      choose("opt_in")
      assert.isUndefined(problem())
      // The command line would ask about it, so the mapping says it.
      assert.deepInclude(registry.get(ImportFile.mapping), { columns: { opt_in: "opt_in" } })
      choose("Status")
      assert.isUndefined(problem())
      assert.deepInclude(registry.get(ImportFile.mapping), {
        columns: { opt_in: "Status" },
        values: { opt_in: { no: "Unsubscribed", yes: "" } }
      })
      yield* run(ImportApply.apply, yield* plan)
      const statuses = yield* Effect.forEach(["ann", "bob", "eve"], (name) => contacts.get(`${name}@example.com`))
      assert.deepStrictEqual(
        statuses.map(({ status }) => status),
        ["Unsubscribed", "Active", "Bounced"]
      )
    })
  )

  it.effect("plans nothing until a person says whether a field is new that is nearly another one", () =>
    Effect.gen(function* () {
      const { look, registry } = yield* opened
      yield* look("Email,Frstname,Town\nann@example.com,Ann,Bonn\n")
      const problem = () => Choices.choiceProblem(registry.get(ImportFile.columns))
      const say = (change: (edits: Choices.Edits) => Choices.Edits) =>
        registry.set(ImportFile.edits, change(registry.get(ImportFile.edits)))
      assert.include(problem(), '"Frstname", and there is "First name"')
      say((edits) => ImportFile.setColumn(edits, "Frstname", "FirstName"))
      assert.isUndefined(problem())
      say((edits) => ImportFile.setColumn(edits, "Town", "Emial"))
      assert.include(problem(), '"Emial", and there is "E-mail"')
      say((edits) => ImportFile.addField(edits, "Emial"))
      assert.isUndefined(problem())
      const [importing] = registry.get(ImportPlan.commands)
      assert.deepInclude(importing?.values, { newField: true })
      // A saved mapping says by its own name that a column is kept.
      say(() => Choices.editsOf({ columns: { Frstname: "Frstname" } }))
      assert.isUndefined(problem())
    })
  )

  it.effect("gives all rows a value, and plans nothing while that cannot be", () =>
    Effect.gen(function* () {
      const { contacts, look, plan, registry, run } = yield* opened
      yield* look("Email,city\nann@example.com,Bonn\n")
      const give = (constants: Choices.Edits["constants"]) =>
        registry.set(ImportFile.edits, { ...registry.get(ImportFile.edits), constants })
      for (const [constants, problem] of [
        [{ plan: " " }, "Write what all rows get as plan"],
        [{ City: "Köln" }, "A column becomes City already"],
        [{ Status: "Everyone" }, "“Everyone” is no value for Status"]
      ] as const) {
        give(constants)
        assert.include(registry.get(ImportPlan.saidProblem), problem)
        assert.isFalse(registry.get(ImportPlan.isReady))
      }
      give({ plan: "gold", Status: "Unsubscribed" })
      assert.isUndefined(registry.get(ImportPlan.saidProblem))
      yield* run(ImportApply.apply, yield* plan)
      const { customFields, status } = yield* contacts.get("ann@example.com")
      assert.deepStrictEqual([customFields, status], [{ city: "Bonn", plan: "gold" }, "Unsubscribed"])
    })
  )

  it.effect(
    "offers what the texts of a column look like, and keeps what a saved mapping says of them and of all rows",
    () =>
      Effect.gen(function* () {
        const { contacts, look, plan, registry, run } = yield* opened
        yield* look("Email;seit;Umsatz\nann@example.com;25.07.2022;1.234,56 €\n")
        const kinds = registry.get(ImportFile.columns).map(({ kind, kinds }) => [kind, ...kinds])
        assert.deepStrictEqual(kinds, [[""], ["", "date:DD.MM.YYYY"], ["", "number:1.234,56"]])
        const others = registry.get(ImportFile.columns).map(({ otherKinds }) => otherKinds)
        assert.isEmpty(others[0])
        assert.isTrue(others[1]?.includes("number:1.234,56"))
        assert.isFalse(others[1]?.includes("date:DD.MM.YYYY"))
        const saved = { kinds: { seit: "date:DD.MM.YYYY" }, constants: { Status: "Unsubscribed" } }
        yield* run(ImportFile.loadMapping, JSON.stringify(saved))
        registry.set(ImportFile.edits, ImportFile.setKind(registry.get(ImportFile.edits), "Umsatz", "number:1.234,56"))
        assert.deepStrictEqual(registry.get(ImportFile.mapping), {
          ...saved,
          kinds: { seit: "date:DD.MM.YYYY", Umsatz: "number:1.234,56" }
        })
        yield* run(ImportApply.apply, yield* plan)
        assert.deepInclude(yield* contacts.get("ann@example.com"), {
          status: "Unsubscribed",
          customFields: { seit: "2022-07-25", Umsatz: "1234.56" }
        })
      })
  )

  it.effect("proposes the order of dates only where one of them tells it", () =>
    Effect.gen(function* () {
      const { look, registry } = yield* opened
      const proposed = Effect.fnUntraced(function* (...dates: ReadonlyArray<string>) {
        yield* look(["Email,since", ...dates.map((date, index) => `p${index}@example.com,${date}`)].join("\n"))
        return registry.get(ImportFile.columns)[1]?.kinds
      })
      assert.deepStrictEqual(yield* proposed("01/02/2024", "03/04/2024"), ["date:DD/MM/YYYY", "date:MM/DD/YYYY"])
      assert.deepStrictEqual(yield* proposed("01/02/2024", "25/12/2024"), ["date:DD/MM/YYYY"])
      assert.deepStrictEqual(yield* proposed("01/02/2024", "12/25/2024"), ["date:MM/DD/YYYY"])
      // The same day by both.
      assert.deepStrictEqual(yield* proposed("02/02/2024"), ["date:DD/MM/YYYY"])
      assert.deepStrictEqual(yield* proposed("soon", "01/02/2024"), [])
    })
  )

  it.effect("says which changes are only of the form of a value", () =>
    Effect.gen(function* () {
      const { contacts, look, plan, registry, result } = yield* opened
      const fields = { seit: "25.07.2022", Umsatz: "7" }
      yield* contacts.add([{ email: "ann@example.com", customFields: fields }])
      yield* look("Email;seit;Umsatz\nann@example.com;25.07.2022;8\n")
      registry.set(ImportFile.edits, ImportFile.setKind(registry.get(ImportFile.edits), "seit", "date:DD.MM.YYYY"))
      yield* plan
      registry.set(ImportPlan.shownKind, "changed")
      const [row] = yield* result(ImportPlan.rows)
      assert.deepStrictEqual(row?.onlyForm, ["seit"])
      assert.deepStrictEqual(row?.fields, [
        ["seit", "25.07.2022", "2022-07-25"],
        ["Umsatz", "7", "8"]
      ])
    })
  )

  it.effect("reads the sheet of a workbook, plans it, and says of which sheets there is none", () =>
    Effect.gen(function* () {
      const { contacts, look, plan, registry, result, run } = yield* opened
      const workbook = yield* csvToWorkbook(
        Stream.encodeText(Stream.make("Mail,Stadt\r\nada@example.com,Köln\r\n"))
      ).pipe(
        Stream.runCollect,
        Effect.map((parts) => new Uint8Array(Buffer.concat(parts)))
      )
      const sight = yield* look(workbook, "people.xlsx")
      assert.deepInclude(sight, { isWorkbook: true, reading: {}, read: 1, rows: [["ada@example.com", "Köln"]] })
      assert.deepStrictEqual(registry.get(ImportFile.mapping), { columns: { Mail: "Email" } })
      registry.set(ImportFile.reading, { sheet: "Members" })
      const missing = yield* Effect.flip(result(ImportFile.sight))
      assert.include(missing.message, 'no sheet "Members"')
      registry.set(ImportFile.reading, { sheet: "1" })
      yield* result(ImportFile.sight)
      yield* run(ImportApply.apply, yield* plan)
      assert.deepInclude(yield* contacts.get("ada@example.com"), { customFields: { Stadt: "Köln" } })
      assert.strictEqual(ImportFile.beside("people.xlsx", ".plan.json"), "people.plan.json")
    })
  )

  it.effect("plans, lists each kind of row, applies and undoes", () =>
    Effect.gen(function* () {
      const { contacts, look, plan, registry, rowsFile, result, run } = yield* opened
      yield* contacts.add([
        { email: "old@example.com", firstName: "Old" },
        { email: "same@example.com", firstName: "Same" },
        { email: "left@example.com", status: "Unsubscribed" }
      ])
      yield* look(
        "Email,FirstName,Status\nnew@example.com,New,\nold@example.com,Now,\nsame@example.com,Same,\n" +
          "left@example.com,,Active\nbad,Bad,\nnew@example.com,Newer,\n"
      )
      const planned = yield* plan
      const { summary } = planned
      assert.deepStrictEqual(
        [summary.new, summary.changed, summary.alreadySo, summary.rejected, summary.duplicates, planned.kept],
        [1, 1, 2, 1, 1, 1]
      )
      const listed: Array<unknown> = []
      for (const kind of ["new", "changed", "alreadySo", "rejected", "duplicates", "kept"] as const) {
        registry.set(ImportPlan.shownKind, kind)
        yield* Effect.sync(() => registry.mount(ImportPlan.rows))
        listed.push(
          (yield* result(ImportPlan.rows)).map(({ email, fields, keptStatus, line }) => [
            line,
            email,
            keptStatus ?? fields
          ])
        )
      }
      assert.deepStrictEqual(listed, [
        [[7, "new@example.com", [["FirstName", null, "Newer"]]]],
        [[3, "old@example.com", [["FirstName", "Old", "Now"]]]],
        [
          [4, "same@example.com", []],
          [5, "left@example.com", "Unsubscribed"]
        ],
        [[6, "bad", [["Email", null, "bad"]]]],
        [
          [
            2,
            "new@example.com",
            [
              ["Email", null, "new@example.com"],
              ["FirstName", null, "New"]
            ]
          ]
        ],
        [[5, "left@example.com", "Unsubscribed"]]
      ])
      assert.include(yield* rowsFile({ plan: planned.id, of: "rejected" }), "bad,Bad,,")
      const report = yield* run(ImportApply.apply, planned)
      assert.deepStrictEqual([report.new, report.changed, report.notSent, report.unknown], [1, 1, 0, 0])
      assert.strictEqual((yield* contacts.get("old@example.com")).firstName, "Now")
      yield* run(undoOf(report.run ?? ""), undefined)
      assert.strictEqual((yield* contacts.get("old@example.com")).firstName, "Old")
      assert.strictEqual((yield* contacts.count()).count, 3)
    })
  )

  it.effect("leaves out contacts as it is told, gives new ones their status, and reads cells as it is told", () =>
    Effect.gen(function* () {
      const { contacts, look, plan, registry, result, run } = yield* opened
      yield* contacts.add([{ email: "old@example.com", firstName: "Old", customFields: { Stadt: "Bonn" } }])
      const text = "Email,FirstName,Stadt\nnew@example.com, New ,Köln\nold@example.com,,\n"
      yield* look(text)
      registry.set(ImportFile.rowChoices, {
        ...Choices.usualRows,
        only: "new",
        defaultStatus: "NotConfirmed",
        isTrimmed: true
      })
      const { summary } = yield* plan
      assert.deepInclude(summary, { new: 1, changed: 0, leftOut: 1 })
      registry.set(ImportPlan.shownKind, "leftOut")
      yield* Effect.sync(() => registry.mount(ImportPlan.rows))
      assert.deepStrictEqual(
        (yield* result(ImportPlan.rows)).map(({ email, line }) => [line, email]),
        [[3, "old@example.com"]]
      )
      yield* run(ImportApply.apply, yield* plan)
      assert.deepInclude(yield* contacts.get("new@example.com"), { firstName: "New", status: "NotConfirmed" })
      // Another file begins anew.
      yield* look(text)
      assert.deepStrictEqual(registry.get(ImportFile.rowChoices), Choices.usualRows)
      yield* run(ImportFile.loadMapping, '{"empty":"clear","dateFormat":"DD.MM.YYYY"}')
      assert.deepInclude(registry.get(ImportFile.mapping), { empty: "clear", dateFormat: "DD.MM.YYYY" })
      registry.set(ImportFile.rowChoices, { ...registry.get(ImportFile.rowChoices), only: "existing" })
      assert.include(registry.get(ImportPlan.commands).map(takenCommand)[0], "--only existing")
      yield* run(ImportApply.apply, yield* plan)
      const old = yield* contacts.get("old@example.com")
      assert.deepStrictEqual([old.firstName ?? null, old.customFields ?? {}], [null, {}])
      assert.isString(Choices.rowProblem({ ...Choices.usualRows, dateFormat: "DD.MM." }))
    })
  )

  it.effect("imports of rows with one address the last, the first or none, and says what the others had", () =>
    Effect.gen(function* () {
      const { look, plan, registry, result, rowsFile } = yield* opened
      yield* look("Email,FirstName\na@example.com,One\nb@example.com,Bea\nA@example.com,Two\n")
      yield* Effect.sync(() => registry.mount(ImportPlan.rows))
      const taken = Effect.fnUntraced(function* (onDuplicate: "last" | "first" | "reject") {
        registry.set(ImportFile.rowChoices, { ...Choices.usualRows, onDuplicate })
        const { id, summary } = yield* plan
        const shown: Array<unknown> = [summary.new, summary.rejected, summary.duplicates]
        for (const kind of ["new", "duplicates", "rejected"] as const) {
          registry.set(ImportPlan.shownKind, kind)
          const rows = yield* result(ImportPlan.rows)
          shown.push(rows.map(({ line, reason = "" }) => `${line} ${reason}`.trim()))
        }
        return { id, shown, command: registry.get(ImportPlan.commands).map(takenCommand)[0] ?? "" }
      })
      const last = yield* taken("last")
      assert.deepStrictEqual(last.shown, [2, 0, 1, ["3", "4"], ["2 It is merged into line 4."], []])
      assert.include(yield* rowsFile({ plan: last.id, of: "duplicates" }), "2,4,a@example.com,One")
      assert.notInclude(last.command, "--on-duplicate")
      const first = yield* taken("first")
      assert.deepStrictEqual(first.shown, last.shown)
      const none = yield* taken("reject")
      assert.deepStrictEqual(none.shown.slice(0, 4), [1, 2, 0, ["3"]])
      assert.deepStrictEqual(none.shown.at(-1), [
        "2 Email: line 4 has the same address",
        "4 Email: line 2 has the same address"
      ])
      const rejected = yield* rowsFile({ plan: none.id, of: "rejected" })
      assert.include(rejected, "a@example.com,One,Email: line 4 has the same address")
      assert.include(none.command, "--on-duplicate reject")
    })
  )

  it.effect("shows among the rejected rows those whose contacts would be too large with what is stored", () =>
    Effect.gen(function* () {
      const { contacts, look, plan, registry, result, rowsFile } = yield* opened
      const half = "x".repeat(20_000)
      yield* contacts.add([{ email: "old@example.com", customFields: { note: half } }])
      yield* look(`Email,More\nold@example.com,${half}\nnew@example.com,short\n`)
      const { id, summary } = yield* plan
      assert.deepStrictEqual([summary.new, summary.changed, summary.rejected], [1, 0, 1])
      yield* Effect.sync(() => registry.mount(ImportPlan.rows))
      registry.set(ImportPlan.shownKind, "rejected")
      const [row] = yield* result(ImportPlan.rows)
      assert.strictEqual(row?.line, 2)
      assert.match(row?.reason ?? "", /^CustomFields: with what is stored/)
      assert.include(yield* rowsFile({ plan: id, of: "rejected" }), "with what is stored")
    })
  )

  it.effect("holds a plan for what was said alone, and ends one that is being made when something else is said", () =>
    Effect.gen(function* () {
      const { connectTo, contacts, look, plan, registry, until } = yield* opened
      yield* look("Email,FirstName\na@example.com,Ann\n")
      const first = yield* plan
      assert.strictEqual(registry.get(ImportPlan.planned)?.id, first.id)
      registry.set(ImportFile.lists, "news")
      assert.isUndefined(registry.get(ImportPlan.planned))
      ImportApply.forgetPlan(registry)
      // The service does not answer.
      connectTo({ ...contacts, getMany: () => Effect.never })
      ImportApply.makePlan(registry)
      yield* until(ImportPlan.plan, ({ _tag }) => (_tag === "Success" ? true : undefined))
      assert.isTrue(registry.get(ImportPlan.isPlanning))
      registry.set(ImportFile.resubscribe, true)
      assert.isFalse(registry.get(ImportPlan.isPlanning))
      yield* until(ImportPlan.plan, ({ waiting }) => (waiting ? undefined : true))
      assert.isUndefined(registry.get(ImportPlan.planned))
      connectTo(contacts)
      ImportApply.makePlan(registry)
      assert.deepInclude(yield* until(ImportPlan.planned, (planned) => planned?.summary), { new: 1 })
    })
  )

  it.effect("says what looks odd in the rows, and imports nothing then if it is told so", () =>
    Effect.gen(function* () {
      const { look, plan, registry } = yield* opened
      yield* look('Email,Stadt,Status\na@example.com," Köln",Active\nb@intranet,KÃ¶ln,Active\n')
      const { summary } = yield* plan
      const warnings = summary.warnings ?? []
      assert.deepStrictEqual(
        warnings.map(({ code, count, examples }) => [code, count, examples[0]?.line]),
        [
          ["Blanks", 1, 2],
          ["Domain", 1, 3],
          ["Decoding", 1, 3]
        ]
      )
      assert.deepStrictEqual(warnings.map(warningText), [
        "Column Stadt (1 row): blanks around the text are kept",
        "Column Email (1 row): the domain of the address has no dot",
        "Column Stadt (1 row): the text looks wrongly decoded"
      ])
      assert.include(warnings.map(warningAdvice)[0], "without the blanks")
      assert.isUndefined(registry.get(ImportPlan.refusal))
      registry.set(ImportFile.rowChoices, { ...Choices.usualRows, failsOnWarning: true })
      yield* plan
      assert.include(registry.get(ImportPlan.refusal), "looks odd")
      assert.include(registry.get(ImportPlan.commands).map(takenCommand)[0], "--fail-on-warning")
      // Another file has nothing odd.
      yield* look("Email,Status\na@example.com,Active\n")
      registry.set(ImportFile.rowChoices, { ...Choices.usualRows, failsOnWarning: true })
      yield* plan
      assert.isUndefined(registry.get(ImportPlan.refusal))
    })
  )

  it.effect("corrects rejected rows, each checked at once, and imports them in the same run at their place", () =>
    Effect.gen(function* () {
      const { contacts, look, mount, plan, registry, result, run, rowsFile } = yield* opened
      for (const atom of [ImportPlan.rows, ImportPlan.proposals, Corrections.found]) yield* mount(atom)
      yield* look(
        "Email,FirstName,Status\ntwo@@signs.example,Two,\nada@@example.com,Slip,\nada@example.com,Ada,\n" +
          "eve@example.com,Eve,maybe\nnobody,None,\n"
      )
      const first = yield* plan
      assert.deepStrictEqual([first.summary.new, first.summary.rejected], [1, 4])
      yield* result(ImportPlan.proposals)
      assert.deepStrictEqual(
        registry.get(Corrections.proposed).map((row) => [row.line, Corrections.differences(row, ["Email"])]),
        [
          [2, [["Email", "two@@signs.example", "two@signs.example"]]],
          [3, [["Email", "ada@@example.com", "ada@example.com"]]]
        ]
      )
      const cause = first.summary.causes?.find(({ code }) => code === "Word") ?? assert.fail("no cause")
      ImportPlan.showRows(registry, "rejected", { cause: cause.cause, column: cause.column })
      assert.strictEqual(registry.get(ImportPlan.shownTotal), 1)
      const [eve = assert.fail("no row"), ...others] = yield* result(ImportPlan.rows)
      assert.deepStrictEqual([eve.line, eve.proposal, others.length], [5, undefined, 0])

      Corrections.open(registry, eve)
      assert.include(registry.get(Corrections.found).problem, "Status")
      Corrections.keep(registry)
      assert.strictEqual(registry.get(ImportPlan.unplanned), 0)
      Corrections.write(registry, 2, "NotConfirmed")
      assert.deepStrictEqual(registry.get(Corrections.found), { email: "eve@example.com" })
      Corrections.keep(registry)
      Corrections.accept(registry, registry.get(Corrections.proposed))
      assert.strictEqual(registry.get(ImportPlan.unplanned), 3)
      assert.include(registry.get(ImportPlan.refusal), "Plan again")
      assert.deepStrictEqual(registry.get(ImportPlan.commands).map(takenCommand), [
        "roster contacts apply people.plan.json --skip-changed"
      ])

      const planned = yield* plan
      assert.deepStrictEqual([planned.summary.new, planned.summary.rejected, planned.summary.duplicates], [3, 1, 1])
      assert.isUndefined(registry.get(ImportPlan.refusal))
      registry.set(ImportPlan.shownKind, "duplicates")
      assert.deepStrictEqual(
        (yield* result(ImportPlan.rows)).map(({ line, reason }) => [line, reason]),
        [[3, "It is merged into line 4."]]
      )
      assert.notInclude(yield* rowsFile({ plan: planned.id, of: "rejected" }), "signs")
      const report = yield* run(ImportApply.apply, planned)
      assert.strictEqual((yield* contacts.get("ada@example.com")).firstName, "Ada")
      assert.strictEqual((yield* contacts.get("eve@example.com")).status, "NotConfirmed")
      yield* run(undoOf(report.run ?? ""), undefined)
      assert.strictEqual((yield* contacts.count()).count, 0)

      // What is taken back is rejected again, and another file has no corrections.
      Corrections.takeBack(registry, 2)
      assert.strictEqual((yield* plan).summary.rejected, 2)
      yield* look("Email,FirstName,Status\nnobody,None,\n")
      assert.strictEqual(registry.get(ImportPlan.corrections).size, 0)
    })
  )

  const people = (count: number) =>
    `Email\n${Array.from({ length: count }, (_, index) => `c${index}@example.com\n`).join("")}`

  const faults: ReadonlyArray<readonly [fault: FaultPlan.Fault, unknown: number]> = [
    [{ fault: "CutAfter" }, 1000],
    [{ fault: "RateLimited" }, 0],
    // The key ends.
    [{ fault: "Unauthorized" }, 0]
  ]

  it.live.each(faults)("counts what is unknown and not sent after %o, and goes on", ([fault, unknown]) =>
    Effect.gen(function* () {
      const { connectTo, contacts, look, plan, registry, run } = yield* opened
      yield* look(people(3000))
      const planned = yield* plan
      connectTo(yield* faulty(contacts, { 2: fault }))
      const stopped = yield* run(ImportApply.apply, planned)
      assert.strictEqual(stopped.done + stopped.notSent + stopped.unknown, 3000)
      assert.isAtLeast(stopped.notSent + stopped.unknown, 1000)
      assert.strictEqual(stopped.unknown, unknown)
      assert.isString(stopped.stoppedBy?.message)
      connectTo(contacts)
      const left = yield* run(ImportApply.apply, planned)
      assert.deepStrictEqual([left.done, left.notSent, left.unknown, left.run], [3000, 0, 0, stopped.run])
      assert.strictEqual((yield* contacts.count()).count, 3000)
      yield* run(undoOf(left.run ?? ""), undefined)
      assert.strictEqual((yield* contacts.count()).count, 0)
      assert.strictEqual(registry.get(ImportApply.applied), 3000)
    })
  )

  it.live("holds the apply before its next request, ends it, and goes on", () =>
    Effect.gen(function* () {
      const { connectTo, contacts, look, plan, registry, result, run } = yield* opened
      yield* look(people(6000))
      const planned = yield* plan
      let isFirst = true
      connectTo({
        ...contacts,
        change: (changes, options) =>
          Effect.suspend(() => {
            if (isFirst && options?.dryRun !== true) {
              isFirst = false
              ImportApply.pause(registry, true)
            }
            return contacts.change(changes, options)
          })
      })
      registry.set(ImportApply.apply, planned)
      yield* AtomRegistry.toStream(registry, ImportApply.applied).pipe(
        Stream.filter((done) => done > 0),
        Stream.take(1),
        Stream.runDrain
      )
      assert.isTrue(registry.get(ImportApply.isPaused))
      ImportApply.cancel(registry)
      const ended = yield* result(ImportApply.apply)
      assert.isAtLeast(ended.notSent, 2000)
      assert.deepStrictEqual([ended.new + ended.notSent, ended.unknown, ended.stoppedBy], [6000, 0, undefined])
      assert.strictEqual((yield* contacts.count()).count, ended.new)
      // Planned again, as after a reload, the rest goes on in the same run, which is undone whole.
      const rest = yield* plan
      assert.deepInclude(rest.summary, { new: ended.notSent, alreadySo: ended.new })
      const left = yield* run(ImportApply.apply, rest)
      assert.deepStrictEqual([left.new, left.notSent, left.run], [ended.notSent, 0, ended.run])
      assert.include(yield* run(undoOf(left.run ?? ""), undefined), { deleted: 6000 })
    })
  )

  it.live("says after a reload that an import was left, and recognises its file", () =>
    Effect.gen(function* () {
      const { connectTo, contacts, look, plan, registry, run } = yield* opened
      const kept = new Map<string, string>()
      registry.set(ImportApply.notes, {
        getItem: (key: string) => kept.get(key) ?? null,
        setItem: (key: string, value: string) => void kept.set(key, value),
        removeItem: (key: string) => void kept.delete(key)
      })
      yield* look(people(2))
      const planned = yield* plan
      connectTo(yield* faulty(contacts, { 1: { fault: "CutAfter" } }))
      const { run: id } = yield* run(ImportApply.apply, planned)
      const note = ImportApply.readNote(registry.get(ImportApply.notes), "memory")
      assert.deepStrictEqual(note, { target: "memory", digest: planned.digest, rows: 2 })
      assert.strictEqual(ImportApply.readNote(registry.get(ImportApply.notes), "another"), undefined)
      assert.notInclude([...kept.values()].join(""), "@")
      yield* run(undoOf(id ?? ""), undefined)
      ImportApply.forgetLeft(registry)
      assert.strictEqual(kept.size, 0)
    })
  )
})
