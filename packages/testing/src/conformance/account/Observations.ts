/** What a service does where the interface is silent, found out on contacts of a place. */
import { ContactFilter, type ContactPayload, ContactsService, EmailAddress, ServiceError } from "@roster/domain"
import { Duration, Effect, Schedule, Stream } from "effect"
import { file, utf8 } from "../jobs/Importing.ts"
import { exportedSoon } from "../jobs/Exporting.ts"
import { type Place, place } from "../cases/Place.ts"

/** A question that the interface leaves open, and the answer of a service. */
export interface Observation {
  readonly question: string
  readonly answer: string
}

/** How long an import is waited for. */
const importPatience = "30 seconds"

type Look = (
  contacts: ContactsService["Service"],
  at: Place
) => Effect.Effect<string, { readonly _tag: string; readonly message: string }, ContactsService>

const outcome = <A>(
  operation: Effect.Effect<A, { readonly _tag: string; readonly message: string }>,
  words: string | ((result: A) => string)
) =>
  Effect.match(operation, {
    onSuccess: (result) => (typeof words === "string" ? words : words(result)),
    onFailure: (error) =>
      `it is refused: ${error instanceof ServiceError ? error.reason._tag : error._tag} (${error.message})`
  })

const bare = (
  email: (local: string) => EmailAddress,
  ...locals: ReadonlyArray<string>
): ReadonlyArray<ContactPayload> => locals.map((local) => ({ email: email(local) }))

const localOf = ({ email }: { readonly email: string }) => email.split("@")[0] ?? ""

const looks: ReadonlyArray<readonly [question: string, look: Look]> = [
  [
    "Which status does a contact have that is added without one?",
    (contacts, { email }) =>
      Effect.map(contacts.add(bare(email, "a")), ([added]) => added?.status ?? "none in the answer")
  ],
  [
    "What happens when a contact is added that exists?",
    (contacts, { email }) =>
      Effect.gen(function* () {
        yield* contacts.add([{ email: email("a"), firstName: "Old", lastName: "Kept", customFields: { x: "1" } }])
        return yield* outcome(
          Effect.andThen(
            contacts.add([{ email: email("a"), firstName: "New", customFields: { y: "2" } }]),
            contacts.get(email("a"))
          ),
          ({ customFields, firstName, lastName }) =>
            [
              firstName === "New" ? "given fields are replaced" : "given fields stay",
              lastName === "Kept" ? "others stay" : "others are lost",
              customFields?.["x"] === "1" ? "custom fields are merged" : "custom fields that are not named are lost"
            ].join(", ")
        )
      })
  ],
  [
    "What becomes of a status when the contact is added again without one?",
    (contacts, { email }) =>
      Effect.gen(function* () {
        yield* contacts.add([{ email: email("a"), status: "Unsubscribed" }])
        yield* contacts.add(bare(email, "a"))
        const { status } = yield* contacts.get(email("a"))
        return status === "Unsubscribed" ? "it stays" : `Unsubscribed becomes ${status}`
      })
  ],
  [
    "What becomes of a custom field that the service has not seen before?",
    (contacts, { email }) =>
      Effect.gen(function* () {
        const name = `field${crypto.randomUUID().slice(0, 8)}`
        return yield* outcome(
          Effect.andThen(
            contacts.add([{ email: email("a"), customFields: { [name]: "x" } }]),
            contacts.get(email("a"))
          ),
          ({ customFields }) => (customFields?.[name] === "x" ? "it is created" : "it is dropped without a word")
        )
      })
  ],
  [
    "Are two spellings of an address one contact?",
    (contacts, { email }) =>
      Effect.gen(function* () {
        yield* contacts.add(bare(email, "Mixed"))
        return yield* outcome(contacts.get(EmailAddress.make(email("MIXED").toUpperCase())), (found) =>
          localOf(found) === "Mixed" ? "yes, and the first spelling is kept" : `yes, as ${localOf(found)}`
        )
      })
  ],
  [
    "In which order are contacts listed?",
    (contacts, { email, rule }) =>
      Effect.gen(function* () {
        for (const local of ["m", "a", "z"]) yield* contacts.add(bare(email, local))
        const order = (yield* contacts.list({ rule })).map(localOf).join("")
        const names: Readonly<Record<string, string>> = {
          maz: "in the order of adding",
          zam: "the newest first",
          amz: "by address",
          zma: "by address, backwards"
        }
        return names[order] ?? `in another one (${order.split("").join(", ")} of m, a, z)`
      })
  ],
  [
    "How many contacts does a list without a limit have?",
    (contacts, { email, rule }) =>
      Effect.gen(function* () {
        const locals = Array.from({ length: 120 }, (_, n) => `n${n}`)
        yield* contacts.add(bare(email, ...locals))
        const { length } = yield* contacts.list({ rule })
        return length === locals.length ? `at least ${length}` : String(length)
      })
  ],
  [
    "Do texts in a rule differ by their case?",
    (contacts, { email, where }) =>
      Effect.gen(function* () {
        yield* contacts.add([{ email: email("a"), firstName: "Ada" }])
        return yield* outcome(contacts.list({ rule: where("firstname = 'ADA'") }), ({ length }) =>
          length === 0 ? "yes" : "no"
        )
      })
  ],
  [
    "What happens when a contact is deleted that does not exist?",
    (contacts, { email }) => outcome(contacts.delete(email("nobody")), "nothing, without an error")
  ],
  [
    "What happens when addresses are deleted of which one does not exist?",
    (contacts, { email }) =>
      Effect.gen(function* () {
        yield* contacts.add(bare(email, "a"))
        const emails = [email("a"), email("nobody")] as const
        return yield* outcome(contacts.deleteMany(ContactFilter.ByEmails({ emails })), "the others are deleted")
      })
  ],
  [
    "How precise is the date at which a contact was added?",
    (contacts, { email }) =>
      Effect.map(contacts.add(bare(email, "a")), ([added]) => {
        const millis = added?.dateAdded?.epochMilliseconds
        return millis === undefined ? "it is not in the answer" : millis % 1000 === 0 ? "seconds" : "milliseconds"
      })
  ],
  [
    "How soon are the rows of an import there?",
    (contacts, { email, rule }) =>
      Effect.gen(function* () {
        yield* contacts.import(file(utf8(`Email\n${email("a")}\n`)))
        const [taken] = yield* Effect.timed(
          contacts
            .list({ rule })
            .pipe(
              Effect.repeat({ schedule: Schedule.spaced("100 millis"), until: ({ length }) => length > 0 }),
              Effect.timeout(importPatience)
            )
        )
        return `after ${Duration.toSeconds(taken).toFixed(1)} s`
      })
  ],
  [
    "Which columns has an exported file?",
    (contacts, { email, rule }) =>
      Effect.gen(function* () {
        yield* contacts.add(bare(email, "a"))
        const content = yield* exportedSoon({ filter: ContactFilter.ByRule({ rule }) })
        return new TextDecoder().decode(content).split(/\r?\n/, 1).join("")
      })
  ]
]

/** Asks a service all the questions, one after the other. A question that cannot be put is answered with the reason. */
export const observations: Stream.Stream<Observation, never, ContactsService> = Stream.fromIterable(looks).pipe(
  Stream.mapEffect(([question, look]) =>
    Effect.gen(function* () {
      const answer = yield* look(yield* ContactsService, place()).pipe(
        Effect.catch((error) => Effect.succeed(`unknown: ${error.message}`))
      )
      return { question, answer }
    })
  )
)
