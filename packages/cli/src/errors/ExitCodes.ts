/** The exit code with which a command will end, for a report that says so before the process ends. */
import { Context, type Exit } from "effect"

export class ExitCodes extends Context.Service<
  ExitCodes,
  {
    /** The code of a command that ends so. */
    readonly of: (exit: Exit.Exit<unknown, unknown>) => number
  }
>()("@roster/cli/ExitCodes") {}
