import { it } from "vitest"

it.skip("needs what is not here", () => {})
it.skip("takes long (nightly)", () => {})
