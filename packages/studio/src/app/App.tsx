/** The page: who is signed in and to what, the views, and the one that is shown. */
import { useEffect, useRef, useState } from "preact/compat"
import { Effect } from "effect"
import { AsyncResult, Atom } from "effect/reactivity"
import { page } from "../contacts/ContactAtoms.ts"
import { ContactsView } from "../contacts/ContactsView.tsx"
import { wanted } from "../contacts/ContactSelection.ts"
import { pasted } from "../find/PastedText.ts"
import { useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { Dialog } from "../kit/Dialog.tsx"
import { Icon } from "../kit/Icon.tsx"
import { Boundary, later, loadRest } from "../kit/Later.tsx"
import { Logo } from "../kit/Logo.tsx"
import { missing, rights, rightsWords, unseenWords } from "../session/Rights.tsx"
import { connection, isBroken, reachedAgain } from "../session/Connection.ts"
import { ReadProblem } from "../session/ReadProblem.tsx"
import { readAgain, type Session, session } from "../session/Session.ts"
import { OtherKey, SignIn } from "../session/SignIn.tsx"
import { isUnsaved, loseAll } from "../session/Unsaved.tsx"
import { appTexts } from "../texts/AppTexts.ts"
import { sharedTexts } from "../texts/SharedTexts.ts"
import { ColourSwitch } from "./Theme.tsx"
import { address, addresses, addressProblem, canonical, type ListedView, view, views } from "./View.ts"

const ExportView = later(async () => (await import("../exports/ExportView.tsx")).ExportView)
const FindBox = later(async () => (await import("../find/FindBox.tsx")).FindBox, <div className="rule" />)
const ImportView = later(async () => (await import("../imports/ImportView.tsx")).ImportView)
const KeysView = later(async () => (await import("../keys/KeysView.tsx")).KeysView)
const ListsView = later(async () => (await import("../lists/ListsView.tsx")).ListsView)
const OverviewView = later(async () => (await import("../overview/OverviewView.tsx")).OverviewView)
const PastedDialog = later(async () => (await import("../find/PastedDialog.tsx")).PastedDialog)
const Plans = later(async () => (await import("../plans/Plans.tsx")).Plans)
const RunsView = later(async () => (await import("../runs/RunsView.tsx")).RunsView)

const mended = Atom.make((get) =>
  get(isBroken)
    ? Effect.map(reachedAgain, () => {
        get.set(readAgain, undefined)
        if (get.once(connection) === "Away") get.set(connection, "Answering")
        // The last, since it ends this.
        get.set(isBroken, false)
      })
    : Effect.void
)

/** One line while the service cannot be reached. */
const AwayLine = () => {
  const isAway = useAtomValue(connection) === "Away"
  useAtomValue(mended)
  return (
    <p role="status" className={isAway ? "note" : "unseen"}>
      {isAway ? appTexts.away : ""}
    </p>
  )
}

const Entry = ({ entry: { id, needs }, isCurrent }: { readonly entry: ListedView; readonly isCurrent: boolean }) => {
  const reason = useAtomValue(missing(needs))
  const addressOf = useAtomValue(addresses)
  const title = sharedTexts.views[id]
  return (
    <li>
      {reason === undefined ? (
        <a href={addressOf(id)} aria-current={isCurrent ? "page" : undefined}>
          <Icon name={id} />
          {title}
        </a>
      ) : (
        <span aria-disabled="true" title={reason}>
          <Icon name={id} />
          {title} <small>{needs === undefined ? "" : appTexts.needs(needs)}</small>
        </span>
      )}
    </li>
  )
}

const Navigation = () => {
  const registry = useRegistry()
  const current = useAtomValue(view)
  const shown = useAtomValue(address)
  useEffect(() => {
    const follow = () => Atom.batch(() => registry.set(address, globalThis.location.hash))
    follow()
    globalThis.addEventListener("hashchange", follow)
    return () => globalThis.removeEventListener("hashchange", follow)
  }, [registry])
  // What a person shows becomes an entry of the browser's history, so that its button leads back. What came from the address is there.
  useEffect(() => {
    const now = registry.get(address)
    if (canonical(globalThis.location.hash) === now) return
    globalThis.history.pushState(null, "", now)
    registry.set(addressProblem, undefined)
  }, [registry, shown])
  return (
    <nav aria-label={appTexts.views}>
      <ul>
        {views.map((entry) => (
          <Entry key={entry.id} entry={entry} isCurrent={entry.id === current} />
        ))}
      </ul>
    </nav>
  )
}

/** What is wrong with the address that was opened, or with what the key is for. */
const Lines = () =>
  [useAtomValue(addressProblem), useAtomValue(unseenWords)].map((words) =>
    words === undefined ? null : (
      <p key={words} role="status" className="note">
        {words}
      </p>
    )
  )

/** Ends the session, after a question if something would be lost by it: a browser asks too late to stay signed in. */
const SignOut = () => {
  const registry = useRegistry()
  const [isAsking, setAsking] = useState(false)
  const signOut = (): void => {
    loseAll()
    globalThis.sessionStorage.clear()
    // Nothing of what was shown stays in memory.
    globalThis.location.replace(globalThis.location.pathname)
    registry.set(session, undefined)
  }
  const stay = (): void => setAsking(false)
  return (
    <>
      <button
        type="button"
        className="quiet"
        title={appTexts.signOut}
        aria-label={appTexts.signOut}
        onClick={() => (isUnsaved(registry) ? setAsking(true) : signOut())}
      >
        <Icon name="leave" />
        <span>{appTexts.signOut}</span>
      </button>
      {isAsking ? (
        <Dialog title={appTexts.signOut} onClose={stay}>
          <p>{appTexts.unsaved}</p>
          <div className="buttons">
            <button type="button" onClick={stay}>
              {appTexts.staySignedIn}
            </button>
            <button type="button" className="danger" onClick={signOut}>
              {appTexts.signOutAnyway}
            </button>
          </div>
        </Dialog>
      ) : null}
    </>
  )
}

const Head = ({ current }: { readonly current: Session }) => {
  const words = useAtomValue(rightsWords)
  return (
    <header>
      <div className="brand">
        <strong>
          <Logo />
          <span>{appTexts.name}</span>
        </strong>
        <span className="target">{current.host?.name ?? current.baseUrl}</span>
      </div>
      <Navigation />
      <span className="rights">{words}</span>
      <div className="account">
        <ColourSwitch />
        <SignOut />
      </div>
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

/** The addresses that were pasted. */
const Pasted = () => {
  const addresses = useAtomValue(pasted)
  return addresses === undefined ? null : <PastedDialog begun={addresses} />
}

/** The view that is shown, or why the key opens none. */
const Shown = () => {
  const shown = useAtomValue(view)
  const entry = views.find(({ id }) => id === shown)
  const reason = useAtomValue(missing(entry?.needs))
  if (reason !== undefined) {
    return (
      <section>
        <h1>{sharedTexts.views[shown]}</h1>
        <p>{reason}</p>
      </section>
    )
  }
  return (
    <>
      {shown === "contacts" ? (
        <Boundary>
          <ContactsView>
            <FindBox />
          </ContactsView>
        </Boundary>
      ) : null}
      {shown === "lists" ? <ListsView /> : null}
      {shown === "overview" ? <OverviewView /> : null}
      {shown === "import" ? <ImportView /> : null}
      {shown === "export" ? <ExportView /> : null}
      {shown === "keys" ? <KeysView /> : null}
      {shown === "history" ? <RunsView /> : null}
    </>
  )
}

const Views = ({ current }: { readonly current: Session }) => {
  const asked = useAtomValue(rights)
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
      <main ref={main}>
        <AwayLine />
        <Lines />
        <ReadProblem of={asked} />
        <Pasted />
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
