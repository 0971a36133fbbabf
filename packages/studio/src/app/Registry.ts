/**
 * The registry of the page. What its atoms run for long goes on in slices, each in a task of the browser, which draws and answers
 * between them; a registry by itself goes on in the same task.
 */
import { AtomRegistry } from "effect/reactivity"

/** Runs in a task of its own; gives what cancels it. A timer would wait for 4 milliseconds each time. */
const makeNextTask = () => {
  const { port1, port2 } = new MessageChannel()
  const due: Array<() => void> = []
  port1.addEventListener("message", () => due.shift()?.())
  port1.start()
  return (run: () => void): (() => void) => {
    let isDue = true
    due.push(() => {
      if (isDue) run()
    })
    port2.postMessage(undefined)
    return () => {
      isDue = false
    }
  }
}

// A component reads an atom before it subscribes to it, and an atom without subscribers ends after this, in milliseconds.
const idle = 400

/** Makes the registry of the page. */
export const makeRegistry = (): AtomRegistry.AtomRegistry =>
  AtomRegistry.make({ defaultIdleTTL: idle, scheduleTask: makeNextTask() })
