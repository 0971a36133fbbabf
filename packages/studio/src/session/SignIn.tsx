/** Asks for a key, and again where the service takes it no more. It is held in memory, and by this tab for reloads if the person asks for it. */
import { Effect, Redacted } from "effect"
import { type FormEvent, type ReactNode, useEffect, useState } from "preact/compat"
import { useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { Dialog } from "../kit/Dialog.tsx"
import { Problem } from "../kit/Problem.tsx"
import { connection, otherKey } from "./Connection.ts"
import { baseUrlAt, isHosted, readAgain, refusalOf, session, storageKey } from "./Session.ts"

/** What the service says itself where it knows that a browser called it in clear. A proxy may have told it otherwise. */
const InClear = () => (
  <main className="sign-in">
    <h1>Roster</h1>
    <p role="alert">
      This page came over plain http, so it asks for no key, which others on the way could read: open its address with
      https, or on its own machine as localhost.
    </p>
  </main>
)

const ofStudio =
  "Open the address that roster studio printed. If it has ended, start it again: each start has an address of its own."

/** Asks for a key, and opens the page with one that the service takes. */
const KeyForm = () => {
  const registry = useRegistry()
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const [isChecked, setChecked] = useState(false)
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const key = String(form.get("key") ?? "").trim()
    if (key === "") return setProblem("The key is empty. Paste the API key that you were given.")
    const given = { baseUrl: baseUrlAt(globalThis.location), key: Redacted.make(key) }
    setChecked(true)
    const refusal = await Effect.runPromise(refusalOf(given))
    setChecked(false)
    setProblem(refusal)
    if (refusal !== undefined) return
    if (form.get("keep") === null) globalThis.sessionStorage.removeItem(storageKey)
    else globalThis.sessionStorage.setItem(storageKey, key)
    if (registry.get(session) === undefined) return registry.set(session, given)
    registry.set(otherKey, given.key)
    registry.set(connection, "Answering")
    registry.set(readAgain, undefined)
  }
  return (
    <form onSubmit={submit}>
      <label>
        API key
        <input name="key" type="password" autoComplete="off" spellcheck={false} required autoFocus />
      </label>
      <label className="choice">
        <input name="keep" type="checkbox" />
        Keep it in this tab, so that a reload does not ask again
      </label>
      <Problem message={problem} />
      <button type="submit" className="primary" disabled={isChecked}>
        Sign in
      </button>
    </form>
  )
}

const Door = ({ children }: { readonly children: ReactNode }) => (
  <main className="sign-in">
    <h1>Roster</h1>
    {children}
  </main>
)

const Asking = () => {
  const [hosted, setHosted] = useState<boolean | undefined>(undefined)
  useEffect(() => {
    Effect.runFork(Effect.map(isHosted, setHosted))
  }, [])
  if (hosted === undefined) return null
  if (hosted) {
    return (
      <Door>
        <p>{ofStudio}</p>
      </Door>
    )
  }
  return (
    <Door>
      <p>This service keeps contacts and access credentials. Sign in with an API key to see and change them.</p>
      <KeyForm />
      <p>
        <a href="docs">The interface, to read and to try</a> · <a href="v4/openapi.json">Its OpenAPI document</a> ·{" "}
        <a href="health/ready">Whether the service is ready</a>
      </p>
    </Door>
  )
}

export const SignIn = () => (globalThis.isSecureContext ? <Asking /> : <InClear />)

/** Asks for another key where the service takes the first one no more. What is edited stays as it is below. */
export const OtherKey = () => {
  const now = useAtomValue(connection)
  const current = useAtomValue(session)
  if (now !== "KeyRefused") return null
  return (
    <Dialog title="The service does not take the key any more">
      {current?.host === undefined ? (
        <>
          <p>It has ended or was deleted. With another key you go on where you are, and what you edit stays.</p>
          <KeyForm />
        </>
      ) : (
        <p>{ofStudio}</p>
      )}
    </Dialog>
  )
}
