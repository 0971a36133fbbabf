/**
 * Access levels, which say what a key may do. Each operation requires one level.
 * (Service interface, Authentication, 3.)
 */
import { Schema } from "effect"
import { openLiterals } from "./OpenLiterals.ts"

/**
 * A level that can be given to a key. Five of them open operations of this interface. The others belong to other areas of
 * the service, and are listed so that a key can be read and written in full.
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

/** A level as a service reports it, which this version may not know. */
export const ReportedAccessLevel = openLiterals(AccessLevel)
export type ReportedAccessLevel = typeof ReportedAccessLevel.Type
