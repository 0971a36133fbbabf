/** Opens an address in the browser of the person, if this machine has one. */
import { Effect } from "effect"
import { spawn } from "node:child_process"

/**
 * The program, its arguments and its input. Other users of a Mac can see command lines; on Linux the page refuses them, and
 * Windows shows them none.
 */
const opening = (
  address: string
): { readonly program: string; readonly args: ReadonlyArray<string>; readonly input?: string } | undefined => {
  switch (process.platform) {
    case "darwin":
      return { program: "osascript", args: ["-"], input: `open location ${JSON.stringify(address)}\n` }
    case "win32":
      return { program: "cmd", args: ["/c", "start", "", address] }
    default: {
      // Elsewhere than on a desktop it would open a browser in the terminal.
      const hasDesktop = ["DISPLAY", "WAYLAND_DISPLAY"].some((name) => (process.env[name] ?? "") !== "")
      return hasDesktop ? { program: "xdg-open", args: [address] } : undefined
    }
  }
}

/** Where nothing can open it, the address is on the screen. The browser outlives this process. */
export const openBrowser = (address: string): Effect.Effect<void> =>
  Effect.sync(() => {
    const command = opening(address)
    if (command === undefined) return
    const child = spawn(command.program, command.args, { detached: true, stdio: ["pipe", "ignore", "ignore"] })
    child.on("error", () => {})
    child.stdin.on("error", () => {})
    child.stdin.end(command.input)
    child.unref()
  })
