/**
 * A small application: somebody signs up for the newsletter. It knows the services and nothing of where they are: in
 * production they are somewhere over HTTP, in its unit test they are in memory.
 */
import { ContactsService, EmailAddress, EmailsService, RuleText } from "@roster/domain"
import { Effect } from "effect"

const sender = "Newsletter <news@example.com>"

/**
 * Adds a subscriber to the list and welcomes them. Whoever is on it already is updated and welcomed no second time.
 */
export const signUp = Effect.fn("signUp")(function* (email: EmailAddress, firstName: string) {
  const contacts = yield* ContactsService
  const emails = yield* EmailsService

  const known = yield* contacts.get(email).pipe(
    Effect.as(true),
    Effect.catchTag("ContactNotFound", () => Effect.succeed(false))
  )
  yield* contacts.add([{ email, firstName, customFields: { signedUpBy: "form" } }], { listNames: ["newsletter"] })
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

/**
 * How many signed up through the form and can be written to.
 */
export const countActive = Effect.gen(function* () {
  const contacts = yield* ContactsService
  const rule = RuleText.make("status = Active AND signedUpBy = 'form'")
  const page = yield* contacts.list({ rule, limit: 1000 })
  return page.length
})

/**
 * The application as it runs: two people sign up, one of them twice.
 */
export const application = Effect.gen(function* () {
  const outcomes = [
    yield* signUp(EmailAddress.make("ada@example.com"), "Ada"),
    yield* signUp(EmailAddress.make("lin@example.com"), "Lin"),
    yield* signUp(EmailAddress.make("ADA@example.com"), "Ada L.")
  ]
  return { outcomes, active: yield* countActive }
})
