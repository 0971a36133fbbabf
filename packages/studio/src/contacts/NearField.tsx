/** Says of a new name that it is nearly that of another field or list, and takes that one. (docs/decisions/records.md) */
import { FieldNames } from "@roster/domain/internal"
import { nearField } from "@roster/workflows"
import type { ReactNode } from "preact/compat"
import { useAtomValue } from "../kit/Atoms.tsx"
import * as AppliedRule from "../rules/AppliedRule.ts"
import { cardTexts } from "../texts/CardTexts.ts"
import { sharedTexts } from "../texts/SharedTexts.ts"

/** The name that may be meant, and what else can be said. */
export const Near = ({
  children,
  near,
  onTake,
  what
}: {
  readonly near: string
  /** Takes that name; where it cannot be written here, it is only said. */
  readonly onTake?: ((name: string) => void) | undefined
  /** What is said of the new name, with the other one in it. */
  readonly what: (near: ReactNode) => ReactNode
  readonly children?: ReactNode
}) => (
  <p className="note" role="status">
    {what(<bdi>{near}</bdi>)}{" "}
    {onTake === undefined ? null : (
      <button type="button" onClick={() => onTake(near)}>
        {sharedTexts.itIs(<bdi>{near}</bdi>)}
      </button>
    )}{" "}
    {children}
  </p>
)

export const NearField = ({ name, onTake }: { readonly name: string; readonly onTake: (name: string) => void }) => {
  const inUse = useAtomValue(AppliedRule.knownFields)
  const known = (inUse?.fields ?? []).flatMap(({ isCustom, name }) => (isCustom ? [name] : []))
  const folded = FieldNames.foldName(name.trim())
  if (inUse === undefined || folded === "" || known.some((one) => FieldNames.foldName(one) === folded)) return null
  const near = nearField(name, known)
  return near === undefined ? null : (
    <Near near={near} onTake={known.includes(near) ? onTake : undefined} what={cardTexts.nearField} />
  )
}
