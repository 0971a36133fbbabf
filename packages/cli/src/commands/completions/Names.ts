/** The names that completions offer, from files and local stores alone: a key press sends no request. */
import { ContactsService, CredentialsService } from "@roster/domain"
import { Duration, Effect, Stream } from "effect"
import { Command } from "effect/cli"
import { readConfig } from "../../settings/ConfigFile.ts"
import { globalFlags } from "../../settings/GlobalFlags.ts"
import { localProfile } from "../../settings/Profile.ts"
import * as EmbeddedStore from "../../target/EmbeddedStore.ts"
import * as RunLogLayer from "../../target/RunLogLayer.ts"
import * as TargetLayer from "../../target/TargetLayer.ts"
import { version } from "../../terminal/Version.ts"
import { contactRuns } from "../contacts/runs/RecordedRun.ts"
import type { Choice, Source } from "./Completing.ts"

/** How long names are looked for: whoever types waits. */
const patience = Duration.millis(250)

/** What a look at a local store gives, if the settings lead to one that exists. */
const inStore = <E, R>(look: Effect.Effect<ReadonlyArray<Choice>, E, R>) =>
  Effect.flatMap(EmbeddedStore.existingStore, (store) => (store === undefined ? Effect.succeed([]) : look))

const credentials = (kind: "apiKeys" | "smtp") =>
  CredentialsService.use((services) => Effect.map(services[kind].list(), named)).pipe(
    Effect.provide(TargetLayer.layer),
    inStore
  )

const named = (of: ReadonlyArray<{ readonly name: string }>): ReadonlyArray<Choice> =>
  of.map(({ name }) => ({ value: name }))

type Names<E, R> = Effect.Effect<ReadonlyArray<Choice>, E, R>

/** Each with what it needs; whatever fails, nothing is offered. */
const orNone = <E, R>(names: Names<E, R>): Names<never, R> => Effect.orElseSucceed(names, () => [])

const sources = {
  profiles: Effect.map(readConfig, ({ profiles }) => [
    ...Object.entries(profiles).map(([value, { baseUrl }]) => ({ value, description: baseUrl })),
    { value: localProfile, description: "the local store" }
  ]).pipe(orNone),
  rules: Effect.map(readConfig, ({ rules = {} }) =>
    Object.entries(rules).map(([name, rule]) => ({ value: `@${name}`, description: rule }))
  ).pipe(orNone),
  runs: contactRuns.pipe(
    Effect.map((runs) =>
      runs.map(({ header: { began, command, id } }) => ({ value: id, description: `${command}, ${began}` }))
    ),
    Effect.provide(RunLogLayer.layerOfAll),
    orNone
  ),
  lists: Effect.flatMap(EmbeddedStore.server, ({ ContactLists }) =>
    ContactLists.ContactLists.use(({ list }) => Effect.map(list, named))
  ).pipe(Effect.provide(EmbeddedStore.layerLists({ dryRun: false })), inStore, orNone),
  jobs: Effect.flatMap(EmbeddedStore.server, ({ Jobs }) =>
    Jobs.Jobs.use(({ list }) => Stream.runCollect(list({ limit: 100 })))
  ).pipe(
    Effect.map((jobs) => jobs.map(({ id, kind, state }) => ({ value: id, description: `${kind}, ${state}` }))),
    Effect.provide(EmbeddedStore.layerJobs()),
    inStore,
    orNone
  ),
  // To look at every contact takes too long.
  fields: ContactsService.use(({ list }) => list({ limit: 1000 })).pipe(
    Effect.map((contacts) => {
      const names = new Set(contacts.flatMap(({ customFields }) => Object.keys(customFields ?? {})))
      return Array.from(names, (value) => ({ value }))
    }),
    Effect.provide(TargetLayer.layer),
    inStore,
    orNone
  ),
  apikeys: orNone(credentials("apiKeys")),
  smtp: orNone(credentials("smtp"))
}

/** The names of a source, with the flags that say where it is; none where they cannot be had at once. */
export const namesOf = Effect.fnUntraced(
  function* (source: Source, target: ReadonlyArray<string>) {
    let found: ReadonlyArray<Choice> = []
    const look = Command.make("names", {}, () => Effect.map(sources[source], (names) => void (found = names))).pipe(
      Command.withGlobalFlags(globalFlags)
    )
    yield* Command.runWith(look, { version })(target)
    return found
  },
  Effect.timeout(patience),
  Effect.catchCause(() => Effect.succeed<ReadonlyArray<Choice>>([]))
)
