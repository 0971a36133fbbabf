/** What pasted addresses are, known, unknown, repeated or none, and what can be done with each. */
import { AsyncResult } from "effect/reactivity"
import { useEffect, useState } from "preact/compat"
import { useAtom, useAtomSet, useAtomValue, useRegistry } from "../kit/Atoms.tsx"

import { Dialog } from "../kit/Dialog.tsx"
import { download } from "../kit/Download.ts"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { missing } from "../session/Rights.tsx"
import * as ContactAtoms from "../contacts/ContactAtoms.ts"
import { addressFileName, wanted } from "../contacts/ContactSelection.ts"
import { addressFile, corrected, type LookedUp, lookUpAll } from "./PastedAddresses.ts"
import { pasted } from "./PastedText.ts"
import { findTexts } from "../texts/FindTexts.ts"
import { sharedTexts, shortened } from "../texts/SharedTexts.ts"

/** The most addresses of a kind that are listed. */
const listed = 100

/** Copies addresses, one a line; a page over plain http has no clipboard. */
const Copy = ({ addresses, title }: { readonly addresses: ReadonlyArray<string>; readonly title: string }) => {
  const [isCopied, setCopied] = useState(false)
  const { clipboard } = globalThis.navigator
  if (clipboard === undefined) return null
  const copy = async (): Promise<void> => {
    await clipboard.writeText(addresses.join("\n"))
    setCopied(true)
  }
  return (
    <button type="button" onClick={copy} onBlur={() => setCopied(false)}>
      {isCopied ? sharedTexts.copied : title}
    </button>
  )
}

const save = (name: string, addresses: ReadonlyArray<string>): void =>
  download(name, new Blob([addressFile(addresses)], { type: "text/csv" }))

const Texts = ({ texts, title }: { readonly texts: ReadonlyArray<string>; readonly title: string }) => (
  <details>
    <summary>{title}</summary>
    <ul>
      {texts.slice(0, listed).map((text, at) => (
        <li key={at}>
          <bdi>{shortened(text)}</bdi>
        </li>
      ))}
      {texts.length > listed ? <li>{sharedTexts.andMore(texts.length - listed)}</li> : null}
    </ul>
  </details>
)

const Unknown = ({ unknown }: Pick<LookedUp, "unknown">) => {
  const want = useAtomSet(wanted)
  const close = useAtomSet(pasted)
  const reason = useAtomValue(missing("ModifyContacts"))
  const add = (): void => {
    close(undefined)
    want({ _tag: "AddMany", emails: unknown })
  }
  return (
    <section className="stack" aria-label={findTexts.unknown}>
      <Texts title={findTexts.nobodyHasThem(unknown.length)} texts={unknown} />
      <div className="bar">
        <button type="button" disabled={reason !== undefined} onClick={add}>
          {findTexts.add(unknown.length)}
        </button>
        <Copy title={findTexts.copyThem} addresses={unknown} />
        <button type="button" onClick={() => save(addressFileName, unknown)}>
          {findTexts.downloadThem}
        </button>
        {reason === undefined ? null : <span>{reason}</span>}
      </div>
    </section>
  )
}

const Others = ({ looked, onTake }: { readonly looked: LookedUp; readonly onTake: (text: string) => void }) => {
  const { others } = looked
  const meant = others.filter((one) => one.meant !== undefined).length
  return (
    <section className="stack" aria-label={findTexts.noAddresses}>
      <Texts
        title={findTexts.areNone(others.length)}
        texts={others.map(({ meant, text }) => (meant === undefined ? text : findTexts.meant(text, meant)))}
      />
      {meant === 0 ? null : (
        <button type="button" onClick={() => onTake(corrected(looked))}>
          {findTexts.take(meant)}
        </button>
      )}
    </section>
  )
}

const Result = ({ looked, onTake }: { readonly looked: LookedUp; readonly onTake: (text: string) => void }) => {
  const registry = useRegistry()
  const { addresses, known, others, repeated, unknown } = looked
  const choose = (): void => {
    registry.set(ContactAtoms.chosen, new Set(known))
    registry.set(ContactAtoms.onlyChosen, true)
    registry.set(pasted, undefined)
  }
  return (
    <>
      <p role="status">
        {findTexts.found(addresses.length, {
          known: known.length,
          unknown: unknown.length,
          repeated: repeated.length,
          others: others.length
        })}
      </p>
      {known.length === 0 ? null : (
        <button type="button" className="primary" onClick={choose}>
          {findTexts.choose(known.length)}
        </button>
      )}
      {unknown.length === 0 ? null : <Unknown unknown={unknown} />}
      {repeated.length === 0 ? null : (
        <section className="stack" aria-label={findTexts.repeated}>
          <Texts title={findTexts.areRepeated(repeated.length)} texts={repeated} />
          <div className="bar">
            <Copy title={findTexts.copyOnce} addresses={addresses} />
            <button type="button" onClick={() => save("addresses.csv", addresses)}>
              {findTexts.downloadOnce}
            </button>
          </div>
        </section>
      )}
      {others.length === 0 ? null : <Others looked={looked} onTake={onTake} />}
    </>
  )
}

export const PastedDialog = ({ begun }: { readonly begun: string }) => {
  const [text, setText] = useState(begun)
  const [looked, lookUp] = useAtom(lookUpAll)
  const close = useAtomSet(pasted)
  const [shown, setShown] = useState("")
  const look = (given: string): void => {
    setText(given)
    setShown(given)
    lookUp(given)
  }
  useEffect(() => {
    if (begun !== "") look(begun)
  }, [begun])
  const isCurrent = shown === text && shown !== ""
  return (
    <Dialog title={findTexts.title} onClose={() => close(undefined)}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          look(text)
        }}
      >
        <label className="wide">
          {findTexts.addresses}
          <textarea
            rows={5}
            value={text}
            spellcheck={false}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
        {isCurrent && !AsyncResult.isFailure(looked) ? null : (
          <button type="submit" className="primary" disabled={text.trim() === ""}>
            {findTexts.lookUp}
          </button>
        )}
      </form>
      <div className="stack">
        {looked.waiting ? <p role="status">{findTexts.lookingUp}</p> : null}
        {isCurrent && !looked.waiting ? (
          <>
            <Problem message={problemOf(looked)} />
            {AsyncResult.isSuccess(looked) ? <Result looked={looked.value} onTake={look} /> : null}
          </>
        ) : null}
      </div>
      <div className="buttons">
        <button type="button" onClick={() => close(undefined)}>
          {sharedTexts.close}
        </button>
      </div>
    </Dialog>
  )
}
