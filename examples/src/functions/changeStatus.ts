import { changeStatus } from "@roster/workflows"

export const example = changeStatus("ada@example.com", "Active", { resubscribe: true })
