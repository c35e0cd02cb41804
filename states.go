package carillon

// State is the state of a message or call (docs/states.md). A message goes scheduled → queued → sending → sent →
// delivered → read, or ends as failed, canceled or skipped.
type State string

// States of messages and calls.
const (
	StateScheduled  State = "scheduled"
	StateQueued     State = "queued"
	StateSending    State = "sending"
	StateSent       State = "sent"
	StateDelivered  State = "delivered"
	StateRead       State = "read"
	StateFailed     State = "failed"
	StateCanceled   State = "canceled"
	StateSkipped    State = "skipped"
	StateDialing    State = "dialing"
	StateRinging    State = "ringing"
	StateInProgress State = "in_progress"
	StateCompleted  State = "completed"
	StateBusy       State = "busy"
	StateNoAnswer   State = "no_answer"
	StateRejected   State = "rejected"
	StateVoicemail  State = "voicemail"
)

// Reason is the reason why a message ended without being delivered. The list is closed (docs/states.md).
type Reason string

// Reasons.
const (
	ReasonDuplicate         Reason = "duplicate"           // same number and same text in one request
	ReasonSuppressed        Reason = "suppressed"          // the number is on the company's suppression list
	ReasonCanceled          Reason = "canceled"            // canceled through the API
	ReasonOutcomeUnknown    Reason = "outcome_unknown"     // no response and no receipt in time, and the policy is fail
	ReasonMediaRejected     Reason = "media_rejected"      // unreachable, private, wrong type, too large, too long
	ReasonProviderRefused   Reason = "provider_refused"    // the provider refused this message permanently
	ReasonUndeliverable     Reason = "undeliverable"       // the number cannot be reached on this channel
	ReasonNumberRequired    Reason = "number_required"     // the channel sends such a message to numbers only, and the recipient is an id
	ReasonRecipientOptedOut Reason = "recipient_opted_out" // the recipient opted out of such messages at the channel
	ReasonChannelLimited    Reason = "channel_limited"     // the channel declined, to limit what its users receive
	ReasonTemplateRejected  Reason = "template_rejected"   // template missing, disabled or changed since acceptance
	ReasonExpired           Reason = "expired"             // not sent within its time to live
	ReasonAttemptsExhausted Reason = "attempts_exhausted"  // every attempt failed with a temporary fault
	ReasonLineUnavailable   Reason = "line_unavailable"    // this version cannot place calls on the line's provider
	ReasonInterrupted       Reason = "interrupted"         // the node with the call in progress died
	ReasonDelivered         Reason = "delivered"           // the message was delivered before its fallback call was dialed
	ReasonCallNotAllowed    Reason = "call_not_allowed"    // WhatsApp allows no call to the person now, mostly for want of permission
	ReasonQuotaExceeded     Reason = "quota_exceeded"      // the company's calls of the day are used up
)

// TemplateStatus is the status of a template, in lower case as in errors and provisioning; lists show it in upper
// case.
type TemplateStatus string

// Statuses of a template.
const (
	TemplateDraft    TemplateStatus = "draft"
	TemplatePending  TemplateStatus = "pending"
	TemplateApproved TemplateStatus = "approved"
	TemplateRejected TemplateStatus = "rejected"
	TemplatePaused   TemplateStatus = "paused"
	TemplateDisabled TemplateStatus = "disabled"
)
