/**
 * Who looks at what: the key that was typed, or that of `roster studio`, and the services that it opens. The key is held in
 * memory, and kept for reloads of this tab only if the person asks for it.
 */
import { AccountService, ContactsService, RunsService } from "@roster/domain"
import { FetchTransport, type InvalidSettings, RosterClient } from "@roster/http-client"
import { RunLog } from "@roster/workflows"
import { Effect, Layer, Redacted, Scheduler, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { Atom } from "effect/reactivity"
import { everything } from "./Changes.ts"
import { type Connection, connection, isBroken, keyHeader, layerLine, type Line, otherKey } from "./Connection.ts"
import { leavingWithPage } from "./LeavingRuns.ts"

/** What `roster studio` says of the service or store that it leads to. */
export const HostTarget = Schema.Struct({
  /** The name of the service or store. */
  name: Schema.String,
  /** Its address or absolute path, which records of runs name if it tells no id. */
  identity: Schema.String,
  /** Whether it is a store on this machine. */
  isStore: Schema.Boolean,
  /** The version of Roster. */
  version: Schema.String,
  /** What a command line needs to mean the same target. */
  flags: Schema.String,
  /** The protected profile of the service. */
  protectedBy: Schema.optionalKey(Schema.String)
})
export interface HostTarget extends Schema.Schema.Type<typeof HostTarget> {}

/** A person who has given a key. */
export interface Session {
  /** The address of the service, with `/v4`. */
  readonly baseUrl: string
  readonly key: Redacted.Redacted<string>
  /** What `roster studio` leads to; absent if a service serves this page itself. */
  readonly host?: HostTarget | undefined
}

/** What the page needs of the world: the services, and the log of runs. */
export type Services = RosterClient.Services | RunLog

/** The session; `undefined` before a person signs in. */
export const session = Atom.keepAlive(Atom.make<Session | undefined>(undefined))

/** The address of the service, or the path of the store, of a session. */
export const targetOf = ({ baseUrl, host }: Session): string => host?.identity ?? baseUrl

/** The calls to the process of `roster studio`, which serves this page. */
export const pageClient = Effect.promise(() => import("@roster/workflows/PageClient"))

/** Asks that process with the key of a session. */
export const layerCalls = ({ baseUrl, key }: Session) =>
  Layer.unwrap(
    Effect.map(pageClient, ({ layerCalls }) => layerCalls(`${baseUrl.replace(/v4$/, "")}studio/calls`))
  ).pipe(
    Layer.provide(
      Layer.effect(
        HttpClient.HttpClient,
        Effect.map(
          HttpClient.HttpClient,
          HttpClient.mapRequest(HttpClientRequest.setHeader(keyHeader, Redacted.value(key)))
        )
      )
    ),
    Layer.provide(FetchTransport.layer())
  )

/**
 * The log of runs, which a service of ours keeps. Those of any other one are kept by `roster studio`, as those of the command line, or in
 * memory, which ends with the page.
 */
const runsOf = (
  current: Session,
  key: () => Redacted.Redacted<string>
): Layer.Layer<RunLog, never, ContactsService | RunsService> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { storeId } = yield* ContactsService
      const on = { target: targetOf(current), storeId, runs: yield* RunsService }
      const log =
        current.host === undefined
          ? RunLog.layerMemory(on)
          : Layer.provide((yield* pageClient).layerRunLog(on), layerCalls(current))
      return Layer.effect(
        RunLog,
        Effect.map(RunLog, (log) => leavingWithPage(log, current.baseUrl, key))
      ).pipe(Layer.provide(log))
    })
  )

/** A slice of a long program, which then lets the page draw and answer: some milliseconds also while the machine is busy. */
const stepsBeforeOthers = 256

