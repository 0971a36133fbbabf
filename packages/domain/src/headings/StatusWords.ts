/** What other programs call a status. (docs/decisions/csv.md) */
import { ContactStatus } from "../contacts/ContactRecord.ts"
import { consentOfHeading } from "./ConsentHeadings.ts"

/** In lower case. A yes or no is none of them, since what it means depends on its column. */
const statuses: ReadonlyMap<string, string> = new Map([
  ...ContactStatus.literals.map((status) => [status.toLowerCase(), status] as const),
  ...Object.entries({
    Active:
      "subscribed,subscriber,confirmed,opt-in,optin,opted in,opted-in,opted_in,consented,marketing contact,granted,given,accepted,allowed," +
      "allow,explicit,implicit,express,implied,aktiv,angemeldet,abonniert,erteilt,zugestimmt,akzeptiert,abonné,abonnée,inscrit,inscrite," +
      "accepté,acceptée,accordé,suscrito,aceptado,concedido,iscritto,accettato,concesso,zapisany,zaakceptowano,aangemeld,ingeschreven," +
      "geaccepteerd,abonat,acceptat,подписан,принято,підписаний,прийнято",
    Unsubscribed:
      "denied,deny,declined,refused,disallowed,rejected,not given,not granted,none given,cancelled,canceled,removed,inactive subscriber,inaktiv," +
      "abgelehnt,verweigert,nicht erteilt,rechazado,rifiutato,negato,odrzucono,geweigerd,respins,отклонено,відхилено",
    Bounced: "cleaned,hard bounce,hard bounced,hard-bounced,undeliverable,invalid",
    NotConfirmed:
      "unconfirmed,pending,not confirmed,not_confirmed,awaiting confirmation,awaiting_confirmation,unbestätigt,nicht bestätigt,ausstehend",
    Abuse: "complained,complaint,spam,spam complaint,junk"
  }).flatMap(([status, words]) => words.split(",").map((word) => [word, status] as const))
])

/** Whether a text says below whatever heading that a person left: "unsubscribed", "No newsletter". */
export const saysLeft = (text: string): boolean => consentOfHeading(text) === "Left"

/** The status that a text means, such as that of `subscribed` or `Hard bounce`; `undefined` for other texts. */
export const statusOfWord = (text: string): string | undefined =>
  statuses.get(text.toLowerCase()) ?? (saysLeft(text) ? "Unsubscribed" : undefined)
