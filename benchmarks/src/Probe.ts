/** How long single calls take while a service does something else. */
import { setTimeout } from "node:timers/promises"
import { person, wirePayload } from "./Records.ts"
import { ask, type Served } from "./Served.ts"

/** Contacts that nothing else touches. */
const firstProbed = 50_000_000
const probed = 100

const percentile = (values: ReadonlyArray<number>, share: number): number =>
  values.toSorted((one, other) => one - other)[Math.ceil(values.length * share) - 1] ?? 0

/** One call after the other, with a pause behind each, until it is told to stop. */
const again = async (call: (index: number) => Promise<unknown>, pause: number, stopped: () => boolean) => {
  const times: Array<number> = []
  for (let index = 0; !stopped(); index++) {
    const start = performance.now()
    await call(index)
    times.push(performance.now() - start)
    await setTimeout(pause)
  }
  return times
}

/** Makes the contacts that are asked for. */
export const prepareProbe = (served: Served): Promise<string> =>
  ask(
    served,
    "POST",
    "/contacts",
    JSON.stringify(Array.from({ length: probed }, (_, index) => wirePayload(firstProbed + index)))
  )

/**
 * Gets single contacts, and adds others where that is asked for, until what it watches has ended, and gives the latencies in
 * milliseconds.
 */
export const probe = async (
  served: Served,
  watched: Promise<unknown>,
  options: { readonly adds: boolean }
): Promise<Readonly<Record<string, number>>> => {
  let ended = false
  const end = watched.finally(() => {
    ended = true
  })
  const stopped = () => ended
  const get = (index: number) =>
    ask(served, "GET", `/contacts/${encodeURIComponent(person(firstProbed + (index % probed)).email)}`)
  const post = (index: number) =>
    ask(served, "POST", "/contacts", JSON.stringify([wirePayload(firstProbed + probed + index)]))
  const adding = options.adds ? again(post, 40, stopped) : Promise.resolve([])
  const [gets, posts] = await Promise.all([again(get, 3, stopped), adding, end])
  return {
    "GET p50 ms": percentile(gets, 0.5),
    "GET p99 ms": percentile(gets, 0.99),
    ...(options.adds ? { "POST p50 ms": percentile(posts, 0.5), "POST p99 ms": percentile(posts, 0.99) } : {})
  }
}
