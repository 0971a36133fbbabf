/** The process around a command: it handles signals, and exits as soon as the command ends. */
import { Exit, Predicate, Runtime } from "effect"
import { exitCode } from "./ExitCode.ts"

/** Runs a program to its exit code. `deliver` passes a signal to a waiting command; a second one ends the process. */
export const runMain = (deliver: () => boolean) =>
  Runtime.makeRunMain(({ fiber }) => {
    let signalled: number | undefined
    const onSignal = (code: number) => () => {
      if (signalled !== undefined) process.exit(code)
      signalled = code
      if (!deliver()) fiber.interruptUnsafe(fiber.id)
    }
    process.on("SIGINT", onSignal(exitCode.interrupted))
    process.on("SIGTERM", onSignal(exitCode.terminated))
    // Each write reports its own error; without a listener the same error would end the process.
    process.stdout.on("error", () => {})
    process.stderr.on("error", () => {})
    fiber.addObserver((exit) => {
      const ended = Exit.isSuccess(exit) && Predicate.isNumber(exit.value) ? exit.value : undefined
      process.exit(ended ?? signalled ?? exitCode.bug)
    })
  })
