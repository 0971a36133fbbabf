/**
 * Transactions whose content follows from their number, and the content of a store after each: an oracle that needs to
 * know only how many were acknowledged.
 */

/** A transaction: contacts that are added or updated together, or removed together. */
export type PlannedWrite =
  | { readonly _tag: "Add"; readonly emails: readonly [string, ...Array<string>]; readonly mark: string }
  | { readonly _tag: "Delete"; readonly emails: readonly [string, ...Array<string>] }

const emailsOf = (number: number): readonly [string, ...Array<string>] => {
  const more = Array.from({ length: (number * 7) % 5 }, (_, index) => `t${number}-${index}@example.com`)
  return [`t${number}@example.com`, ...more]
}

/** Every adding transaction updates it, so there is a page that all of them write. */
const common = "common@example.com"

/** The transaction of a number, counted from 1: each fifth removes what the last but one added. */
export const plannedWrite = (number: number): PlannedWrite =>
  number % 5 === 0
    ? { _tag: "Delete", emails: emailsOf(number - 2) }
    : { _tag: "Add", emails: [...emailsOf(number), common], mark: `${number}.`.repeat(1 + ((number * 11) % 60)) }

/** A contact as a line of text. */
export const contactLine = (email: string, mark: string | null): string => `${email} ${mark}`

/** The content of a store after the given transactions, as sorted lines. */
export const contentOf = (numbers: ReadonlyArray<number>): string => {
  const held = new Map<string, string>()
  for (const number of numbers) {
    const write = plannedWrite(number)
    for (const email of write.emails) {
      if (write._tag === "Add") held.set(email, write.mark)
      else held.delete(email)
    }
  }
  return [...held]
    .map(([email, mark]) => contactLine(email, mark))
    .sort()
    .join("\n")
}

/**
 * A writer's output, and the contents that a store may have at that moment: everything acknowledged plus, completely or
 * not at all, the writes in flight and those with an unknown outcome.
 */
export const makeOracle = () => {
  const done: Array<number> = []
  const unknown: Array<number> = []
  const refused: Array<number> = []
  let sent: number | undefined
  let allowed: ReadonlyMap<string, ReadonlyArray<number>> | undefined

  const contents = () => {
    let all: ReadonlyArray<ReadonlyArray<number>> = [done]
    for (const number of sent === undefined ? unknown : [...unknown, sent]) {
      all = all.flatMap((some) => [some, [...some, number].sort((one, other) => one - other)])
    }
    return new Map(all.map((numbers) => [contentOf(numbers), numbers]))
  }

  return {
    done,
    refused,
    unknown,
    hear: (text: string) => {
      for (const [, what, digits] of text.matchAll(/^(sent|done|refused|unknown) (\d+)/gm)) {
        const number = Number(digits)
        sent = what === "sent" ? number : undefined
        if (what === "done") done.push(number)
        if (what === "refused") refused.push(number)
        if (what === "unknown") unknown.push(number)
        allowed = undefined
      }
    },
    allows: (content: string): boolean => {
      allowed ??= contents()
      return allowed.has(content)
    }
  }
}
