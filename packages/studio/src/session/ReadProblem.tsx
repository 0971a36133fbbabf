/** Why a view could not be read: of a service that cannot be reached the page says so once, and reads again by itself. */
import type { AsyncResult } from "effect/reactivity"
import { useAtomValue } from "../kit/Atoms.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { isBroken } from "./Connection.ts"

export const ReadProblem = <A, E>({ of }: { readonly of: AsyncResult.AsyncResult<A, E> }) => {
  const problem = problemOf(of)
  return useAtomValue(isBroken) ? null : <Problem message={problem} />
}
