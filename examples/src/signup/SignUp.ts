/** People sign up for a newsletter by a form, and confirm it by a link that they get by mail. */
import { ContactsService, EmailsService } from "@roster/domain"
import { Context, type DateTime, Effect } from "effect"

/** What a person sent. */
export interface Form {
  /** Made when the form is shown, so that a double click sends the same one twice: at most 200 visible ASCII characters. */
  readonly id: string
  readonly email: string
  readonly firstName: string
  /** From where and when it came, which is what the consent says later. */
  readonly ip: string
  readonly at: DateTime.Utc
}

/** The links, which the application keeps or signs. Of one form it is always the same, and it ends after a day. */
export class Links extends Context.Service<
  Links,
  {
    readonly make: (form: Form) => Effect.Effect<string>
    /** The form of a link that is still valid. */
    readonly read: (link: string) => Effect.Effect<Form | undefined>
  }
>()("@roster/examples/Links") {}

/** Takes a form. Everybody is told the same, so that nobody learns whose addresses are known. */
export const signUp = Effect.fn("signUp")(
  function* (form: Form) {
    const contacts = yield* ContactsService
    const emails = yield* EmailsService
    const { email, id } = form
    // Only a new contact becomes NotConfirmed: whoever gets mail goes on getting it, and whoever left stays so.
    yield* contacts.add([{ email, status: "NotConfirmed" }], { only: "new", idempotencyKey: `form-${id}` })
    const link = yield* (yield* Links).make(form)
    yield* emails.send(
      {
        recipients: [{ email }],
        content: {
          from: "Newsletter <news@example.com>",
          subject: "Please confirm",
          body: [{ contentType: "PlainText", content: `To get the newsletter, open ${link}` }]
        }
      },
      { idempotencyKey: `mail-${id}` }
    )
    return "Please look into your mail."
  },
  // They went back and corrected their address.
  Effect.catchTag("IdempotencyKeyReused", () =>
    Effect.succeed("This form was sent with another address before. Please load the page anew, and send it again.")
  )
)

/** Takes the click on a link. The name, the consent and the list are written now, by the person who has the address. */
export const confirm = Effect.fn("confirm")(function* (link: string) {
  const form = yield* (yield* Links).read(link)
  if (form === undefined) return "This link is not valid any more."
  const { at, email, firstName, id, ip } = form
  const contacts = yield* ContactsService
  yield* contacts.add([{ email, firstName, status: "Active", consent: { ip, date: at, tracking: "Unknown" } }], {
    listNames: ["newsletter"],
    // Who left may come back by the click of their own. A complaint stays.
    resubscribe: ["NotConfirmed", "Unsubscribed"],
    idempotencyKey: `click-${id}`
  })
  return "Welcome."
})
