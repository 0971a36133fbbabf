/** S75 Several callers make and rotate keys at once: who is told of a secret has one that works, and one always does. */
import { assert, describe } from "@effect/vitest"
import { type ApiKeyPayload, CredentialName, CredentialsService, FaultPlan, ServiceError } from "@roster/domain"
import { auditApiKeys, createWithRetry, rotateApiKey } from "@roster/workflows"
import { Cause, Context, DateTime, Effect, Exit, Layer, Redacted } from "effect"
import { layerMemory } from "../../src/layers/ServiceLayers.ts"
import { heldSecrets } from "../rotation/HeldSecrets.ts"
import { anyFault, valueOf, workload } from "./Workload.ts"

/** Follows which key has which secret, whatever becomes of the answers. */
class Secrets extends Context.Service<Secrets, ReturnType<typeof heldSecrets>>()("simulation/Secrets") {}

const ci = CredentialName.make("ci")

const payload: ApiKeyPayload = { name: ci, accessLevels: ["ViewContacts"] }

/** A store with a key whose secret somebody has, so that nobody is locked out. */
const layerWith = (first: ApiKeyPayload) => (faults: FaultPlan.FaultPlan) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const store = yield* CredentialsService
      const secrets = heldSecrets(store)
      const { name, token } = yield* store.apiKeys.create(first)
      secrets.adopt(name, token)
      return Context.make(Secrets, secrets).pipe(Context.add(CredentialsService, secrets.service))
    })
  ).pipe(Layer.provide(layerMemory), FaultPlan.layer(faults))

/** Whether somebody was interrupted who may have made a key. */
class Interrupted extends Context.Service<Interrupted, { isSo: boolean }>()("simulation/Interrupted") {}

const create = CredentialsService.use(({ apiKeys }) => createWithRetry(apiKeys, payload)).pipe(
  Effect.onInterrupt(() => Interrupted.use((one) => Effect.sync(() => void (one.isSo = true))))
)

/** Whether a caller knows that it may have done what it did not hear of. */
const isOpen = (exit: Exit.Exit<unknown, unknown>): boolean => {
  const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
  return error instanceof ServiceError && error.mayHaveHappened
}

const messageOf = (exit: Exit.Exit<unknown, unknown>): string =>
  Exit.isFailure(exit) ? String(Cause.squash(exit.cause)) : ""

const audit = Effect.gen(function* () {
  const { apiKeys } = yield* CredentialsService
  yield* Effect.yieldNow
  return auditApiKeys(yield* apiKeys.list(), { now: yield* DateTime.now })
})

/** The secrets that a rotation has delivered, also in runs that were stopped. */
class Delivered extends Context.Service<Delivered, Array<string>>()("simulation/Delivered") {}

/** A job that rotates, and is run again as cron does where another run may be at work. */
const rotate = Effect.gen(function* () {
  const secrets = yield* Secrets
  const delivered = yield* Delivered
  const deliver = ({ token }: { readonly token: Redacted.Redacted<string> }) =>
    Effect.sync(() => {
      secrets.hold(token)
      delivered.push(Redacted.value(token))
    })
  return yield* rotateApiKey(ci, { deliver, verify: () => Effect.sleep("1 second"), grace: "2 days" })
}).pipe(
  Effect.tapError((error) => (error._tag === "RotationRefused" ? Effect.sleep("16 minutes") : Effect.void)),
  Effect.retry({ while: ({ _tag }) => _tag === "RotationRefused", times: 3 })
)

describe("keys at once", () => {
  workload("of several who create one key with retries, one has it, with the secret that works", {
    layer: (faults) =>
      Layer.merge(
        layerWith({ name: CredentialName.make("keeper"), accessLevels: ["Security"] })(faults),
        Layer.sync(Interrupted, () => ({ isSo: false }))
      ),
    interruptions: true,
    marks: ["a name is free and not yet taken", "the answer to a creation is lost"],
    callers: { one: create, two: create, audits: audit },
    faults: { "apiKeys.create": anyFault, "apiKeys.get": anyFault },
    invariant: ({ audits, one, two }) =>
      Effect.gen(function* () {
        const secrets = yield* Secrets
        const { apiKeys } = yield* CredentialsService
        const made = (yield* apiKeys.list()).filter(({ name }) => name === ci)
        const told = [one, two].filter(Exit.isSuccess).map(({ value }) => Redacted.value(value.token))
        assert.isAtMost(told.length, made.length)
        for (const secret of told) assert.strictEqual(secret, secrets.secretOf(ci))
        // A key that nobody was told of is one whose maker knows that it may exist, and is not told that another has it.
        const isMaker = (exit: typeof one) => isOpen(exit) && !/Then: .*taken/.test(messageOf(exit))
        const { isSo: isUntold } = yield* Interrupted
        if (told.length < made.length) assert.isTrue(isUntold || [one, two].some(isMaker))
        assert.isTrue(valueOf(audits).every((finding) => ["keeper", "ci"].includes(finding.name)))
      })
  })

  workload("of two rotations of one key at once, all that they give out works, and the name has one of it", {
    layer: (faults) =>
      Layer.merge(
        layerWith(payload)(faults),
        Layer.sync(Delivered, () => [])
      ),
    interruptions: true,
    marks: [
      "a name is free and not yet taken",
      "a rotation finishes what another one began",
      "a secret is delivered and the old one not yet replaced",
      "a successor is made and not yet delivered",
      "a successor of a stopped rotation is not yet put away",
      "an old credential is replaced and its name is free",
      "the answer to a creation is lost"
    ],
    callers: { one: rotate, two: rotate },
    faults: { "apiKeys.create": anyFault, "apiKeys.update": anyFault, "apiKeys.delete": anyFault },
    invariant: ({ one, two }) =>
      Effect.gen(function* () {
        const secrets = yield* Secrets
        const delivered = yield* Delivered
        const { apiKeys } = yield* CredentialsService
        // Nothing that was given out is gone before its time.
        for (const secret of delivered) assert.isTrue(secrets.isLive(secret), secret)
        const keys = (yield* apiKeys.list()).map(({ name }) => name)
        assert.isTrue(keys.some((name) => secrets.isHeld(name)))
        if (keys.includes(ci)) assert.isTrue(secrets.isHeld(ci))
        if ([one, two].every(Exit.isSuccess)) assert.strictEqual(secrets.secretOf(ci), delivered.at(-1))
      })
  })
})
