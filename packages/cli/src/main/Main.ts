/**
 * The process around a command: signals, and an end at which nothing keeps it alive.
 */
import { Exit, Predicate, Runtime } from "effect"
import { exitCode } from "./ExitCode.ts"

/**
 * Runs a program that ends with its exit code. `deliver` hands a signal to a command that waits for it, and says whether
 * one did; a second signal ends the process at once.
 */
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
    // Whoever writes is told by the write itself; without a listener the same error would end the process.
    process.stdout.on("error", () => {})
    process.stderr.on("error", () => {})
    fiber.addObserver((exit) => {
      const ended = Exit.isSuccess(exit) && Predicate.isNumber(exit.value) ? exit.value : undefined
      process.exit(ended ?? signalled ?? exitCode.bug)
    })
  })
