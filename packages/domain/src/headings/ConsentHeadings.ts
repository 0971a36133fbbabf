/** Which headings are those of columns that say who wants mail. (docs/decisions/csv.md) */
import { bareName } from "./KnownHeadings.ts"

/** Parts of headings, as `bareName` has them. */
const partsOf = (texts: string): ReadonlyArray<string> => texts.split(" ").map(bareName)

const isIn = (parts: ReadonlyArray<string>, text: string): boolean => parts.some((part) => text.includes(part))

/** Parts of headings of columns whose yes, or whose time, says that a person wants no mail. */
const left = partsOf(
  "unsub optout optedout blacklist blocklist suppress spamreport complain objection revoked withdraw robinson deactivated " +
    // German, French, Spanish, Italian
    "abgemeldet abmeld abbestell widerruf widersproch widerspruch ausgetragen gesperrt sperrvermerk deaktiviert austragen " +
    "desabonn desinscri desinscription refus opposition desuscri disiscri cancellazione revoca opposizione " +
    // Polish, Romanian, Dutch
    "wypis rezygn sprzeciw wycofan dezabon retras afgemeld afmeld uitgeschreven uitschrij " +
    // Russian, Ukrainian
    "отпис отказ відпис відмов"
)

/** Parts of headings of columns whose no says that a person wants no mail. */
const wants = partsOf(
  "optin optedin newsletter marketing consent subscri mailinglist permission mailing mailable contactable promotion promoemail informed updates gdpr dsgvo rgpd " +
    "einwillig zustimm werbung werbemail abonn abonat abonar zapisan angemeldet rundbrief infomail consentement infolettre lettredinformation " +
    "inscrit prospection consentimiento suscri boletin publicidad consenso iscri zgod subskryp biuletyn consimtamant buletin acordmarketing " +
    "acordemail toestemming nieuwsbrief aangemeld ingeschreven inschrijv соглас подпис рассылк маркетинг згод підпис розсилк"
)

/** Parts of headings that mean mail beside another channel. */
const mail = partsOf(
  "email newsletter courriel correo postaelettronica poczteelektr pocztaelektr электрон електрон рассылк розсилк"
)

/** Parts of headings that mean what is sent to people, and words of sending, receiving and writing to them. */
const messages = [
  ...mail,
  ...wants,
  ...partsOf(
    "mail bulk contact kontakt contatt news angebot anschreib angeschrieben recevoir recib ricever ontvang nouvelle offre comunica kommunik " +
      "communic enviar envoyer inviar verzend wysyl wysył market otrzym trimite primi писать отправл получ беспоко надсил писати отрим турбу disturb"
  )
]

/** Words that turn a heading round, unless they end it: "Newsletter no" is a number. */
const denials = new Set(
  "no not dont donot never kein keine keinen keinerlei nicht nie pas non sin niet geen nu не без".split(" ")
)

/** Parts of headings that something ends, which turn those round that mean mail. */
const ends = partsOf("cancel disabl stop exclu remov blocked sperre annul dadodebaja fechadebaja исключ виключ")

/** Words of allowing and wishing, by which a heading that means mail says who wants it. */
const wishes = new Set(
  (
    "accept accepts accepted agree agrees agreed allow allows allowed can may ok okay receive receives send sends want wants wish wishes like " +
    "interested permitted me preference preferences darf erlaubt erwunscht gewunscht mochte accepte autorise souhaite veut acepta " +
    "autoriza desea quiere accetta autorizza desidera vuole wil mag chce accepta doreste хочет хоче можно можна"
  ).split(" ")
)

/** Parts of headings that mean another channel, and words that do so alone: "Telefon", "Direct Mail", "Post". */
const otherChannels = partsOf(
  "sms whatsapp phone telefon telefoon telephone telef mobile mobil handy fax push anruf appel llamada chiamata directmail postal postweg " +
    "perpost viapost bypost briefpost postwerbung mailingaddress телефон смс"
)
const otherChannelWords = new Set("tel call calls post mms letter letters courrier звонки дзвінки".split(" "))

/** The last words of headings of when and how a consent was given, which keep mail from nobody. */
const givenAt = new Set("time date timestamp datetime at on ip source method am datum fecha data дата".split(" "))

/** The words of a heading, without accents: "unsubscribedAt" and "unsubscribed_at" have two. */
const wordsIn = (name: string): ReadonlyArray<string> =>
  name
    .replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, " ")
    .normalize("NFD")
    .replaceAll(/[\p{M}'’]/gu, "")
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? []

/** Whether a word turns a heading round: "no", and "nomail" or "donotbulkemail". */
const isDenial = (word: string): boolean =>
  denials.has(word) ||
  [...denials].some(
    (denial) => word.startsWith(denial) && messages.some((part) => word.startsWith(part, denial.length))
  )

/** Headings whose no is no Active contact. */
const actives = new Set(
  "active isactive aktiv actif activo attivo actief activ aktywny активен активный активний".split(" ").map(bareName)
)

/** Words of headings of a status, whose cells have to say whether they are of mail. */
const statusWords = new Set("status statut etat estado stato stan stare стан статус".split(" "))

/** What yes in a column means: that a person wants mail, or left; `Status` where words alone can say so. */
export type ConsentMeaning = "Wants" | "Left" | "Status"

/** What a column of this heading may say of who wants mail; `undefined` for none, or for another channel than mail. */
export const consentOfHeading = (name: string): ConsentMeaning | undefined => {
  const bare = bareName(name)
  const words = wordsIn(name)
  const isOfMail = isIn(messages, bare)
  const isTurned =
    isOfMail &&
    (isIn(ends, bare) || words.some((word, at) => isDenial(word) && (at < words.length - 1 || !denials.has(word))))
  const isLeft = isTurned || isIn(left, bare) || (words.includes("baja") && words.length < 4)
  const isWanted =
    (actives.has(bare) || isIn(wants, bare) || (isOfMail && words.some((word) => wishes.has(word)))) &&
    !givenAt.has(words.at(-1) ?? "")
  const isStatus = bare.endsWith("status") || words.some((word) => statusWords.has(word))
  if (!isLeft && !isWanted && !isStatus) return undefined
  const isOther = isIn(otherChannels, bare) || words.some((word) => otherChannelWords.has(word))
  return isOther && !isIn(mail, bare) ? undefined : isLeft ? "Left" : isWanted ? "Wants" : "Status"
}
