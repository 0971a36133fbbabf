/**
 * What a key may do. Each operation needs one level; a key that has it may call the operation.
 * (Service interface, Authentication, 3.)
 */
import { Schema } from "effect"
import { openLiterals } from "./OpenLiterals.ts"

/**
 * The levels that can be given to a key. Five of them open operations of this interface; the others belong to areas of
 * the service that the interface leaves out, and are kept so that a key can be read and written whole.
 */
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
export type AccessLevel = typeof AccessLevel.Type

/** A level as a service reports it, known to this version or not. */
export const ReportedAccessLevel = openLiterals(AccessLevel)
export type ReportedAccessLevel = typeof ReportedAccessLevel.Type
