/** How much is measured. Less of it is for working on a benchmark. */

const fewestRounds = 7
const allRows = 1_000_000
const allAttackSeconds = 8

/** A whole number from the environment; a run with another one would end in figures that mean nothing. */
const setting = (name: string, otherwise: number): number => {
  const text = process.env[name]
  if (text === undefined) return otherwise
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  process.stderr.write(
    `${name} is ${JSON.stringify(text)}. Give it a whole number, or leave it out for ${otherwise}.\n`
  )
  process.exit(2)
}

/** The rounds of a benchmark: `ROSTER_BENCH_ROUNDS`. */
export const rounds = setting("ROSTER_BENCH_ROUNDS", fewestRounds)

/** The rows of the large imports and exports: `ROSTER_BENCH_ROWS`. */
export const manyRows = setting("ROSTER_BENCH_ROWS", allRows)

/** How long each attack goes on, in seconds: `ROSTER_ATTACK_SECONDS`. */
export const attackSeconds = setting("ROSTER_ATTACK_SECONDS", allAttackSeconds)

/** Texts in the names of the attacks to carry out, with `|` between them: `ROSTER_ATTACK` (default: all). */
export const chosenAttacks = (process.env["ROSTER_ATTACK"] ?? "").split("|")

/** Whether what is found is as much as a median takes, of the rows that the claims are about. */
export const worthKeeping =
  rounds >= fewestRounds && manyRows === allRows && attackSeconds >= allAttackSeconds && chosenAttacks.includes("")
