/**
 * The file that is run as `roster`, once Node is known to be new enough. It answers what it knows, and loads the program for
 * everything else; also where an answer could not be written, since the program knows what to say then.
 */
import { keepCompiled } from "./CompileCache.ts"
import { knownAnswer } from "./StaticHelp.ts"

const run = () => {
  keepCompiled()
  return import("./bin.ts")
}

const answer = knownAnswer(process.argv.slice(2))
if (answer === undefined) await run()
else {
  process.stdout.on("error", () => {})
  process.stdout.write(answer, (error) => {
    if (error) void run()
  })
}
