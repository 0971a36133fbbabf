import { describe } from "@effect/vitest"
import { Effect } from "effect"
import { levelCases } from "./Levels.ts"

describe("levels of keys", () => levelCases(Effect.succeed({ filename: ":memory:" })))
