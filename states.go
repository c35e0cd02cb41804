package carillon

// State is where a message or a call stands. States of a message: scheduled → queued → sending → sent → delivered →
// read; ends also in failed, canceled, skipped (decisions.md, section 3). States of a call: section 5.
type State string

// The states of messages and calls.
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

// Rank orders what is known of a message; it only rises. A failure whose cause is that the outcome stayed unknown
// ranks below sent, so that a late receipt lifts it; a failure the provider told ranks below delivered, because some
// channels tell both (engine.md, section 3).
type Rank int

// The ranks as stored. Gaps keep room; the values never change.
const (
	RankNone          Rank = 0
	RankSkipped       Rank = 10
	RankCanceled      Rank = 20
	RankFailedUnknown Rank = 30
	RankSent          Rank = 40
	RankFailed        Rank = 50
	RankDelivered     Rank = 60
	RankRead          Rank = 70

	RankDialing    Rank = 110
	RankRinging    Rank = 120
	RankInProgress Rank = 130
	RankBusy       Rank = 140
	RankNoAnswer   Rank = 141
	RankRejected   Rank = 142
	RankVoicemail  Rank = 143
	RankCallFailed Rank = 144
	RankCompleted  Rank = 150
)

// State is the state a rank stands for; RankNone has none of its own.
func (r Rank) State() State {
	switch r {
	case RankSkipped:
		return StateSkipped
	case RankCanceled:
		return StateCanceled
	case RankFailedUnknown, RankFailed, RankCallFailed:
		return StateFailed
	case RankSent:
		return StateSent
	case RankDelivered:
		return StateDelivered
	case RankRead:
		return StateRead
	case RankDialing:
		return StateDialing
	case RankRinging:
		return StateRinging
	case RankInProgress:
		return StateInProgress
	case RankBusy:
		return StateBusy
	case RankNoAnswer:
		return StateNoAnswer
	case RankRejected:
		return StateRejected
	case RankVoicemail:
		return StateVoicemail
	case RankCompleted:
		return StateCompleted
	default:
		return StateQueued
	}
}

// RankOf is the rank a provider's word on a state raises a message or call to; 0 for states no provider tells.
func RankOf(ch Channel, s State) Rank {
	if ch == Voice {
		switch s {
		case StateDialing:
			return RankDialing
		case StateRinging:
			return RankRinging
		case StateInProgress:
			return RankInProgress
		case StateBusy:
			return RankBusy
		case StateNoAnswer:
			return RankNoAnswer
		case StateRejected:
			return RankRejected
		case StateVoicemail:
			return RankVoicemail
		case StateFailed:
			return RankCallFailed
		case StateCompleted:
			return RankCompleted
		default:
			return RankNone
		}
	}
	switch s {
	case StateSent:
		return RankSent
	case StateDelivered:
		return RankDelivered
	case StateRead:
		return RankRead
	case StateFailed:
		return RankFailed
	default:
		return RankNone
	}
}

// Reason says why a message ended without being delivered; the list is closed (docs/states.md).
type Reason string

// The reasons.
const (
	ReasonDuplicate         Reason = "duplicate"           // same number and same text in one request
	ReasonSuppressed        Reason = "suppressed"          // the number is on the company's suppression list
	ReasonCanceled          Reason = "canceled"            // canceled through the interface
	ReasonOutcomeUnknown    Reason = "outcome_unknown"     // no answer and no receipt in time, and the policy is fail
	ReasonMediaRejected     Reason = "media_rejected"      // unreachable, private address, wrong type, too large or too long
	ReasonProviderRefused   Reason = "provider_refused"    // the provider refused this message for good
	ReasonUndeliverable     Reason = "undeliverable"       // the number cannot be reached on this channel
	ReasonRecipientOptedOut Reason = "recipient_opted_out" // the recipient stopped such messages at the channel
	ReasonChannelLimited    Reason = "channel_limited"     // the channel declined, to limit what its users receive
	ReasonTemplateRejected  Reason = "template_rejected"   // template missing, disabled or changed since acceptance
	ReasonExpired           Reason = "expired"             // could not be sent within its time to live
	ReasonAttemptsExhausted Reason = "attempts_exhausted"  // every attempt met a passing fault
)

// Reasons lists every reason, for documents and tests.
func Reasons() []Reason {
	return []Reason{
		ReasonDuplicate, ReasonSuppressed, ReasonCanceled, ReasonOutcomeUnknown, ReasonMediaRejected, ReasonProviderRefused,
		ReasonUndeliverable, ReasonRecipientOptedOut, ReasonChannelLimited, ReasonTemplateRejected, ReasonExpired, ReasonAttemptsExhausted,
	}
}

// Template statuses, lower case as errors and set-up carry them; lists show them in upper case.
type TemplateStatus string

// The statuses of a template (decisions.md, section 4).
const (
	TemplateDraft    TemplateStatus = "draft"
	TemplatePending  TemplateStatus = "pending"
	TemplateApproved TemplateStatus = "approved"
	TemplateRejected TemplateStatus = "rejected"
	TemplatePaused   TemplateStatus = "paused"
	TemplateDisabled TemplateStatus = "disabled"
)
