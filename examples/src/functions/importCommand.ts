import { commandLine, importCommand } from "@roster/workflows"
import { Effect } from "effect"

const command = importCommand("customers.csv", { only: "existing", plan: "customers.plan" })

export const example = Effect.log(commandLine(command))
