/**
 * A small application: people sign up for a newsletter. It depends on the services, not on where they run: in
 * production it uses them over HTTP, in its unit test in memory.
 */
import { ContactsService, EmailsService, rule } from "@roster/domain"
import { Effect } from "effect"

const origin = "form"
const sender = "Newsletter <news@example.com>"

/**
 * Adds a subscriber to the list and sends a welcome mail. An existing subscriber is updated and gets no second mail.
 */
export const signUp = Effect.fn("signUp")(function* (email: string, firstName: string) {
  const contacts = yield* ContactsService
  const emails = yield* EmailsService

  const known = yield* contacts.get(email).pipe(
    Effect.as(true),
    Effect.catchTag("ContactNotFound", () => Effect.succeed(false))
  )
  yield* contacts.add([{ email, firstName, customFields: { signedUpBy: origin } }], { listNames: ["newsletter"] })
  if (known) return "updated" as const

  yield* emails.send({
    recipients: [{ email, fields: { name: firstName } }],
    content: {
      from: sender,
      subject: "Welcome",
      body: [{ contentType: "PlainText", content: `Hello ${firstName}, good to have you.` }]
    }
  })
  return "welcomed" as const
})

/** The number of subscribers who signed up through the form and can get mail. */
export const countActive = Effect.gen(function* () {
  const contacts = yield* ContactsService
  const signedUp = yield* rule`status = Active AND signedUpBy = ${origin}`
  const page = yield* contacts.list({ rule: signedUp, limit: 1000 })
  return page.length
})

/** The application: two people sign up, one of them twice. */
export const application = Effect.gen(function* () {
  const outcomes = [
    yield* signUp("ada@example.com", "Ada"),
    yield* signUp("lin@example.com", "Lin"),
    yield* signUp("ADA@example.com", "Ada L.")
  ]
  return { outcomes, active: yield* countActive }
})
