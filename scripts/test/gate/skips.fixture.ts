import { it } from "vitest"

it.skip("is skipped", () => {})
