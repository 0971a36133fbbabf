/** The command that does the same as the page, to copy, folded away for all who know no terminal. */
import { commandLine, type RosterCommand } from "@roster/workflows"
import { useRef, useState } from "preact/compat"
import { useAtomValue } from "../kit/Atoms.tsx"
import { appTexts } from "../texts/AppTexts.ts"
import { sharedTexts } from "../texts/SharedTexts.ts"
import { session } from "./Session.ts"

/** A command, and its copy where the browser can; elsewhere it is selected, to be copied by hand. */
const Line = ({ of }: { readonly of: RosterCommand }) => {
  const flags = useAtomValue(session)?.host?.flags
  const command = commandLine(of, flags)
  const text = useRef<HTMLElement>(null)
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    const { clipboard } = globalThis.navigator
    // A page over plain http has none.
    if (clipboard === undefined) {
      if (text.current !== null) globalThis.getSelection()?.selectAllChildren(text.current)
      return
    }
    await clipboard.writeText(command)
    setCopied(true)
  }
  return (
    <p>
      {/* A long one scrolls, with the keys as well. */}
      <code ref={text} tabIndex={0}>
        {command}
      </code>
      <button type="button" onClick={copy} onBlur={() => setCopied(false)}>
        {isCopied ? sharedTexts.copied : sharedTexts.copy}
      </button>
    </p>
  )
}

/** Shows commands that do the same one after the other. */
export const CommandLines = ({ commands }: { readonly commands: ReadonlyArray<RosterCommand> }) =>
  commands.length === 0 ? null : (
    <details className="command">
      <summary>{appTexts.inTerminal}</summary>
      {commands.map((command) => (
        <Line key={command.program} of={command} />
      ))}
    </details>
  )

/** Shows the command that does the same. */
export const CommandLine = ({ command }: { readonly command: RosterCommand }) => <CommandLines commands={[command]} />
