/**
 * Whether one register explains what clients did to a key: whether each call can have taken effect at one moment between
 * its start and its end, so that each read gives what was written last. Looks for such moments as late as possible, when
 * a call ends, and keeps every state that the register can be in (just-in-time linearization, Lowe 2017).
 */

/** A call of a client to one key. Written values are unique, but for `undefined`: that nothing is there. */
export interface KeyCall {
  /** A `create` takes effect only where nothing is. */
  readonly kind: "write" | "create" | "read"
  readonly value: string | undefined
  readonly started: number
  /** `undefined` for a write that nobody knows the outcome of: it takes effect at any time, or never. */
  readonly ended: number | undefined
}

/** A state that the register can be in. */
interface State {
  readonly value: string | undefined
  /** The calls under way that took effect. */
  readonly done: ReadonlySet<KeyCall>
  /** How many of the deletions with an unknown outcome took effect: they are all alike, so the oldest did. */
  readonly spent: number
}

interface Pending {
  /** Calls whose end is known. */
  readonly known: Set<KeyCall>
  /** Writes that nobody knows the outcome of, by their values. */
  readonly unknown: Map<string, KeyCall>
  deletions: number
}

const without = (calls: ReadonlySet<KeyCall>, call: KeyCall): ReadonlySet<KeyCall> => {
  const others = new Set(calls)
  others.delete(call)
  return others
}

/** The states after one more call took effect. */
const next = (state: State, { deletions, known, unknown }: Pending): ReadonlyArray<State> => {
  const { done, spent, value } = state
  const states: Array<State> = []
  // What nobody knows of took effect only where something shows it.
  const wanted = new Set<string | undefined>()
  for (const call of known) {
    if (done.has(call)) continue
    if (call.kind === "create" && value !== undefined) wanted.add(undefined)
    else if (call.kind !== "read") states.push({ value: call.value, done: new Set(done).add(call), spent })
    else if (call.value !== value) wanted.add(call.value)
  }
  const isBlocked = (shown: string | undefined): boolean =>
    shown !== undefined && value !== undefined && unknown.get(shown)?.kind === "create"
  if ([...wanted].some(isBlocked)) wanted.add(undefined)
  if (wanted.has(undefined) && spent < deletions) states.push({ value: undefined, done, spent: spent + 1 })
  for (const shown of wanted) {
    const call = shown === undefined ? undefined : unknown.get(shown)
    if (call === undefined || done.has(call) || isBlocked(shown)) continue
    states.push({ value: shown, done: new Set(done).add(call), spent })
  }
  return states
}

/** Reads that see the value take effect at once, since they change nothing. */
const withReads = (state: State, { known }: Pending): State => {
  const done = new Set(state.done)
  for (const call of known) if (call.kind === "read" && call.value === state.value) done.add(call)
  return { ...state, done }
}

/** States without those that others can do the same as. */
const makeStates = (numberOf: (call: KeyCall) => number) => {
  const fewest = new Map<string, State>()
  return {
    all: () => [...fewest.values()],
    /** Whether it is a new one. */
    add: (state: State): boolean => {
      const numbers = [...state.done].map(numberOf).sort((one, other) => one - other)
      const key = JSON.stringify([numbers, state.value])
      const known = fewest.get(key)
      if (known !== undefined && known.spent <= state.spent) return false
      fewest.set(key, state)
      return true
    }
  }
}

/** The first call to a key that is seen to have no explanation when it ends. The key holds `initial` before. */
export const unexplained = (calls: ReadonlyArray<KeyCall>, initial?: string): KeyCall | undefined => {
  const numbers = new Map(calls.map((call, index) => [call, index]))
  const numberOf = (call: KeyCall): number => numbers.get(call) ?? -1
  const moments = calls.flatMap((call) => [
    { call, isEnd: false, time: call.started },
    ...(call.ended === undefined ? [] : [{ call, isEnd: true, time: call.ended }])
  ])
  moments.sort((one, other) => one.time - other.time || Number(one.isEnd) - Number(other.isEnd))
  const pending: Pending = { known: new Set(), unknown: new Map(), deletions: 0 }
  let states: ReadonlyArray<State> = [{ value: initial, done: new Set(), spent: 0 }]
  for (const { call, isEnd } of moments) {
    if (isEnd) {
      const found = makeStates(numberOf)
      const seen = makeStates(numberOf)
      const open = states.map((state) => withReads(state, pending)).filter(seen.add)
      for (let state = open.pop(); state !== undefined; state = open.pop()) {
        if (state.done.has(call)) found.add({ ...state, done: without(state.done, call) })
        else
          open.push(
            ...next(state, pending)
              .map((after) => withReads(after, pending))
              .filter(seen.add)
          )
      }
      states = found.all()
      if (states.length === 0) return call
      pending.known.delete(call)
    } else if (call.ended !== undefined) pending.known.add(call)
    else if (call.value !== undefined) pending.unknown.set(call.value, call)
    else if (call.kind !== "read") pending.deletions++
  }
  return undefined
}
