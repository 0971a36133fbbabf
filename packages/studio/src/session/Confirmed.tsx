/** What deletes or changes back is asked for twice where the profile of the service is protected, as on the command line. */
import { type ReactNode, useState } from "react"
import { useAtomValue } from "../kit/Atoms.tsx"
import { session } from "./Session.ts"

/** Controls of which none works before the name of a protected profile is typed. */
export const Confirmed = ({ children }: { readonly children: ReactNode }) => {
  const name = useAtomValue(session)?.host?.protectedBy
  const [typed, setTyped] = useState("")
  if (name === undefined) return children
  return (
    <>
      <label className="wide">
        The profile is protected. Type its name, <bdi>{name}</bdi>, to confirm
        <input autoComplete="off" spellCheck={false} value={typed} onChange={(event) => setTyped(event.target.value)} />
      </label>
      <fieldset className="needs" disabled={typed.trim() !== name}>
        {children}
      </fieldset>
    </>
  )
}
