/** What deletes or changes back is asked for twice where the profile of the service is protected, as on the command line. */
import { type ReactNode, useState } from "preact/compat"
import { useAtomValue } from "../kit/Atoms.tsx"
import { appTexts } from "../texts/AppTexts.ts"
import { session } from "./Session.ts"

const Typed = ({
  children,
  is,
  onSure
}: {
  readonly is: string
  readonly onSure: (isSure: boolean) => void
  readonly children: ReactNode
}) => {
  const [typed, setTyped] = useState("")
  return (
    <label className="wide">
      {children}
      <input
        autoComplete="off"
        spellcheck={false}
        value={typed}
        onChange={({ currentTarget: { value } }) => {
          setTyped(value)
          onSure(value.trim() === is)
        }}
      />
    </label>
  )
}

/** Controls of which none works before the name of a protected profile, and the number of many contacts, is typed. */
export const Confirmed = ({
  children,
  count
}: {
  readonly children: ReactNode
  /** The number of contacts to type, if there are many. */
  readonly count?: number | undefined
}) => {
  const name = useAtomValue(session)?.host?.protectedBy
  const [isNamed, setNamed] = useState(false)
  const [isCounted, setCounted] = useState(false)
  if (name === undefined && count === undefined) return children
  return (
    <>
      {name === undefined ? null : (
        <Typed is={name} onSure={setNamed}>
          {appTexts.typeProfile(<bdi>{name}</bdi>)}
        </Typed>
      )}
      {count === undefined ? null : (
        <Typed is={String(count)} onSure={setCounted}>
          {appTexts.typeCount(count)}
        </Typed>
      )}
      <fieldset className="needs" disabled={(name !== undefined && !isNamed) || (count !== undefined && !isCounted)}>
        {children}
      </fieldset>
    </>
  )
}
