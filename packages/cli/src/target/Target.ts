/** The service or store that a command works on. */
import { Context } from "effect"

export class Target extends Context.Service<
  Target,
  {
    /** The name of the service or store in messages and questions. */
    readonly name: string
  }
>()("@roster/cli/Target") {}
