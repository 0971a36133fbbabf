/** `roster completions` */
import { Effect, Stream } from "effect"
import { Argument, Command, Completions } from "effect/cli"
import { commandTree } from "./CommandTree.ts"
import { Output } from "../terminal/Output.ts"

const install: { readonly [Shell in Completions.Shell]: string } = {
  bash: "roster completions bash > ~/.local/share/bash-completion/completions/roster",
  zsh: 'roster completions zsh > "${fpath[1]}/_roster"',
  fish: "roster completions fish > ~/.config/fish/completions/roster.fish",
  powershell: "roster completions powershell >> $PROFILE"
}

/** Prints the script for the commands below `everyCommand`. It is static: no shell starts `roster` to complete a word. */
export const completions = (everyCommand: Effect.Effect<Command.Command.Any>) =>
  Command.make(
    "completions",
    {
      shell: Argument.Literals("shell", ["bash", "zsh", "fish", "powershell"]).pipe(
        Argument.withDescription("Shell to print the script for")
      )
    },
    Effect.fnUntraced(function* ({ shell }) {
      const output = yield* Output
      const root = yield* everyCommand
      const script = Completions.generate(root.name, shell, commandTree(root))
      yield* output.write(Stream.make(`${script.trimEnd()}\n`))
      if (output.isTerminal) yield* output.note(`To install it: ${install[shell]}`)
    })
  ).pipe(
    Command.withExamples([
      { command: install.bash, description: "Install for bash; then start a new shell" },
      { command: install.zsh, description: "Install for zsh" },
      { command: install.fish, description: "Install for fish" },
      { command: install.powershell, description: "Install for PowerShell" }
    ])
  )
