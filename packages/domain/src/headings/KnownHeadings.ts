/** Which field of a contact a heading means that is not the name of one. It is proposed, and never taken for the field. */
import { addedFields } from "../contacts/ContactFields.ts"
import { editDistance } from "../values/DidYouMean.ts"

/** A heading as headings are compared: its letters and digits in lower case, without accents. */
export const bareName = (name: string): string =>
  name
    .normalize("NFD")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, "")

/** Names that files of the ten most spoken languages of Europe give to fields, between commas. (docs/decisions/csv.md) */
const otherNames: Readonly<Record<"Email" | "FirstName" | "LastName" | "Lists", ReadonlyArray<string>>> = {
  Email: [
    "Mail, Email Address, Mail Address",
    "E-Mail-Adresse, Mailadresse",
    "Adresse e-mail, Adresse mail, Adresse électronique, Adresse de courriel, Courriel",
    "Correo, Correo electrónico, Dirección de correo, Dirección de correo electrónico",
    "Indirizzo e-mail, Indirizzo mail, Indirizzo di posta elettronica, Posta elettronica",
    "Adres e-mail, Adres mailowy, Poczta elektroniczna",
    "Adresă de e-mail, Adresă e-mail, Poștă electronică",
    "E-mailadres, Mailadres",
    "Электронная почта, Эл. почта, Адрес электронной почты, Электронный адрес, Имейл",
    "Електронна пошта, Ел. пошта, Адреса електронної пошти, Електронна адреса"
  ],
  FirstName: [
    "Given name, Forename, Vorname, Prénom, Nombre de pila, Primer nombre, Nome di battesimo",
    "Imię, Prenume, Voornaam"
  ],
  LastName: [
    "Surname, Family name, Nachname, Familienname, Nom de famille, Apellido, Apellidos",
    "Primer apellido, Cognome, Nazwisko, Nume de familie, Achternaam, Familienaam, Фамилия, Прізвище"
  ],
  Lists: ["Mailing lists, Contact lists, Mailinglisten, Verteilerlisten, Listes de diffusion, Listas de correo"]
}

/** Names that are those of whole people, too, and mean a field only beside one of these others. */
const namesBeside: ReadonlyArray<readonly [name: string, field: string, beside: ReadonlyArray<string>]> = [
  ["Name", "LastName", ["Vorname"]],
  ["Nom", "LastName", ["Prénom"]],
  ["Nume", "LastName", ["Prenume"]],
  ["Naam", "LastName", ["Voornaam"]],
  ["Nombre", "FirstName", ["Apellido", "Apellidos", "Primer apellido"]],
  ["Nome", "FirstName", ["Cognome"]],
  ["Имя", "FirstName", ["Фамилия"]],
  ["Ім'я", "FirstName", ["Прізвище"]]
]

const fieldsByBareName = new Map([
  ...addedFields.map(({ wire }) => [bareName(wire), wire] as const),
  ...Object.entries(otherNames).flatMap(([field, names]) =>
    names.flatMap((texts) => texts.split(",").map((name) => [bareName(name), field] as const))
  )
])

/** The field that each heading names in other words: "E-mail Address", "last_name", "Vorname". */
export const fieldsOfHeadings = (names: ReadonlyArray<string>): ReadonlyArray<string | undefined> => {
  const bare = names.map(bareName)
  const present = new Set(bare)
  const beside = new Map(
    namesBeside.flatMap(([name, field, others]) =>
      others.some((other) => present.has(bareName(other))) ? [[bareName(name), field] as const] : []
    )
  )
  return bare.map((name) => fieldsByBareName.get(name) ?? beside.get(name))
}

/** The shortest name of which another word is not soon one letter away. */
const longEnough = 5

/** The field whose name a heading misses by one letter: "Frstname", "Stauts". */
export const fieldNearHeading = (name: string): string | undefined => {
  const bare = bareName(name)
  return bare.length + 1 < longEnough || bare.length > 40
    ? undefined
    : addedFields.find(({ wire }) => wire.length >= longEnough && editDistance(bare, bareName(wire)) === 1)?.wire
}
