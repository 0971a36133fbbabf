import { describe } from "@effect/vitest"
import { RunLog } from "@roster/workflows"
import { logCases } from "./logCases.ts"

describe("the log of runs in memory", () => logCases(RunLog.layerMemory()))
