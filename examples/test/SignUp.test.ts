/** The sign-up of docs/sign-up.md, with the services in memory. */
import { assert, describe, it } from "@effect/vitest"
import { AccountService, ContactsService, type ContactStatus } from "@roster/domain"
import { layerMemory } from "@roster/server"
import { DateTime, Effect, Layer } from "effect"
import { confirm, type Form, Links, signUp } from "../src/signup/SignUp.ts"

const links = Layer.sync(Links, () => {
  const forms = new Map<string, Form>()
  return {
    make: (form) => Effect.sync(() => (forms.set(`link of ${form.id}`, form), `link of ${form.id}`)),
    read: (link) => Effect.sync(() => forms.get(link))
  }
})

const services = Layer.fresh(Layer.merge(layerMemory({ allowedSenders: ["*@example.com"] }), links))

const email = "ada@example.com"
const at = DateTime.makeUnsafe("2026-01-02T03:04:05Z")
const form = (id: string): Form => ({ id, email, firstName: "Ada", ip: "192.0.2.1", at })

const mails = AccountService.use((account) => account.emails())

describe("the sign-up", () => {
  it.effect(
    "adds a person who gets mail once they confirmed, with their consent, and sends one mail at a double click",
    () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const told = yield* Effect.all([signUp(form("1")), signUp(form("1"))], { concurrency: 2 })
        assert.strictEqual(new Set(told).size, 1)
        assert.strictEqual((yield* mails).length, 1)
        const { firstName, status } = yield* contacts.get(email)
        assert.deepStrictEqual([status, firstName], ["NotConfirmed", undefined])
        assert.strictEqual(yield* confirm("link of 1"), "Welcome.")
        assert.strictEqual(yield* confirm("link of 1"), "Welcome.")
        const confirmed = yield* contacts.get(email, { lists: true })
        assert.deepInclude(confirmed, { status: "Active", firstName: "Ada", lists: ["newsletter"] })
        assert.deepInclude(confirmed.consent, { ip: "192.0.2.1", date: at })
        assert.strictEqual(yield* confirm("link of nobody"), "This link is not valid any more.")
      }).pipe(Effect.provide(services))
  )

  const after: ReadonlyArray<readonly [before: ContactStatus, signedUp: ContactStatus, confirmed: ContactStatus]> = [
    ["Active", "Active", "Active"],
    ["Engaged", "Engaged", "Active"],
    ["Unsubscribed", "Unsubscribed", "Active"],
    ["NotConfirmed", "NotConfirmed", "Active"],
    ["Bounced", "Bounced", "Bounced"],
    ["Abuse", "Abuse", "Abuse"]
  ]
  it.effect.each(after)(
    "of somebody who is %s leaves them %s, and %s after the click",
    ([before, signedUp, confirmed]) =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        yield* contacts.add([{ email, firstName: "Before", status: before }])
        yield* signUp(form("1"))
        const now = yield* contacts.get(email)
        assert.deepStrictEqual([now.status, now.firstName], [signedUp, "Before"])
        yield* confirm("link of 1")
        assert.strictEqual((yield* contacts.get(email)).status, confirmed)
      }).pipe(Effect.provide(services))
  )
})
