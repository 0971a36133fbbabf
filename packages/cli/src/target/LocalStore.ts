/**
 * The file of the store that belongs to the user: in the data folder of the platform, for this user alone.
 */
import { Effect, Path } from "effect"
import { userFolder } from "../files/UserFolder.ts"

/** Its path, once its folder is there. */
export const defaultStore = Effect.gen(function* () {
  const path = yield* Path.Path
  return path.join(yield* userFolder("data"), "roster.db")
})
