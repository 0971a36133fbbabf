/**
 * A credentials service whose secrets are followed: which credential has which, and who was given it. Before and after
 * everything that is done to it there has to be one whose secret somebody has, and there a process may be stopped.
 */
import { assert } from "@effect/vitest"
import { type CredentialOperations, type CredentialsService, OutcomeUnknown, ServiceError } from "@roster/domain"
import { Effect, Redacted } from "effect"

/** How a run is stopped at a place: it dies, is interrupted, or is not told that a write was done. */
export interface Stop {
  readonly at: number
  readonly how: "Dies" | "IsInterrupted" | "LosesTheAnswer"
}

const lost = new ServiceError({
  operation: "test",
  reason: new OutcomeUnknown({ recovery: "Look.", detail: "the answer was lost" }),
  isKeyHonoured: true
})

interface Credential {
  readonly name: string
}

export const heldSecrets = (service: CredentialsService["Service"]) => {
  const live = new Map<string, string>()
  const held = new Set<string>()
  const log: Array<string> = []
  let places = 0
  let stop: Stop | undefined

  const place = (what: string) =>
    Effect.suspend(() => {
      log.push(what)
      const isSomebodys = [...live.values()].some((secret) => held.has(secret))
      assert.isTrue(isSomebodys, `there was no key that anybody could use: ${log.join(", ")}`)
      const isHere = places++ === stop?.at
      if (isHere && stop?.how === "Dies") return Effect.die("killed")
      return isHere && stop?.how === "IsInterrupted" ? Effect.interrupt : Effect.succeed(isHere)
    })

  /** Does something between two places where the run may stop. */
  const around = <A, E, R>(what: string, effect: Effect.Effect<A, E, R>) =>
    place(`before ${what}`).pipe(
      Effect.andThen(effect),
      Effect.tap(() => place(`after ${what}`))
    )

  const write = <A, E, R>(what: string, effect: Effect.Effect<A, E, R>, follow: (result: A) => void) =>
    place(`before ${what}`).pipe(
      Effect.andThen(effect),
      Effect.tap((result) => Effect.sync(() => follow(result))),
      Effect.tap(() =>
        place(`after ${what}`).pipe(Effect.flatMap((isHere) => (isHere ? Effect.fail(lost) : Effect.void)))
      )
    )

  const move = (from: string, to: string) => {
    const secret = live.get(from)
    live.delete(from)
    if (secret !== undefined) live.set(to, secret)
  }

  const follow = <
    C extends Credential,
    N extends C & { readonly token: Redacted.Redacted<string> },
    P extends Credential,
    K,
    U extends { readonly name?: string | undefined }
  >(
    operations: CredentialOperations<C, N, P, K, U>
  ): CredentialOperations<C, N, P, K, U> => ({
    list: (of) => around("list", operations.list(of)),
    get: (name, of) => around("get", operations.get(name, of)),
    create: (payload, options) =>
      write("create", operations.create(payload, options), ({ name, token }) => live.set(name, Redacted.value(token))),
    update: (name, payload) =>
      write("update", operations.update(name, payload), () => move(name, payload.name ?? name)),
    delete: (name, of) => write(`delete ${name}`, operations.delete(name, of), () => live.delete(name))
  })

  return {
    service: {
      ...service,
      apiKeys: follow(service.apiKeys),
      smtp: follow(service.smtp)
    } satisfies CredentialsService["Service"],
    around,
    log: log as ReadonlyArray<string>,
    /** A credential that was made without this. */
    adopt: (name: string, secret: Redacted.Redacted<string>) => {
      live.set(name, Redacted.value(secret))
      held.add(Redacted.value(secret))
    },
    /** Somebody has the secret from now on. */
    hold: (secret: Redacted.Redacted<string>) => {
      held.add(Redacted.value(secret))
    },
    /** Whether somebody has the secret that opens this credential now. */
    isHeld: (name: string) => held.has(live.get(name) ?? ""),
    secretOf: (name: string) => live.get(name),
    /** Whether a secret opens any credential now. */
    isLive: (secret: string) => [...live.values()].includes(secret),
    /** What follows is a new run, which is stopped there. */
    stopAt: (next: Stop | undefined) => {
      places = 0
      stop = next
      log.length = 0
    },
    /** How many places the run has come by. */
    places: () => places
  }
}
