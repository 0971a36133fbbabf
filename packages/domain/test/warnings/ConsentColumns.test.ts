import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Stream } from "effect"
import { type ImportMapping, readContacts } from "../../src/index.ts"
import { consentOfHeading, makeConsentWarnings } from "../../src/internal.ts"

/** The statuses of a file, or what the reader says of a row, and the warnings about it. */
const readFile = Effect.fnUntraced(function* (file: string, mapping: ImportMapping = {}) {
  const warnings = makeConsentWarnings()
  const rows = yield* Stream.runCollect(readContacts(Stream.make(new TextEncoder().encode(file)), mapping))
  rows.forEach(warnings.add)
  const statuses = rows.map(({ contact }) =>
    Result.match(contact, { onFailure: (reason) => reason, onSuccess: ({ status }) => status })
  )
  return { statuses, warnings: warnings.all() }
})

/** Reads a file as the warnings about it propose. */
const heard = Effect.fnUntraced(function* (file: string) {
  const { warnings } = yield* readFile(file)
  const { statuses, warnings: left } = yield* readFile(file, {
    columns: Object.fromEntries(warnings.map(({ column = "" }) => [column, "Status"])),
    values: Object.fromEntries(warnings.map(({ column = "", words = {} }) => [column, words]))
  })
  assert.deepStrictEqual(left, [])
  return statuses
})

const column = (heading: string, ...texts: ReadonlyArray<string>) =>
  `Email,${heading}\n${texts.map((text, at) => `a${at}@example.com,"${text}"\n`).join("")}`

const left = "Unsubscribed"

