/** Faults of name resolution and of connecting: overrides the resolver of this process for one name. */
import { Effect } from "effect"
import dns from "node:dns"

/** The result of a look-up: an address, or the code of its failure. */
export type LookUp = { readonly address: string } | { readonly code: "ENOTFOUND" | "EAI_AGAIN" }

/** A local address without a faulty server, so connecting to it is refused. */
export const refusing: LookUp = { address: "127.0.0.2" }

/** The address that faulty servers listen on. */
export const reachable: LookUp = { address: "127.0.0.1" }

/**
 * Answers look-ups of a name in order, repeating the last answer, while the scope is open. Returns the number of
 * look-ups so far.
 */
export const faultResolver = (name: string, answers: ReadonlyArray<LookUp>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const original = dns.lookup
      let made = 0
      const replaced = (hostname: string, ...rest: ReadonlyArray<unknown>): void => {
        const callback = rest.at(-1)
        if (hostname !== name || typeof callback !== "function") {
          // Passed on unchanged: the overloads of `lookup` cannot be told apart here.
          Reflect.apply(original, dns, [hostname, ...rest])
          return
        }
        const answer = answers[Math.min(made++, answers.length - 1)] ?? refusing
        const wantsAll = typeof rest[0] === "object" && rest[0] !== null && "all" in rest[0] && rest[0].all === true
        queueMicrotask(() => {
          if ("code" in answer) {
            const error = Object.assign(new Error(`getaddrinfo ${answer.code} ${name}`), {
              code: answer.code,
              syscall: "getaddrinfo",
              hostname: name
            })
            Reflect.apply(callback, undefined, [error])
          } else if (wantsAll) Reflect.apply(callback, undefined, [null, [{ address: answer.address, family: 4 }]])
          else Reflect.apply(callback, undefined, [null, answer.address, 4])
        })
      }
      Object.defineProperty(dns, "lookup", { value: replaced, configurable: true, writable: true })
      return {
        count: () => made,
        restore: () => Object.defineProperty(dns, "lookup", { value: original, configurable: true, writable: true })
      }
    }),
    ({ restore }) => Effect.sync(restore)
  ).pipe(Effect.map(({ count }) => ({ count })))
