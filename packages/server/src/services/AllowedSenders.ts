/**
 * Who mail may come from.
 */
import { canonicalEmail } from "@roster/domain"

/** The address of a From line: `Name <address>`, or the address alone. */
export const senderAddress = (from: string): string => (/<([^<>]*)>\s*$/.exec(from)?.[1] ?? from).trim()

/**
 * Whether an address matches one of the patterns: an address, or `*@example.com` or `example.com` for all of a domain.
 */
export const isAllowedSender = (address: string, patterns: ReadonlyArray<string>): boolean => {
  const identity = canonicalEmail(address)
  return patterns.some((pattern) => {
    const allowed = canonicalEmail(pattern)
    const domain = allowed.includes("@") ? (allowed.startsWith("*@") ? allowed.slice(1) : undefined) : `@${allowed}`
    return domain === undefined ? identity === allowed : identity.endsWith(domain)
  })
}
