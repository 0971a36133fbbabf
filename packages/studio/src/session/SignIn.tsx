/** Asks for a key, and again where the service takes it no more. It is held in memory, and by this tab for reloads if the person asks for it. */
import { Effect, Redacted } from "effect"
import { type FormEvent, type ReactNode, useEffect, useState } from "preact/compat"
import { useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { Dialog } from "../kit/Dialog.tsx"
import { Logo } from "../kit/Logo.tsx"
import { Problem } from "../kit/Problem.tsx"
import { appTexts } from "../texts/AppTexts.ts"
import { connection, otherKey } from "./Connection.ts"
import { baseUrlAt, isHosted, readAgain, refusalOf, session, storageKey } from "./Session.ts"

const Title = () => (
  <h1>
    <Logo />
    {appTexts.name}
  </h1>
)

/** What the service says itself where it knows that a browser called it in clear. A proxy may have told it otherwise. */
const InClear = () => (
  <main className="sign-in">
    <Title />
    <p role="alert">{appTexts.inClear}</p>
  </main>
)

/** Asks for a key, and opens the page with one that the service takes. */
const KeyForm = () => {
  const registry = useRegistry()
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const [isChecked, setChecked] = useState(false)
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const key = String(form.get("key") ?? "").trim()
    if (key === "") return setProblem(appTexts.noKey)
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
        {appTexts.key}
        <input name="key" type="password" autoComplete="off" spellcheck={false} required autoFocus />
      </label>
      <label className="choice">
        <input name="keep" type="checkbox" />
        {appTexts.keep}
      </label>
      <Problem message={problem} />
      <button type="submit" className="primary" disabled={isChecked}>
        {appTexts.signIn}
      </button>
    </form>
  )
}

const Door = ({ children }: { readonly children: ReactNode }) => (
  <main className="sign-in">
    <Title />
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
        <p>{appTexts.ofStudio}</p>
      </Door>
    )
  }
  return (
    <Door>
      <p>{appTexts.whatFor}</p>
      <KeyForm />
      <p className="more">
        <a href="docs">{appTexts.links.docs}</a> · <a href="v4/openapi.json">{appTexts.links.openapi}</a> ·{" "}
        <a href="health/ready">{appTexts.links.ready}</a>
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
    <Dialog title={appTexts.keyRefused}>
      {current?.host === undefined ? (
        <>
          <p>{appTexts.otherKey}</p>
          <KeyForm />
        </>
      ) : (
        <p>{appTexts.ofStudio}</p>
      )}
    </Dialog>
  )
}
