/** The import of a file: chosen, read, mapped, planned, applied, and undone. Nothing is stored before the plan is applied. */
import { AsyncResult } from "effect/reactivity"
import { useEffect } from "preact/compat"
import { useAtom, useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { CommandLines } from "../session/CommandLine.tsx"
import { session, targetOf } from "../session/Session.ts"
import { importTexts } from "../texts/ImportTexts.ts"
import { sharedTexts } from "../texts/SharedTexts.ts"
import { ApplyStep } from "./ApplyStep.tsx"
import { CheckStep } from "./CheckStep.tsx"
import { ColumnsStep } from "./ColumnsStep.tsx"
import { FileStep } from "./FileStep.tsx"
import * as ImportFile from "./ImportFile.ts"
import * as ImportPlan from "./ImportPlan.ts"
import * as ImportApply from "./ImportApply.ts"
import { step, Steps, StepSection } from "./ImportSteps.tsx"
import { leftText } from "./ImportWords.ts"
import { PlanStep } from "./PlanStep.tsx"

/** Says what a reload of the page broke off. */
const Left = () => {
  const registry = useRegistry()
  const [left, setLeft] = useAtom(ImportApply.left)
  const current = useAtomValue(session)
  const applied = useAtomValue(ImportApply.apply)
  const planned = useAtomValue(ImportPlan.planned)
  const storage = useAtomValue(ImportApply.notes)
  const target = current && targetOf(current)
  useEffect(() => {
    if (target === undefined || !AsyncResult.isInitial(registry.get(ImportApply.apply))) return
    setLeft(ImportApply.readNote(storage, target))
  }, [registry, setLeft, storage, target])
  if (left === undefined || !AsyncResult.isInitial(applied) || applied.waiting) return null
  return (
    <div className="note stack" role="status">
      <p>{leftText(left, { digest: planned?.digest, keepsRuns: current?.host !== undefined })}</p>
      <button type="button" onClick={() => ImportApply.forgetLeft(registry)}>
        {importTexts.forget}
      </button>
    </div>
  )
}

const Commands = () => {
  const commands = useAtomValue(ImportPlan.commands)
  const isCorrected = useAtomValue(ImportPlan.corrections).size > 0
  return (
    <>
      {isCorrected ? <p>{importTexts.planHasCorrections}</p> : null}
      <CommandLines commands={commands} />
    </>
  )
}

const Shown = () => {
  const at = useAtomValue(step)
  const seen = useAtomValue(ImportFile.seen)
  const applied = useAtomValue(ImportApply.apply)
  const isFixed = applied.waiting || AsyncResult.isSuccess(applied)
  if (at === "plan") return <PlanStep />
  if (at === "done") return <ApplyStep />
  return (
    <fieldset disabled={isFixed} className="plain">
      {at === "file" || seen === undefined ? (
        <FileStep />
      ) : at === "columns" ? (
        <ColumnsStep sight={seen} />
      ) : (
        <CheckStep />
      )}
    </fieldset>
  )
}

export const ImportView = () => {
  const at = useAtomValue(step)
  return (
    <section className="imports" aria-labelledby="import-title">
      <h1 id="import-title">{sharedTexts.views.import}</h1>
      <Left />
      <Steps />
      <StepSection at={at}>
        <Shown />
      </StepSection>
      {at === "plan" || at === "done" ? <Commands /> : null}
    </section>
  )
}
