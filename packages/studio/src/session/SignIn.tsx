/** Asks for a key. It is held in memory, and by this tab for reloads if the person asks for it. */
import { Redacted } from "effect"
import { type FormEvent, useState } from "preact/compat"
import { useAtomSet } from "../kit/Atoms.tsx"
import { Problem } from "../kit/Problem.tsx"
import { baseUrlAt, session, storageKey } from "./Session.ts"

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

const KeyForm = () => {
  const signIn = useAtomSet(session)
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const key = String(form.get("key") ?? "").trim()
    if (key === "") return setProblem("The key is empty. Paste the API key that you were given.")
    if (form.get("keep") !== null) globalThis.sessionStorage.setItem(storageKey, key)
    signIn({ baseUrl: baseUrlAt(globalThis.location), key: Redacted.make(key) })
  }
  return (
    <main className="sign-in">
      <h1>Roster</h1>
      <p>This service keeps contacts and access credentials. Sign in with an API key to see and change them.</p>
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
        <button type="submit" className="primary">
          Sign in
        </button>
      </form>
      <p>
        <a href="docs">The interface, to read and to try</a> · <a href="v4/openapi.json">Its OpenAPI document</a> ·{" "}
        <a href="health/ready">Whether the service is ready</a>
      </p>
    </main>
  )
}

export const SignIn = () => (globalThis.isSecureContext ? <KeyForm /> : <InClear />)
