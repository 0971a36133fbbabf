/** Parts of the page that are fetched later. The place of a part is never empty, whatever fails: it says so, and what to do. */
import { Component, type ComponentType, type ReactNode, useEffect, useState } from "preact/compat"
import { sharedTexts } from "../texts/SharedTexts.ts"
import { Problem } from "./Problem.tsx"

const { newVersion } = sharedTexts

const Failed = ({ message, onRetry }: { readonly message: string; readonly onRetry: () => void }) => (
  <div className="stack">
    <Problem message={message} />
    <button type="button" onClick={onRetry}>
      {message === newVersion ? sharedTexts.reload : sharedTexts.tryAgain}
    </button>
  </div>
)

/** Shows its children, or that they failed, while everything around them goes on. */
export class Boundary extends Component<{ readonly children: ReactNode }, { readonly isFailed: boolean }> {
  static override getDerivedStateFromError = () => ({ isFailed: true })
  override state = { isFailed: false }
  override render() {
    return this.state.isFailed ? (
      <Failed message={sharedTexts.partFailed} onRetry={() => this.setState({ isFailed: false })} />
    ) : (
      this.props.children
    )
  }
}

/** Why a part could not be fetched: the service may have other files by now, whose names differ. */
const whyNot = async (): Promise<string> => {
  const own = document.querySelector("script[src]")?.getAttribute("src") ?? ""
  try {
    const answer = await fetch(globalThis.location.pathname, { cache: "no-store", credentials: "omit" })
    if (answer.ok && !(await answer.text()).includes(own)) return newVersion
  } catch {
    // The service cannot be reached, which the next sentence says.
  }
  return sharedTexts.notLoaded
}

/** What fetches each part, in the order in which the modules of the page name them. */
const parts: Array<() => Promise<unknown>> = []

/** Fetches all parts, one after the other, so that later none has to be waited for. What fails is fetched when it is needed. */
export const loadRest = async (): Promise<void> => {
  for (const load of parts) await load().catch(() => undefined)
}

/** Makes a component of one that is fetched when it is shown, or by `loadRest`. */
export const later = <P extends object>(
  load: () => Promise<ComponentType<P>>,
  meanwhile: ReactNode = null
): ComponentType<P> => {
  let loaded: ComponentType<P> | undefined
  let loading: Promise<void> | undefined
  const start = (): Promise<void> =>
    (loading ??= load().then(
      (component) => {
        loaded = component
      },
      (error: unknown) => {
        loading = undefined
        throw error
      }
    ))
  parts.push(start)
  return (props) => {
    const [problem, setProblem] = useState<string | undefined>(undefined)
    const [attempt, setAttempt] = useState(0)
    const [, setShown] = useState(loaded !== undefined)
    useEffect(() => {
      let isThere = loaded === undefined
      if (!isThere) return
      const failed = async (): Promise<void> => {
        const why = await whyNot()
        if (isThere) setProblem(why)
      }
      start().then(
        () => isThere && setShown(true),
        () => failed()
      )
      return () => {
        isThere = false
      }
    }, [attempt])
    const retry = (): void => {
      if (problem === newVersion) globalThis.location.reload()
      setProblem(undefined)
      setAttempt(attempt + 1)
    }
    if (loaded !== undefined) {
      const Part = loaded
      return (
        <Boundary>
          <Part {...props} />
        </Boundary>
      )
    }
    return problem === undefined ? <>{meanwhile}</> : <Failed message={problem} onRetry={retry} />
  }
}
