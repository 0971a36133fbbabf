/** Says of the name of a new custom field that it is nearly that of another field, and takes that one. (docs/decisions/records.md) */
import { FieldNames } from "@roster/domain/internal"
import { nearField } from "@roster/workflows"
import { useAtomValue } from "../kit/Atoms.tsx"
import * as AppliedRule from "../rules/AppliedRule.ts"

export const NearField = ({ name, onTake }: { readonly name: string; readonly onTake: (name: string) => void }) => {
  const inUse = useAtomValue(AppliedRule.knownFields)
  const known = (inUse?.fields ?? []).flatMap(({ isCustom, name }) => (isCustom ? [name] : []))
  const folded = FieldNames.foldName(name.trim())
  if (inUse === undefined || folded === "" || known.some((one) => FieldNames.foldName(one) === folded)) return null
  const near = nearField(name, known)
  if (near === undefined) return null
  return (
    <p className="note" role="status">
      No contact has this field, and there is <bdi>{near}</bdi>.{" "}
      {known.includes(near) ? (
        <button type="button" onClick={() => onTake(near)}>
          It is <bdi>{near}</bdi>
        </button>
      ) : null}
    </p>
  )
}
