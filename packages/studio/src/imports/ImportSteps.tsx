/** The steps of an import: which of them can be looked at, what each came to, and the way between them. */
import { AsyncResult, Atom, type AtomRegistry } from "effect/reactivity"
import { type ReactNode, useEffect, useRef } from "preact/compat"
import { useAtom, useAtomSet, useAtomValue } from "../kit/Atoms.tsx"

import { Icon } from "../kit/Icon.tsx"
import { problemOf } from "../kit/Problem.tsx"
import { importTexts } from "../texts/ImportTexts.ts"
import { number } from "../texts/Language.ts"
import * as ImportApply from "./ImportApply.ts"
import * as ImportFile from "./ImportFile.ts"
import * as ImportPlan from "./ImportPlan.ts"

const titles = importTexts.stepTitles

export type Step = keyof typeof titles

const steps = ["file", "columns", "check", "plan", "done"] as const satisfies ReadonlyArray<Step>

const isPlanThere = Atom.readable(
  (get): boolean =>
    get(ImportPlan.isPlanning) || get(ImportPlan.planned) !== undefined || problemOf(get(ImportPlan.plan)) !== undefined
)

/** The number of steps that can be looked at. */
const reached = Atom.readable((get): number => {
  if ((get(ImportFile.seen)?.columns.length ?? 0) === 0) return 1
  if (!get(isPlanThere)) return 3
  const applied = get(ImportApply.apply)
  return AsyncResult.isInitial(applied) && !applied.waiting ? 4 : 5
})

const wanted = Atom.keepAlive(Atom.make<Step>("file"))

/** The step that is shown: the one that a person went to, or the last one before it that can be looked at. */
export const step = Atom.writable(
  (get): Step => steps[Math.min(steps.indexOf(get(wanted)), get(reached) - 1)] ?? "file",
  (context, to: Step) => context.set(wanted, to)
)

/** Begins with a file, or without one. */
export const begin = (registry: AtomRegistry.AtomRegistry, file: File | undefined): void => {
  registry.set(wanted, "file")
  ImportApply.choose(registry, file)
}

/** What each step came to, in a few words; empty before that is known. */
const results = Atom.readable((get): Readonly<Record<Step, string>> => {
  const found = get(ImportFile.seen)
  const columns = get(ImportFile.columns)
  const mail = get(ImportFile.mail)
  const summary = get(ImportPlan.planned)?.summary
  const applied = get(ImportApply.apply)
  const of = importTexts.results
  const taken = columns.filter(({ field }) => field !== null).length
  return {
    file: found === undefined ? "" : importTexts.rowCount(found.read),
    columns: found === undefined ? "" : of.columns(taken, columns.length),
    check: mail === undefined ? "" : of.check(mail.willNot),
    plan: summary === undefined ? "" : of.plan(summary.new, summary.changed + summary.onlyLists),
    done: AsyncResult.isSuccess(applied) && !applied.waiting ? of.done(applied.value.done) : ""
  }
})

/** All steps, with what they came to. Those that can be looked at lead there. */
export const Steps = () => {
  const [at, setStep] = useAtom(step)
  const last = useAtomValue(reached)
  const of = useAtomValue(results)
  const current = steps.indexOf(at)
  return (
    <ol className="steps" aria-label={importTexts.steps}>
      {steps.map((one, index) => (
        <li key={one}>
          <button
            type="button"
            disabled={index >= last}
            aria-current={one === at ? "step" : undefined}
            onClick={() => setStep(one)}
          >
            <span className="at">{index < current ? <Icon name="done" /> : number(index + 1)}</span>
            <span>
              {titles[one]} <small>{index < last ? of[one] : ""}</small>
            </span>
          </button>
        </li>
      ))}
    </ol>
  )
}

/** The place of a step, where whoever goes on from the one before begins. */
export const StepSection = ({ at, children }: { readonly at: Step; readonly children: ReactNode }) => {
  const heading = useRef<HTMLHeadingElement>(null)
  const before = useRef(at)
  useEffect(() => {
    if (before.current !== at) heading.current?.focus()
    before.current = at
  }, [at])
  return (
    <section className="step" aria-labelledby="import-step">
      <h2 id="import-step" ref={heading} tabIndex={-1} className="unseen">
        {importTexts.stepHeading(steps.indexOf(at) + 1, titles[at])}
      </h2>
      {children}
    </section>
  )
}

/** What leads on from a step, and back, below it. */
export const StepActions = ({ at, children }: { readonly at: Step; readonly children: ReactNode }) => {
  const setStep = useAtomSet(step)
  const back = steps[steps.indexOf(at) - 1]
  return (
    <div className="buttons actions">
      {back === undefined ? null : (
        <button type="button" onClick={() => setStep(back)}>
          {importTexts.back}
        </button>
      )}
      {children}
    </div>
  )
}

/** Leads on to a step. */
export const Continue = ({ isFixed, to }: { readonly to: Step; readonly isFixed: boolean }) => {
  const setStep = useAtomSet(step)
  return (
    <button type="button" className="primary" disabled={isFixed} onClick={() => setStep(to)}>
      {importTexts.goOn}
    </button>
  )
}
