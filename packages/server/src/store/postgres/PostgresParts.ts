/** Whether transactions are repeated, and lists as parameters: what other rooms need of PostgreSQL without its client. */
import { Context, Effect } from "effect"

export const RunsOnce = Context.Reference<boolean>("@roster/server/RunsOnce", { defaultValue: () => false })

/** Runs transactions once: they change more than the database, and whoever runs them begins again from what is stored. */
export const runningOnce: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = Effect.provideService(
  RunsOnce,
  true
)

const quoted = (text: string | null): string => (text === null ? "NULL" : `"${text.replace(/[\\"]/g, "\\$&")}"`)

/** A list of texts as one parameter, for a place that says `::text[]`. */
export const textList = (texts: ReadonlyArray<string | null>): string => `{${texts.map(quoted).join(",")}}`