describe("columns that say who wants mail", () => {
  // Headings of the exports of Shopify, Ghost, Klaviyo, Mailchimp, HubSpot, Brevo, Constant Contact and Salesforce, and of people.
  it.effect.each<readonly [heading: string, no: ReadonlyArray<string>, others: ReadonlyArray<string>]>([
    ["Accepts Email Marketing", ["no"], ["yes"]],
    ["subscribed_to_emails", ["false", "FALSE"], ["true"]],
    ["Email Marketing Consent", ["UNSUBSCRIBED", "NEVER_SUBSCRIBED"], ["SUBSCRIBED"]],
    ["UNSUB_TIME", ["2024-01-02 03:04:05"], ["0000-00-00 00:00:00"]],
    ["Unsubscribed from all email", ["true"], ["false"]],
    ["EMAIL_BLACKLISTED", ["1"], ["0"]],
    ["Confirmed Opt-Out Date", ["01/02/2024", "Jan 2, 2024 3:04 pm"], ["null"]],
    ["HasOptedOutOfEmail", ["1"], ["0"]],
    ["opt_in", ["0", "n"], ["1", "y"]],
    ["Do not e-mail", ["yes", "x"], ["no"]],
    ["unsubscribed_at", ["2024-01-02T03:04:05.000Z", "1704164645"], ["NULL"]],
    ["Werbung per E-Mail", ["nein"], ["ja"]],
    ["Abgemeldet am", ["31.01.2024"], ["-"]],
    ["Désabonné", ["oui"], ["non"]],
    ["Consentimiento", ["no"], ["sí"]],
    ["Iscritto alla newsletter", ["falso"], ["vero"]],
    ["Zgoda na marketing", ["nie"], ["tak"]],
    ["Dezabonat", ["da"], ["nu"]],
    ["Nieuwsbrief", ["nee"], ["ja"]],
    ["Согласие на рассылку", ["нет"], ["да"]],
    ["Відписаний", ["так"], ["ні"]],
    ["Marketing contact status", ["Non-marketing contact"], ["Marketing contact"]],
    ["Marketing status", ["unsubscribed", "no_consent", "never subscribed"], ["subscribed"]],
    ["Email permission status", ["no permission set", "Opted-out"], ["implicit", "explicit"]],
    ["Newsletter", ["abgemeldet", "désinscrit", "не подписан", "Kein Newsletter"], ["angemeldet", "abonnée"]],
    ["Do not allow Bulk Emails", ["Yes"], ["No"]],
    ["donotbulkemail", ["1"], ["0"]],
    ["No promotional emails", ["TRUE"], ["FALSE"]],
    ["Don't email", ["x"], ["no"]],
    ["email_disabled", ["true"], ["false"]],
    ["Subscription cancelled", ["2024-01-02"], ["null"]],
    ["Exclude from mailings", ["yes"], ["no"]],
    ["No desea recibir publicidad", ["sí"], ["no"]],
    ["Ne souhaite pas recevoir", ["oui"], ["non"]],
    ["Deaktiviert", ["31.01.2024 10:00"], ["-"]],
    ["Accepte de recevoir des e-mails", ["non"], ["oui"]],
    ["Acepta recibir correos", ["no"], ["sí"]],
    ["Darf per E-Mail kontaktiert werden", ["nein"], ["ja"]],
    ["Mag gemaild worden", ["nee"], ["ja"]],
    ["Aktiv", ["0"], ["1"]],
    ["newsletter", ["0.0", "No thanks", "Nein, danke"], ["1.0", "Yes please"]],
    ["May we contact you?", ["n"], ["y"]]
  ])("are heard: %s", ([heading, no, others]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* heard(column(heading, ...no, "", ...others)), [
        ...no.map(() => left),
        undefined,
        ...others.map(() => undefined)
      ])
    })
  )

  it("are none of another channel, and no times or sources of a consent that was given", () => {
    for (const heading of [
      [
        "Accepts SMS Marketing",
        "SMS_BLACKLISTED",
        "Phone consent",
        "Telefonwerbung",
        "Werbung per Post",
        "Do Not Call"
      ],
      ["OPTIN_TIME", "OPTIN_IP", "Confirmed Opt-In Date", "consent source", "city", "complimentary_plan", "option"],
      [
        "Contact owner",
        "Contact No.",
        "Last contacted",
        "Emails sent",
        "No",
        "Notes",
        "Nombre",
        "Cannes",
        "E-mail verified"
      ]
    ].flat()) {
      assert.isUndefined(consentOfHeading(heading), heading)
    }
    assert.strictEqual(consentOfHeading("SMS and email marketing"), "Wants")
  })

  it.effect("of a status are heard where their words say who left, which order status and state do not", () =>
    Effect.gen(function* () {
      const statuses = yield* heard(column("Email status", "Active", "Unsubscribed", "Hard bounce", "Temporary hold"))
      assert.deepStrictEqual(statuses.slice(0, 3), [undefined, left, "Bounced"])
      assert.include(statuses[3], '"Temporary hold" is not')
      assert.deepStrictEqual(yield* heard(column("Estado", "suscrito", "dado de baja")), [undefined, left])
      for (const texts of [["shipped", "pending", "cancelled"], ["valid", "catch-all"], ["Jalisco"], ["yes", "no"]]) {
        assert.deepStrictEqual((yield* readFile(column("Order status", ...texts))).warnings, [])
      }
    })
  )

  it.effect("say who has not confirmed", () =>
    Effect.gen(function* () {
      const statuses = yield* heard(column("Email opt-in status", "opted-in", "Pending", "unconfirmed", "opted-out"))
      assert.deepStrictEqual(statuses, [undefined, "NotConfirmed", "NotConfirmed", left])
    })
  )

  it.effect("need answers in 95 of 100 cells, and are asked about until a mapping names them", () =>
    Effect.gen(function* () {
      const texts = (others: number) => Array.from({ length: 100 }, (_, at) => (at < others ? `text ${at}` : "no"))
      const codes = Effect.fnUntraced(function* (file: string, mapping?: ImportMapping) {
        return (yield* readFile(file, mapping)).warnings.map(({ code, count }) => [code, count])
      })
      assert.deepStrictEqual(yield* codes(column("newsletter", ...texts(5))), [["Consent", 95]])
      assert.deepStrictEqual(yield* codes(column("newsletter", ...texts(6))), [])
      assert.deepStrictEqual(yield* codes(column("newsletter", "", "null")), [])
      for (const field of ["newsletter", "letters", null]) {
        const columns = { newsletter: field }
        assert.deepStrictEqual(yield* codes(column("newsletter", "no"), { columns }), [])
      }
    })
  )

  it.effect("count by the strictest that a row says, and a word that is none of a status rejects the row", () =>
    Effect.gen(function* () {
      const file =
        "Email,Status,opt_in,do_not_mail,SMS consent\n" +
        "a@example.com,Bounced,yes,no,no\nb@example.com,Bounced,no,no,yes\nc@example.com,Active,yes,yes,yes\n" +
        "d@example.com,Abuse,no,yes,no\ne@example.com,Inactive,yes,no,no\nf@example.com,soft,no,no,no\n"
      const statuses = yield* heard(file)
      assert.deepStrictEqual(statuses.slice(0, -1), ["Bounced", left, left, "Abuse", "Inactive"])
      assert.include(statuses.at(-1), '"soft" is not')
      const { statuses: soft } = yield* readFile(file, { values: { Status: { soft: "" } } })
      assert.deepStrictEqual(soft.at(-1), undefined)
    })
  )
})
