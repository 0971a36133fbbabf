/** A new secret, shown once. The dialog ends only when the person says what became of the secret. */
import { Redacted } from "effect"
import { useRef, useState } from "preact/compat"
import { useAtom } from "../kit/Atoms.tsx"
import { Dialog } from "../kit/Dialog.tsx"
import { type ShownSecret, shownSecret } from "./KeyAtoms.ts"
import { kindNames } from "./KeyWords.ts"

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
    <Dialog title={`The secret of ${name}`}>
      <div className="stack">
        <p>
          This is the {kind === "smtp" ? "password" : "secret"} of the {kindNames[kind]}{" "}
          <bdi>
            <strong>{name}</strong>
          </bdi>
          . It is shown now and never again. Keep it where secrets are kept, such as a password manager.
        </p>
        <label className="wide">
          Secret
          <textarea ref={field} readOnly rows={2} spellcheck={false} value={Redacted.value(secret)} />
        </label>
        <button type="button" onClick={copy}>
          {isCopied ? "Copied" : "Copy"}
        </button>
        <label className="choice">
          <input type="checkbox" checked={isKept} onChange={(event) => setKept(event.currentTarget.checked)} />I have
          kept the secret
        </label>
        <div className="buttons">
          <button type="button" className="primary" disabled={!isKept} onClick={() => end(true)}>
            Done
          </button>
          {onKept === undefined ? null : (
            <button type="button" disabled={isKept} onClick={() => end(false)}>
              Throw it away, and keep the old one
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
