/** The page: who is signed in and to what, the views, and the one that is shown. */
import { useEffect, useRef } from "preact/compat"
import { Effect } from "effect"
import { AsyncResult, Atom } from "effect/reactivity"
import { page } from "../contacts/ContactAtoms.ts"
import { ContactsView } from "../contacts/ContactsView.tsx"
import { wanted } from "../contacts/ContactSelection.ts"
import { useAtom, useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { Boundary, later, loadRest } from "../kit/Later.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { missing, rights, rightsWords } from "../session/Rights.tsx"
import { connection, reachedAgain } from "../session/Connection.ts"
import { readAgain, type Session, session } from "../session/Session.ts"
import { OtherKey, SignIn } from "../session/SignIn.tsx"
import { type ListedView, view, viewOf, views } from "./View.ts"

const ExportView = later(async () => (await import("../exports/ExportView.tsx")).ExportView)
const ImportView = later(async () => (await import("../imports/ImportView.tsx")).ImportView)
const KeysView = later(async () => (await import("../keys/KeysView.tsx")).KeysView)
const ListsView = later(async () => (await import("../lists/ListsView.tsx")).ListsView)
const Plans = later(async () => (await import("../plans/Plans.tsx")).Plans)
const RunsView = later(async () => (await import("../runs/RunsView.tsx")).RunsView)

const mended = Atom.make((get) =>
  get(connection) === "Away"
    ? Effect.map(reachedAgain, () => {
        get.set(readAgain, undefined)
        // The last, since it ends this.
        get.set(connection, "Answering")
      })
    : Effect.void
)

/** One line while the service cannot be reached. */
const AwayLine = () => {
  const isAway = useAtomValue(connection) === "Away"
  useAtomValue(mended)
  return (
    <p role="status" className={isAway ? "note" : "unseen"}>
      {isAway
        ? "The service cannot be reached. The page looks for it every two seconds, and then goes on by itself."
        : ""}
    </p>
  )
}

const Entry = ({
  entry: { id, needs, title },
  isCurrent
}: {
  readonly entry: ListedView
  readonly isCurrent: boolean
}) => {
  const reason = useAtomValue(missing(needs))
  return (
    <li>
      {reason === undefined ? (
        <a href={`#${id}`} aria-current={isCurrent ? "page" : undefined}>
          {title}
        </a>
      ) : (
        <span aria-disabled="true" title={reason}>
          {title} <small>needs {needs}</small>
        </span>
      )}
    </li>
  )
}

const Navigation = () => {
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
        {views.map((entry) => (
          <Entry key={entry.id} entry={entry} isCurrent={entry.id === current} />
        ))}
      </ul>
    </nav>
  )
}

const Head = ({ current }: { readonly current: Session }) => {
  const registry = useRegistry()
  const words = useAtomValue(rightsWords)
  const signOut = (): void => {
    globalThis.sessionStorage.clear()
    // Nothing of what was shown stays in memory.
    globalThis.location.replace(globalThis.location.pathname)
    registry.set(session, undefined)
  }
  return (
    <header>
      <strong>Roster Studio</strong>
      <span className="target">{current.host?.name ?? current.baseUrl}</span>
      <span className="rights">{words}</span>
      <button type="button" onClick={signOut}>
        Sign out
      </button>
    </header>
  )
}

/** What a person does to contacts, on whatever view: nothing is fetched for it before that is begun. */
const Planned = () => {
  const isBegun = useAtomValue(wanted) !== undefined
  const hasBegun = useRef(false)
  hasBegun.current ||= isBegun
  return hasBegun.current ? <Plans /> : null
}

/** The view that is shown, or why the key opens none. */
const Shown = () => {
  const shown = useAtomValue(view)
  const entry = views.find(({ id }) => id === shown)
  const reason = useAtomValue(missing(entry?.needs))
  if (reason !== undefined) {
    return (
      <section>
        <h1>{entry?.title}</h1>
        <p>{reason}</p>
      </section>
    )
  }
  return (
    <>
      {shown === "contacts" ? (
        <Boundary>
          <ContactsView />
        </Boundary>
      ) : null}
      {shown === "lists" ? <ListsView /> : null}
      {shown === "import" ? <ImportView /> : null}
      {shown === "export" ? <ExportView /> : null}
      {shown === "keys" ? <KeysView /> : null}
      {shown === "runs" ? <RunsView /> : null}
    </>
  )
}

const Views = ({ current }: { readonly current: Session }) => {
  const problem = problemOf(useAtomValue(rights))
  const main = useRef<HTMLElement>(null)
  // Whoever has signed in begins at the heading of what is shown.
  useEffect(() => main.current?.querySelector<HTMLElement>("h1[tabindex]")?.focus(), [])
  const isShown = !AsyncResult.isInitial(useAtomValue(page))
  useEffect(() => {
    if (isShown) void loadRest()
  }, [isShown])
  return (
    <>
      <Head current={current} />
      <Navigation />
      <main ref={main}>
        <AwayLine />
        <Problem message={problem} />
        <Planned />
        <Shown />
        <OtherKey />
      </main>
    </>
  )
}

export const App = () => {
  const current = useAtomValue(session)
  return current === undefined ? <SignIn /> : <Views current={current} />
}
