/** The service or store that a command works on. */
import { Context } from "effect"

export class Target extends Context.Service<
  Target,
  {
    /** The name of the service or store in messages and questions. */
    readonly name: string
    /** The address of the service or the absolute path of the store, for records of runs (default: the name). */
    readonly identity?: string | undefined
    /** The protected profile whose service it is, and whose name is typed before anything is deleted. */
    readonly protectedBy?: string | undefined
  }
>()("@roster/cli/Target") {}

/** How a command opens its target. */
export interface ForWrites {
  /** Whether nothing is changed or created (default: false). A store of an earlier version is then refused. */
  readonly dryRun?: boolean | undefined
  /** Whether no contact is changed, though a file or a job is written (default: false). An older store is refused, too. */
  readonly previews?: boolean | undefined
  /** Whether a store is opened to be read alone, which refuses one of an earlier version too (default: false). */
  readonly reads?: boolean | undefined
  /** Whether it makes a store that does not exist, since it adds what one begins with (default: it is refused as `NoStore`). */
  readonly makesStore?: boolean | undefined
}