/** The services of a session. */
export const layerOf = (
  session: Session,
  line: Line = { tell: () => undefined, otherKey: () => undefined }
): Layer.Layer<Services, InvalidSettings> =>
  Layer.mergeAll(
    Layer.succeed(Scheduler.MaxOpsBeforeYield, stepsBeforeOthers),
    runsOf(session, () => line.otherKey() ?? session.key).pipe(
      Layer.provideMerge(RosterClient.layer({ baseUrl: session.baseUrl, apiKey: session.key })),
      Layer.provide(layerLine(line)),
      Layer.provide(FetchTransport.layer())
    )
  )

const noServices = Layer.effectContext(Effect.never)

/** The services of the session. A test puts others in their place. */
export const services = Atom.keepAlive(
  Atom.make((get): Layer.Layer<Services, InvalidSettings> => {
    const current = get(session)
    const { registry } = get
    const tell = (now: Connection): void => {
      if (now === "Away") registry.set(isBroken, true)
      registry.set(connection, now)
    }
    const line: Line = { tell, otherKey: () => registry.get(otherKey) }
    return current === undefined ? noServices : layerOf(current, line)
  })
)

/** Why a key opens nothing, in a sentence; `undefined` for one that the service takes. */
export const refusalOf = (session: Session): Effect.Effect<string | undefined> =>
  AccountService.use(({ key }) => key).pipe(
    Effect.as(undefined),
    Effect.provide(layerOf(session)),
    Effect.catch((error) =>
      Effect.succeed(error._tag === "ServiceError" && error.reason._tag === "Rejected" ? undefined : error.message)
    ),
    Effect.scoped
  )

/** Runs the programs of the page on the services of the session. */
export const runtime = Atom.runtime((get) => get(services))

/** Reads again whatever is shown. */
export const readAgain = runtime.fn(() => Effect.void, { reactivityKeys: everything })

/** Where a tab keeps the key, if the person asks for it. */
export const storageKey = "roster.key"

/** What the page learns from where it was opened. */
interface Opened {
  readonly location: Pick<Location, "origin" | "pathname" | "hash">
  readonly storage: Pick<Storage, "getItem">
  readonly fetch: typeof fetch
}

/** The folder of an address. */
const folderOf = ({ origin, pathname }: Pick<Location, "origin" | "pathname">): string =>
  origin + pathname.slice(0, pathname.lastIndexOf("/") + 1)

/** The address of the service that serves the page at an address. */
export const baseUrlAt = (location: Pick<Location, "origin" | "pathname">): string => `${folderOf(location)}v4`

const decodeTarget = Schema.decodeUnknownEffect(HostTarget)

/** Asks `roster studio` what it leads to. A service that serves the page itself has no such path. */
const hostTarget = Effect.fnUntraced(function* ({ fetch, location }: Opened, key: string) {
  const answer = yield* Effect.tryPromise(() =>
    fetch(`${folderOf(location)}studio/target`, { headers: { [keyHeader]: key }, credentials: "omit" })
  )
  return yield* decodeTarget(yield* Effect.tryPromise(() => answer.json()))
})

/** The key in the fragment of an address, where `roster studio` puts it. */
export const keyInFragment = (hash: string): string | undefined => /^#session=([\w-]+)$/.exec(hash)?.[1]

/** Whether `roster studio` serves this page, which answers nobody without its key. A service tells everybody that it lives. */
export const isHosted = Effect.map(
  Effect.tryPromise(() => fetch("health/live", { credentials: "omit" })),
  ({ status }) => status === 401 || status === 403
).pipe(Effect.orElseSucceed(() => false))

/** The session that the page begins with: that of `roster studio`, or one that this tab has kept. */
export const initialSession = Effect.fnUntraced(function* (opened: Opened) {
  const key = keyInFragment(opened.location.hash) ?? opened.storage.getItem(storageKey)
  if (key === null) return undefined
  const host = yield* Effect.option(hostTarget(opened, key))
  const begun: Session = {
    baseUrl: baseUrlAt(opened.location),
    key: Redacted.make(key),
    ...(host._tag === "Some" && { host: host.value })
  }
  return begun
})
