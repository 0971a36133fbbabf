/** The launcher: prints static answers, and loads the program for everything else, errors of writing included. */
import { enableCompileCache } from "./CompileCache.ts"
import { staticAnswer, withHelpWord } from "./StaticHelp.ts"

const commandLine = process.argv.slice(2)

const run = () => {
  enableCompileCache()
  return import("./bin.ts")
}

const answer = staticAnswer(withHelpWord(commandLine))
if (answer === undefined) await run()
else {
  process.stdout.on("error", () => {})
  process.stdout.write(answer, (error) => {
    if (error) void run()
  })
}
