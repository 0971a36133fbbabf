import { planSmtpRotation } from "@roster/workflows"

export const example = planSmtpRotation("mailer@example.com", { destination: "the vault" })
