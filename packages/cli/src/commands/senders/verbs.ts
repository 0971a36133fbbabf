/** `roster senders allow`, `list` and `remove`: who may send e-mails by way of the local stores of this user. */
import { Effect, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import { usageError } from "../../errors/UsageError.ts"
import { changeConfig, maximumAllowedSenders, readConfig } from "../../settings/ConfigFile.ts"
import * as Results from "../../terminal/Results.ts"
import { parseSender, withExamples } from "../shared/CommonFlags.ts"

const sender = Argument.String("sender").pipe(
  Argument.withDescription("An address, or '*@example.com' for a domain"),
  Argument.mapEffect(parseSender("sender"))
)

export const allow = Command.make(
  "allow",
  { sender },
  Effect.fnUntraced(function* ({ sender }) {
    yield* changeConfig((before) => {
      const { allowedSenders = [] } = before
      if (allowedSenders.includes(sender)) return Effect.succeed(before)
      return allowedSenders.length < maximumAllowedSenders
        ? Effect.succeed({ ...before, allowedSenders: [...allowedSenders, sender] })
        : usageError(`${maximumAllowedSenders} senders are allowed already.`, "Allow a domain: '*@example.com'")
    })
    yield* Results.done(`Your local stores accept e-mails from ${sender}`)
  })
).pipe(
  withExamples({
    "roster senders allow news@example.com": "",
    "roster senders allow '*@example.com'": "All addresses of a domain"
  })
)

export const list = Command.make(
  "list",
  {},
  Effect.fnUntraced(function* () {
    const { allowedSenders = [] } = yield* readConfig
    const rows = allowedSenders.map((Name) => ({ Name }))
    yield* Results.rows(["Name"], Stream.fromIterable(rows))
  })
).pipe(Command.withExamples([{ command: "roster senders list" }]))

export const remove = Command.make(
  "remove",
  { sender },
  Effect.fnUntraced(function* ({ sender }) {
    yield* changeConfig(({ allowedSenders = [], ...rest }) =>
      allowedSenders.includes(sender)
        ? Effect.succeed({ ...rest, allowedSenders: allowedSenders.filter((allowed) => allowed !== sender) })
        : usageError(`${sender} was not allowed.`, "See: roster senders list")
    )
    yield* Results.done(`Your local stores accept no e-mails from ${sender} any more`)
  })
).pipe(Command.withExamples([{ command: "roster senders remove news@example.com" }]))
