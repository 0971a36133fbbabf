/** Which columns say who wants mail: by what their heading means and what their cells say. (docs/decisions/csv.md) */
import { parseWireDate } from "../values/WireDate.ts"
import { yesOrNo } from "../kinds/YesNo.ts"
import { bareName } from "./KnownHeadings.ts"

/** Parts of headings, as `bareName` has them. */
const partsOf = (texts: string): ReadonlyArray<string> => texts.split(" ").map(bareName)

const isIn = (parts: ReadonlyArray<string>, text: string): boolean => parts.some((part) => text.includes(part))

/** Parts of headings of columns whose yes, or whose time, says that a person wants no mail. */
const left = partsOf(
  "unsub optout optedout notsubscri notoptedin donotmail donotemail donotcontact donotsend dontmail dontemail dontcontact nomail noemail nonewsletter " +
    "nomarketing blacklist blocklist blocked suppress spamreport complain objection revoked withdrawn " +
    // German, French, Spanish, Italian
    "abgemeldet abmeld abbestell widerruf widersproch widerspruch ausgetragen keinewerbung keinnewsletter keinenewsletter keinemail " +
    "keinee-mail keinee-mails keinkontakt nichtabonn nichtangemeldet nichtmail nichtkontakt nichtanschreib werbesperre gesperrt desabonn desinscri desinscription refus nepascontacter nepasenvoyer pasdemail nonabonn noninscri opposition " +
    "noenviar nocontactar nosuscri desuscri disiscri cancellazione noncontattare noninviare noniscri revoca opposizione " +
    // Polish, Romanian, Dutch
    "wypis rezygn niewysyla niekontakt sprzeciw wycofan dezabon nucontact nutrimite retras afgemeld afmeld uitgeschreven " +
    "uitschrijv nietmailen geenmail geene-mail geennieuwsbrief nietaangemeld nietingeschreven " +
    // Russian, Ukrainian
    "отпис неотправлять неписать нерассыл отказ відпис ненадсилати нерозсил відмов"
)

/** Parts of headings of columns whose no says that a person wants no mail. */
const wants = partsOf(
  "optin optedin newsletter marketing consent subscri mailinglist permission mailing acceptsemail acceptsmail allowemail allowmail " +
    "emailallowed emailable mailable wantsemail wantsmail receiveemail receivesemail receivemail promotional gdpr dsgvo rgpd " +
    "einwillig zustimm werbung abonn abonat abonar zapisan angemeldet rundbrief consentement infolettre lettredinformation inscrit prospection " +
    "consentimiento suscri boletin publicidad consenso iscri zgod subskryp biuletyn consimtamant buletin acordmarketing acordemail " +
    "toestemming nieuwsbrief aangemeld ingeschreven inschrijv соглас подпис рассылк маркетинг згод підпис розсилк"
)

/** Parts of headings that mean mail beside another channel. */
const mail = partsOf(
  "email newsletter courriel correo postaelettronica poczteelektr pocztaelektr электрон електрон рассылк розсилк"
)

/** Parts of headings that mean another channel, and words that do so alone: "Telefon", "Direct Mail", "Post". */
const otherChannels = partsOf(
  "sms whatsapp phone telefon telefoon telephone telef mobile mobil handy fax push anruf appel llamada chiamata directmail postal postweg " +
    "perpost viapost bypost briefpost postwerbung mailingaddress телефон смс"
)
const otherChannelWords = new Set("tel call calls post mms letter letters courrier звонки дзвінки".split(" "))

/** The last words of headings of when and how a consent was given, which keep mail from nobody. */
const givenAt = new Set("time date timestamp datetime at on ip source method am datum fecha data дата".split(" "))

/** The words of a heading: "unsubscribedAt" and "unsubscribed_at" have two. */
const wordsIn = (name: string): ReadonlyArray<string> =>
  name
    .replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, " ")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)

/**
 * Whether yes in a column of this heading says that a person wants mail, or left; `undefined` for a heading that says nothing
 * of it, or of another channel than mail.
 */
export const consentOfHeading = (name: string): "Wants" | "Left" | undefined => {
  const bare = bareName(name)
  const words = wordsIn(name)
  const isLeft = isIn(left, bare) || words.includes("baja")
  if (!isLeft && (!isIn(wants, bare) || givenAt.has(words.at(-1) ?? ""))) return undefined
  const isOther = isIn(otherChannels, bare) || words.some((word) => otherChannelWords.has(word))
  return isOther && !isIn(mail, bare) ? undefined : isLeft ? "Left" : "Wants"
}

