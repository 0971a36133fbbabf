/** The command that does the same as the page, to copy. */
import { useRef, useState } from "react"

/** A word of a command line, in quotes where a shell needs them. */
export const shellWord = (word: string): string => {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  // Double quotes read better around single ones, where nothing in them means something to a shell.
  return word.includes("'") && !/["$`\\!]/.test(word) ? `"${word}"` : `'${word.replaceAll("'", `'\\''`)}'`
}

/** A command of words, with what its target needs. */
export const commandOf = (words: ReadonlyArray<string>, flags: string | undefined): string =>
  ["roster", ...words.map(shellWord), ...(flags === undefined || flags === "" ? [] : [flags])].join(" ")

/** Shows a command, and copies it where the browser can; elsewhere it is selected, to be copied by hand. */
export const CommandLine = ({ command }: { readonly command: string }) => {
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
