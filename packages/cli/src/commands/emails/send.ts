/** `roster emails send` */
import { EmailAddress, emailAddressIssue, EmailSend, EmailsService } from "@roster/domain"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { checkInputs, readText } from "../../settings/InputFile.ts"
import { text } from "../../settings/FlagForms.ts"
import { refuseFlags, withExamples } from "../shared/CommonFlags.ts"
import * as Results from "../../terminal/Results.ts"
import * as TargetLayer from "../../target/TargetLayer.ts"
import { parseWith, refuse } from "../../errors/UsageError.ts"

/** `ann@example.com` or `Ann Lee <ann@example.com>`. */
const parseSender = (given: string) => {
  const issue = emailAddressIssue(/^[^<>]*<([^<>]*)>$/.exec(given)?.[1] ?? given)
  return issue === undefined ? Effect.succeed(given) : refuse("from", issue)
}

const givenText = (given: string | undefined, file: string | undefined) =>
  given === undefined && file !== undefined ? readText(file) : Effect.succeed(given)

export const command = Command.make(
  "send",
  {
    from: Flag.String("from").pipe(
      Flag.mapEffect(parseSender),
      Flag.withMetavar("SENDER"),
      Flag.withDescription('Sender: an address, or "Name <address>"')
    ),
    to: Flag.String("to").pipe(
      Flag.mapEffect(parseWith(EmailAddress, "to")),
      Flag.withMetavar("EMAIL"),
      Flag.withDescription("Recipient (repeatable)"),
      Flag.between(1, 1000)
    ),
    subject: text("subject", "Subject"),
    text: text("text", "Plain text of the e-mail"),
    textFile: text("text-file", "Read the plain text from FILE, or - for stdin", "FILE|-"),
    html: text("html", "HTML text of the e-mail"),
    htmlFile: text("html-file", "Read the HTML text from FILE, or - for stdin", "FILE|-")
  },
  Effect.fnUntraced(function* (input) {
    const parts = [
      { contentType: "HTML", content: yield* givenText(input.html, input.htmlFile) },
      { contentType: "PlainText", content: yield* givenText(input.text, input.textFile) }
    ] as const
    const message = {
      recipients: input.to.map((email) => ({ email })),
      content: {
        from: input.from,
        ...Results.omitUndefined({ subject: input.subject }),
        body: parts.flatMap(({ content, contentType }) =>
          content === undefined ? [] : [{ contentType, content, charset: "utf-8" }]
        )
      }
    }
    // A store is made only once the files could be read.
    const sent = yield* EmailsService.use((emails) => emails.send(message)).pipe(
      Effect.provide(TargetLayer.layerForWrites({ makesStore: true }))
    )
    yield* Results.record(EmailSend, sent)
  })
).pipe(
  Command.validate(({ html, htmlFile, text, textFile }) =>
    refuseFlags(
      [text !== undefined && textFile !== undefined, "--text and --text-file cannot be used together."],
      [html !== undefined && htmlFile !== undefined, "--html and --html-file cannot be used together."],
      [
        [text, textFile, html, htmlFile].every((part) => part === undefined),
        "The e-mail is empty: add --text, --text-file, --html or --html-file."
      ]
    )
  ),
  withExamples({
    'roster emails send --from news@example.com --to ann@example.com --subject Hello --text "Hello Ann"': "",
    'roster emails send --from "News <news@example.com>" --to ann@example.com --subject Hello --html-file hello.html':
      "Send an HTML file"
  }),
  Command.provideEffectDiscard(({ htmlFile, textFile }) => checkInputs([htmlFile, textFile]))
)
