/** The service or store that a command works on. */
import { Context, Effect } from "effect"

export class Target extends Context.Service<
  Target,
  {
    /** The name of the service or store in messages and questions. */
    readonly name: string
    /** The same for records that outlive the command: a store by its absolute path (default: the name). */
    readonly identity?: string | undefined
    /** The protected profile whose service it is, and whose name is typed before anything is deleted. */
    readonly protectedBy?: string | undefined
  }
>()("@roster/cli/Target") {}

/** How a command opens its target. */
export interface ForWrites {
  /** Whether nothing is changed or created (default: false). */
  readonly dryRun?: boolean | undefined
  /** Whether it makes a store that does not exist, since it adds what one begins with (default: it is refused as `NoStore`). */
  readonly makesStore?: boolean | undefined
}

/** What a record says that it is about. */
export const targetIdentity = Effect.map(Target, ({ identity, name }) => identity ?? name)
