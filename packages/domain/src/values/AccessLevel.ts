/** The access levels of keys: those of the interface, and the open form for those of a later version. */
import { Schema } from "effect"
import { openLiterals, type Named, UnknownValue } from "./WireRecord.ts"

/** What a key may do. Most levels belong to other areas of the service. (`packages/api/openapi.json`: AccessLevel.) */
export const AccessLevel = Schema.Literals([
  "None",
  "ViewAccount",
  "ViewContacts",
  "ViewForms",
  "ViewTemplates",
  "ViewCampaigns",
  "ViewChannels",
  "ViewAutomations",
  "ViewSurveys",
  "ViewSettings",
  "ViewBilling",
  "ViewSubAccounts",
  "ViewUsers",
  "ViewFiles",
  "ViewReports",
  "ModifyAccount",
  "ModifyContacts",
  "ModifyForms",
  "ModifyTemplates",
  "ModifyCampaigns",
  "ModifyChannels",
  "ModifyAutomations",
  "ModifySurveys",
  "ModifyFiles",
  "Export",
  "SendSmtp",
  "SendSMS",
  "ModifySettings",
  "ModifyBilling",
  "ModifyProfile",
  "ModifySubAccounts",
  "ModifyUsers",
  "Security",
  "ModifyLanguage",
  "ViewSupport",
  "SendHttp",
  "Modify2FAEmail",
  "ModifySupport",
  "ViewCustomFields",
  "ModifyCustomFields",
  "ModifyWebNotifications",
  "ExtendedLogs",
  "VerifyEmails",
  "Modify2FASms",
  "ModifyLandingPages",
  "ViewLandingPages",
  "ModifySuppressions",
  "ViewSuppressions",
  "ViewDragDropEditor",
  "ViewTemplateEditor",
  "ViewAITools",
  "ModifySubscriptionAntiSpam",
  "ViewLandingPagesCheckout",
  "ModifyLandingPagesCheckout",
  "ViewHTMLEditor",
  "ModifyAccessTokens",
  "ViewPaidNewsletters",
  "ModifyPaidNewsletters",
  "ViewVerifyEmails",
  "ViewAccessTokens",
  "ViewWebNotifications"
])
export type AccessLevel = Named<typeof AccessLevel.Type>

/** A level as a service reports it, which this version may not know. */
export const ReportedAccessLevel = openLiterals(AccessLevel)
export type ReportedAccessLevel = Named<typeof ReportedAccessLevel.Type>

/** Stands for the levels of a key of which the service tells none. Like an unknown level, it can never be written. */
export const untoldLevel = UnknownValue.make("Untold")
