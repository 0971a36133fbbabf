/** A new secret, shown once. The dialog ends only when the person says what became of the secret. */
import { Redacted } from "effect"
import { useRef, useState } from "preact/compat"
import { useAtom } from "../kit/Atoms.tsx"
import { Dialog } from "../kit/Dialog.tsx"
import { keyTexts } from "../texts/KeyTexts.ts"
import { sharedTexts } from "../texts/SharedTexts.ts"
import { type ShownSecret, shownSecret } from "./KeyAtoms.ts"

const Secret = ({ onClose, shown }: { readonly shown: ShownSecret; readonly onClose: () => void }) => {
  const { kind, name, onKept, secret } = shown
  const [isKept, setKept] = useState(false)
  const [isCopied, setCopied] = useState(false)
  const field = useRef<HTMLTextAreaElement>(null)
  const copy = async () => {
    const { clipboard } = globalThis.navigator
    // A page over plain http has none, so the secret is only selected.
    field.current?.select()
    if (clipboard === undefined) return
    await clipboard.writeText(Redacted.value(secret))
    setCopied(true)
  }
  const end = (isDone: boolean): void => {
    onKept?.(isDone)
    onClose()
  }
  return (
    <Dialog title={keyTexts.secretOf(name)}>
      <div className="stack">
        <p>
          {keyTexts.shownOnce[kind](
            <bdi>
              <strong>{name}</strong>
            </bdi>
          )}
        </p>
        <label className="wide">
          {keyTexts.secret}
          <textarea ref={field} readOnly rows={2} spellcheck={false} value={Redacted.value(secret)} />
        </label>
        <button type="button" onClick={copy}>
          {isCopied ? sharedTexts.copied : sharedTexts.copy}
        </button>
        <label className="choice">
          <input type="checkbox" checked={isKept} onChange={(event) => setKept(event.currentTarget.checked)} />
          {keyTexts.haveKept}
        </label>
        <div className="buttons">
          <button type="button" className="primary" disabled={!isKept} onClick={() => end(true)}>
            {keyTexts.done}
          </button>
          {onKept === undefined ? null : (
            <button type="button" disabled={isKept} onClick={() => end(false)}>
              {keyTexts.throwAway}
            </button>
          )}
        </div>
      </div>
    </Dialog>
  )
}

export const SecretDialog = () => {
  const [shown, setShown] = useAtom(shownSecret)
  return shown === undefined ? null : <Secret key={shown.name} shown={shown} onClose={() => setShown(undefined)} />
}
