/** What the help of a command has beyond what its flags say of themselves. */
import { Context } from "effect"
import { Command } from "effect/cli"

interface Extras {
  /** Headings, and the names of the flags below each. Flags of none come first. */
  readonly groups?: Readonly<Record<string, ReadonlyArray<string>>>
  /** A section of its own behind the flags. */
  readonly notes?: { readonly title: string; readonly rows: ReadonlyArray<readonly [left: string, right: string]> }
}

/** The annotation of a command, which `main/Help` prints. */
export class HelpExtras extends Context.Service<HelpExtras, Extras>()("@roster/cli/HelpExtras") {}

/** Adds it to a command. */
export const withHelp = (extras: Extras) => Command.annotate(HelpExtras, extras)
