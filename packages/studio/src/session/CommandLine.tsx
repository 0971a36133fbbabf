/** The command that does the same as the page, to copy. */
import { useRef, useState } from "react"
import { useAtomValue } from "../kit/Atoms.tsx"
import { session } from "./Session.ts"

/** A program of the command line with its values. */
export interface Command {
  /** Its name, such as `contacts update`. */
  readonly program: string
  /** Its arguments. */
  readonly given?: ReadonlyArray<string>
  /** Its flags by their names: `true` stands for the flag alone, a list for the flag with each value, `undefined` for none. */
  readonly values?: Readonly<Record<string, string | number | boolean | ReadonlyArray<string> | undefined>>
}

/** A word of a command line, in quotes where a shell needs them. */
const shellWord = (word: string): string => {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  // Double quotes read better around single ones, where nothing in them means something to a shell.
  return word.includes("'") && !/["$`\\!]/.test(word) ? `"${word}"` : `'${word.replaceAll("'", `'\\''`)}'`
}

/** The command line of a program and its values, and of the flags of its target. */
export const commandLine = ({ given = [], program, values = {} }: Command, target = ""): string =>
  [
    "roster",
    program,
    ...given.map(shellWord),
    ...Object.entries(values).flatMap(([name, value]) => {
      const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
      if (value === undefined || value === false) return []
      return value === true ? [flag] : [value].flat().map((one) => `${flag} ${shellWord(String(one))}`)
    }),
    ...(target === "" ? [] : [target])
  ].join(" ")

/** Shows a command, and copies it where the browser can; elsewhere it is selected, to be copied by hand. */
export const CommandLine = ({
  command: of,
  isLocal = false
}: {
  readonly command: Command
  /** Whether it needs no service or store. */
  readonly isLocal?: boolean
}) => {
  const flags = useAtomValue(session)?.host?.flags
  const command = commandLine(of, isLocal ? "" : flags)
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
    <p className="command">
      {/* A long one scrolls, with the keys as well. */}
      <code ref={text} tabIndex={0}>
        {command}
      </code>
      <button type="button" onClick={copy} onBlur={() => setCopied(false)}>
        {isCopied ? "Copied" : "Copy"}
      </button>
    </p>
  )
}
