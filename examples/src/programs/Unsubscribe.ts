import { changeAsRun } from "@roster/workflows"
import { Effect } from "effect"

/** Unsubscribes one person, whose address comes from a link in a message. Nobody is added by it. */
export const unsubscribe = (email: string) =>
  changeAsRun({ email, write: { status: "Unsubscribed" } }, { command: "unsubscribe" }).pipe(
    Effect.as("You get no more mail."),
    Effect.catchTags({
      ContactNotFound: () => Effect.succeed("You are not on our list."),
      InvalidInput: ({ issue }) => Effect.succeed(`That is no address: ${issue}.`)
    })
  )
