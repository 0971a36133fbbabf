import { describe } from "@effect/vitest"
import { Effect } from "effect"
import { linkCases } from "./Links.ts"

describe("links of exports", () => linkCases(Effect.succeed({ filename: ":memory:" })))
