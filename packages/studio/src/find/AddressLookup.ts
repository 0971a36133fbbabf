/** One address that a person looks for: the contact that has it opens, and of any other the page says that nobody has it. */
import { ContactsService } from "@roster/domain"
import { searchTextOf } from "@roster/domain/internal"
import { Effect } from "effect"
import { opened } from "../contacts/ContactAtoms.ts"
import { draft, rule } from "../rules/AppliedRule.ts"
import { runtime } from "../session/Session.ts"

/** Looks for an address, and opens the contact that has it. */
export const lookUp = runtime.fn(
  Effect.fnUntraced(function* (email: string, get) {
    // Its address stands in no log of a server then.
    const { contacts } = yield* ContactsService.use((service) => service.getMany([email]))
    const [found] = contacts
    if (found !== undefined) {
      get.set(opened, found.email)
      // The box goes on to say what is shown below it.
      get.set(draft, searchTextOf(get(rule)))
    }
    return { email, isFound: found !== undefined }
  })
)