const wordMap = (texts: Readonly<Record<"yes" | "no", string>>): ReadonlyMap<string, boolean> =>
  new Map(
    Object.entries(texts).flatMap(([says, words]) => words.split(",").map((word) => [word, says === "yes"] as const))
  )

/** Words of programs for yes and no. */
const moreAnswers = wordMap({
  yes: "granted,given,accepted,allowed,allow,explicit,implicit,confirmed",
  no: "denied,deny,declined,refused,revoked,withdrawn"
})

/** Words that say whether a person wants mail, below whatever heading they stand. */
const stances = wordMap({
  yes: "subscribed,opted in,opted-in,opted_in,opt-in,optin",
  no:
    "unsubscribed,opted out,opted-out,opted_out,opt-out,optout,never subscribed,never_subscribed,not subscribed,not_subscribed," +
    "non-subscribed,suppressed"
})

/** What stands in a cell for none. */
const nothing = new Set(["null", "\\n", "none", "n/a", "na", "nan", "nil", "undefined", "-"])
const noTime = /^0000-00-00/

/** Whether a text is a time, in any of the usual forms. */
const isTime = (text: string): boolean =>
  parseWireDate(text) !== undefined ||
  /^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}(?:$|[\sT,])/.test(text) ||
  /^(?:\d{10}|\d{13}|\d{8}T\d{6}Z?)$/.test(text) ||
  (/\b(?:19|20)\d{2}\b/.test(text) && /\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/i.test(text))

/** What a mapping says of the words of a column that says who wants mail. */
export interface ConsentColumn {
  /** The number of cells that say something. */
  readonly filled: number
  /** The number of those that say that a person wants no mail. */
  readonly refusals: number
  /** The status for each word that was found, empty for one that says nothing; `*` stands for all other texts. */
  readonly words: Readonly<Record<string, string>>
}

/** The share of cells that have to be answers or times. */
const enough = 0.95

const longestText = 60
const mostWords = 100

/** Looks at the cells of a column with such a heading. */
export interface ConsentTally {
  /** Takes the text of one or more cells, and says whether it says that the person wants no mail. */
  readonly add: (text: string, cells?: number) => boolean
  /** What the cells say, or `undefined` if they are no answers. */
  readonly found: () => ConsentColumn | undefined
}

/** Makes what looks at the cells of a column. Its memory does not grow with them. */
export const makeConsentTally = (meaning: "Wants" | "Left"): ConsentTally => {
  const words = new Map<string, readonly [word: string, status: string]>()
  let refusals = 0
  let answers = 0
  let times = 0
  let empty = 0
  let others = 0

  const refusalOf = (text: string): boolean | undefined => {
    const stance = stances.get(text)
    if (stance !== undefined) return !stance
    const answer = yesOrNo(text) ?? moreAnswers.get(text)
    return answer === undefined ? undefined : answer === (meaning === "Left")
  }

  const add = (cell: string, cells = 1): boolean => {
    const text = cell.slice(0, longestText + 1).trim()
    if (text === "") return false
    const folded = text.toLowerCase()
    const note = (status: string): void => {
      if (words.size < mostWords && !words.has(folded)) words.set(folded, [text, status])
    }
    const isRefusal = refusalOf(folded)
    if (isRefusal !== undefined) {
      answers += cells
      note(isRefusal ? "Unsubscribed" : "")
    } else if (nothing.has(folded) || noTime.test(folded)) {
      empty += cells
      note("")
    } else if (text.length <= longestText && isTime(text)) {
      times += cells
      if (meaning === "Left") refusals += cells
      return meaning === "Left"
    } else others += cells
    if (isRefusal === true) refusals += cells
    return isRefusal === true
  }

  const found = (): ConsentColumn | undefined => {
    const known = answers + times
    const filled = known + empty + others
    if (known === 0 || others > filled * (1 - enough)) return undefined
    // Where other texts stand beside the times of consents, nobody can say what they mean.
    const isAny = times > 0 && (meaning === "Left" || others === 0)
    const any = isAny ? { "*": meaning === "Left" ? "Unsubscribed" : "" } : {}
    return { filled, refusals, words: { ...Object.fromEntries(words.values()), ...any } }
  }
  return { add, found }
}
