/** The page: who is signed in and to what, the views, and the one that is shown. */
import type { ProbedLevel } from "@roster/workflows"
import { AsyncResult } from "effect/reactivity"
import { lazy, Suspense, useEffect } from "react"
import { ContactsView } from "../contacts/ContactsView.tsx"
import { useAtom, useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { mayDo, rights, type Session, session } from "../session/Session.ts"
import { SignIn } from "../session/SignIn.tsx"
import { view, viewOf, views } from "./View.ts"

const ExportView = lazy(() => import("../exports/ExportView.tsx"))
const ImportView = lazy(() => import("../imports/ImportView.tsx"))
const KeysView = lazy(() => import("../keys/KeysView.tsx"))
const PicturesView = lazy(() => import("../pictures/PicturesView.tsx"))
const RunsView = lazy(() => import("../runs/RunsView.tsx"))

const levelsOf = (probed: AsyncResult.AsyncResult<ReadonlyArray<ProbedLevel>, unknown>): ReadonlyArray<ProbedLevel> =>
  AsyncResult.isSuccess(probed) ? probed.value : []

const Navigation = ({ levels }: { readonly levels: ReadonlyArray<ProbedLevel> }) => {
  const [current, setCurrent] = useAtom(view)
  useEffect(() => {
    const follow = () => setCurrent(viewOf(globalThis.location.hash))
    follow()
    globalThis.addEventListener("hashchange", follow)
    return () => globalThis.removeEventListener("hashchange", follow)
  }, [setCurrent])
  return (
    <nav aria-label="Views">
      <ul>
        {views.map(({ id, needs, title }) => {
          const isMissing = needs !== undefined && mayDo(levels, needs) === false
          return (
            <li key={id}>
              {isMissing ? (
                <span aria-disabled="true" title={`This key lacks the level ${needs}`}>
                  {title} <small>needs {needs}</small>
                </span>
              ) : (
                <a href={`#${id}`} aria-current={id === current ? "page" : undefined}>
                  {title}
                </a>
              )}
            </li>
          )
        })}
      </ul>
    </nav>
  )
}

const Head = ({ current, levels }: { readonly current: Session; readonly levels: ReadonlyArray<ProbedLevel> }) => {
  const registry = useRegistry()
  const signOut = (): void => {
    globalThis.sessionStorage.clear()
    // Nothing of what was shown stays in memory.
    globalThis.location.replace(globalThis.location.pathname)
    registry.set(session, undefined)
  }
  const granted = levels.filter((one) => one.granted).map(({ level }) => level)
  return (
    <header>
      <strong>Roster Studio</strong>
      <span className="target">{current.host?.name ?? current.baseUrl}</span>
      {granted.length === 0 ? null : <span className="rights">This key may: {granted.join(", ")}</span>}
      <button type="button" onClick={signOut}>
        Sign out
      </button>
    </header>
  )
}

const Views = ({ current }: { readonly current: Session }) => {
  const probed = useAtomValue(rights)
  const shown = useAtomValue(view)
  const levels = levelsOf(probed)
  return (
    <>
      <Head current={current} levels={levels} />
      <Navigation levels={levels} />
      <main>
        <Problem message={problemOf(probed)} />
        {shown === "contacts" ? <ContactsView /> : null}
        <Suspense>
          {shown === "pictures" ? <PicturesView /> : null}
          {shown === "import" ? <ImportView /> : null}
          {shown === "export" ? <ExportView /> : null}
          {shown === "keys" ? <KeysView /> : null}
          {shown === "runs" ? <RunsView /> : null}
        </Suspense>
      </main>
    </>
  )
}

export const App = () => {
  const current = useAtomValue(session)
  return current === undefined ? <SignIn /> : <Views current={current} />
}
