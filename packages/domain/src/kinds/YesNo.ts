/** The words for yes and no that files have, in the ten languages of headings and as programs write them. */

const wordsOf = (texts: string): ReadonlyArray<string> => texts.split(" ")

const yes = wordsOf(
  "yes y true t 1 1.0 on x ✓ ✔ ☑ ✅ ja j wahr oui o vrai si sí s verdadero vero tak prawda da adevărat adevarat waar да истина так істина"
)
const no = wordsOf(
  "no n false f 0 0.0 off ✗ ✘ ☐ ❌ nein falsch non faux falso nie fałsz nu fals nee onwaar нет ложь ні хибність"
)

const answers = new Map([
  ...yes.map((word) => [word.normalize("NFC"), true] as const),
  ...no.map((word) => [word.normalize("NFC"), false] as const)
])

/** Whether a text says yes or no, in any letter case; `undefined` for other texts. */
export const yesOrNo = (text: string): boolean | undefined =>
  text.length > 40 ? undefined : answers.get(text.trim().toLowerCase().normalize("NFC"))
