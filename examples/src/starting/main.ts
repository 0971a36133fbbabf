import { ContactsService } from "@roster/domain"
import { SqlServices } from "@roster/server"
import { Console, Effect } from "effect"

const program = Effect.gen(function* () {
  const contacts = yield* ContactsService
  yield* contacts.add([{ email: "ada@example.com", firstName: "Ada" }], {
    listNames: ["newsletter"]
  })
  const { email, firstName } = yield* contacts.get("ada@example.com")
  return `${firstName} <${email}>`
})

// The first run creates the file.
const services = SqlServices.layer({ filename: "contacts.db" })

await Effect.runPromise(program.pipe(Effect.flatMap(Console.log), Effect.provide(services)))
