import { planApiKeyRotation } from "@roster/workflows"

export const example = planApiKeyRotation("nightly", { destination: "the vault" })
