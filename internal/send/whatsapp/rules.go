package whatsapp

import (
	"net/http"
	"time"

	"carillon"
	"carillon/internal/base/provider"
)

// rule is the consequence of an error code of the channel, in a response or in a later status.
type rule struct {
	from, to int // range of codes, inclusive
	verdict  provider.Verdict
	reason   carillon.Reason                 // empty: the verdict's default reason
	wait     func(attempt int) time.Duration // nil: the default backoff
	tries    int                             // 0: the default limit
	title    string                          // our own text, because the channel's text can contain tokens and contents
}

// rules is the table of the channel's error codes. Codes without a row are judged by the status of the response (see
// unlisted).
var rules = []rule{ //nolint:gochecknoglobals // a single read-only table
	{0, 0, provider.PauseSender, "", nil, 0, "authentication failed"},
	{1, 1, provider.RetryLater, "", nil, 3, "unknown error"},
	{2, 2, provider.RetryLater, "", nil, 0, "service down or overloaded"},
	{3, 3, provider.PauseSender, "", nil, 0, "capability missing"},
	{4, 4, provider.RetryLater, "", fixed(2 * time.Minute), 0, "application call rate reached"},
	{10, 10, provider.PauseSender, "", nil, 0, "permission missing"},
	{33, 33, provider.PauseSender, "", nil, 0, "phone number id unknown or deleted"},
	{100, 100, provider.Refused, carillon.ReasonProviderRefused, nil, 0, "invalid parameter"},
	{190, 190, provider.PauseSender, "", nil, 0, "access token expired or invalid"},
	{200, 299, provider.PauseSender, "", nil, 0, "permission missing"},
	{368, 368, provider.PauseSender, "", nil, 0, "account blocked for policy violations"},
	{80007, 80008, provider.RetryLater, "", fixed(5 * time.Minute), 0, "account call rate reached"},
	{130429, 130429, provider.RetryLater, "", linear, 0, "throughput reached"},
	{130472, 130472, provider.Refused, carillon.ReasonChannelLimited, nil, 0, "recipient is in an experiment group"},
	{130497, 130497, provider.Refused, carillon.ReasonProviderRefused, nil, 0, "account restricted for that country"},
	{131000, 131000, provider.RetryLater, "", nil, 0, "unknown error"},
	{131005, 131005, provider.PauseSender, "", nil, 0, "access denied"},
	{131008, 131008, provider.Refused, carillon.ReasonProviderRefused, nil, 0, "parameter missing"},
	{131009, 131009, provider.Refused, carillon.ReasonProviderRefused, nil, 0, "parameter value invalid"},
	{131016, 131016, provider.RetryLater, "", nil, 0, "service unavailable"},
	{131021, 131021, provider.Refused, carillon.ReasonProviderRefused, nil, 0, "recipient is the sender"},
	{131026, 131026, provider.Refused, carillon.ReasonUndeliverable, nil, 0, "undeliverable"},
	{131030, 131030, provider.Refused, carillon.ReasonProviderRefused, nil, 0, "recipient is not in the test list"},
	{131031, 131031, provider.PauseSender, "", nil, 0, "account locked"},
	{131037, 131037, provider.PauseSender, "", nil, 0, "display name not approved"},
	{131042, 131042, provider.PauseSender, "", nil, 0, "payment or eligibility problem"},
	{131045, 131045, provider.PauseSender, "", nil, 0, "number not registered"},
	{131047, 131047, provider.Refused, provider.ReasonWindowClosed, nil, 0, "over 24 hours since the recipient's last message"},
	{131048, 131048, provider.PauseSender, carillon.ReasonChannelLimited, fixed(2 * time.Hour), 0, "spam rate limit"},
	{131049, 131049, provider.Refused, carillon.ReasonChannelLimited, nil, 0, "not delivered, to limit marketing to this recipient"},
	{131050, 131050, provider.Refused, carillon.ReasonRecipientOptedOut, nil, 0, "recipient opted out of marketing"},
	{131051, 131051, provider.Refused, carillon.ReasonProviderRefused, nil, 0, "message type unsupported"},
	{131052, 131053, provider.RetryLater, carillon.ReasonMediaRejected, nil, 2, "media could not be fetched"},
	{131056, 131056, provider.RetryLater, carillon.ReasonChannelLimited, fourfold, 0, "too fast for this recipient"},
	{131057, 131057, provider.RetryLater, "", fixed(2 * time.Minute), 0, "account in maintenance"},
	{131062, 131062, provider.Refused, carillon.ReasonNumberRequired, nil, 0, "business-scoped user id unsupported"},
	{131063, 131063, provider.Refused, carillon.ReasonTemplateRejected, nil, 0, "marketing is switched off for this account at Meta"},
	{131064, 131064, provider.PauseSender, "", nil, 0, "limited at Meta, because templates had the wrong category"},
	{131200, 131299, provider.Refused, carillon.ReasonProviderRefused, nil, 0, "group error"},
	{132000, 132000, provider.Refused, carillon.ReasonTemplateRejected, nil, 0, "parameter count differs from the template"},
	{132001, 132001, provider.Refused, carillon.ReasonTemplateRejected, nil, 0, "template missing in that language or not approved"},
	{132005, 132005, provider.Refused, carillon.ReasonProviderRefused, nil, 0, "text too long once filled"},
	{132007, 132007, provider.Refused, carillon.ReasonProviderRefused, nil, 0, "content policy violated"},
	{132008, 132008, provider.Refused, carillon.ReasonProviderRefused, nil, 0, "parameter value mismatch"},
	{132012, 132012, provider.Refused, carillon.ReasonProviderRefused, nil, 0, "parameter format mismatch"},
	{132015, 132015, provider.PauseTemplate, carillon.ReasonTemplateRejected, nil, 0, "template paused"},
	{132016, 132016, provider.PauseTemplate, carillon.ReasonTemplateRejected, nil, 0, "template disabled"},
	{132018, 132018, provider.Refused, carillon.ReasonProviderRefused, nil, 0, "parameter has line ends, tabs or too many spaces"},
	{132068, 132068, provider.Refused, carillon.ReasonProviderRefused, nil, 0, "flow blocked"},
	{132069, 132069, provider.RetryLater, "", fixed(time.Hour), 0, "flow throttled"},
	{133004, 133004, provider.RetryLater, "", nil, 0, "server temporarily unavailable"},
	{133016, 133016, provider.PauseSender, "", fixed(72 * time.Hour), 0, "too many registrations"},
	{133000, 133015, provider.PauseSender, "", nil, 0, "number not registered"},
	{135000, 135000, provider.Refused, carillon.ReasonProviderRefused, nil, 0, "error in the parameters"},
	{136025, 136025, provider.Refused, carillon.ReasonProviderRefused, nil, 0, "verify code error"},
	{137000, 137000, provider.Refused, carillon.ReasonProviderRefused, nil, 0, "identity key mismatch"},
	{131044, 131044, provider.Refused, carillon.ReasonProviderRefused, nil, 0, "payment method for calls missing"},
	{138000, 138000, provider.Refused, carillon.ReasonProviderRefused, nil, 0, "calls are switched off for this number"},
	{138006, 138006, provider.Refused, carillon.ReasonProviderRefused, nil, 0, "the person has not allowed calls"},
	{138009, 138009, provider.Refused, carillon.ReasonChannelLimited, nil, 0, "too many requests for permission to call this person"},
	{138012, 138012, provider.Refused, carillon.ReasonChannelLimited, nil, 0, "too many calls to this person today"},
	{138013, 138013, provider.Refused, carillon.ReasonProviderRefused, nil, 0, "no calls to or from this country"},
	{138015, 138015, provider.Refused, carillon.ReasonProviderRefused, nil, 0, "calls need a limit of 2,000 people a day"},
	{138017, 138017, provider.Refused, carillon.ReasonProviderRefused, nil, 0, "the person already allows calls permanently"},
	{138018, 138018, provider.Refused, carillon.ReasonProviderRefused, nil, 0, "the number does not meet the conditions for calls"},
	{138000, 139999, provider.Refused, carillon.ReasonProviderRefused, nil, 0, "calling or flow error"},
	{2388000, 2388999, provider.Refused, carillon.ReasonProviderRefused, nil, 0, "template refused"},
}

// ruleOf returns the first row that matches a code.
func ruleOf(code int) (rule, bool) {
	for _, r := range rules {
		if r.from <= code && code <= r.to {
			return r, true
		}
	}
	return rule{}, false
}

// unlisted judges a code without a row: by whether the channel calls the error transient, else by the status. An
// unexplained fault of the channel leaves the outcome unknown.
func unlisted(status int, transient bool) rule {
	r := rule{title: "code without a rule"}
	switch {
	case transient, status == 429:
		r.verdict, r.tries = provider.RetryLater, 3
	case status >= 500:
		r.verdict = provider.Unknown
	default:
		r.verdict, r.reason = provider.Refused, carillon.ReasonProviderRefused
	}
	return r
}

// fault returns the class of a fault that may affect the sender's next message too. Codes about one recipient,
// template or file have none.
func (r rule) fault(code, status int) provider.Fault {
	switch r.verdict {
	case provider.Sent, provider.Refused, provider.PauseTemplate:
		return ""
	case provider.Unknown:
		return provider.FaultUnknown
	case provider.PauseSender:
		if code == 131048 || code == 133016 {
			return provider.FaultThrottled
		}
		return provider.FaultAccount
	case provider.RetryLater:
	}
	switch {
	case code == 131052, code == 131053, code == 131056, code == 132069:
		return ""
	case code == 4, code == 80007, code == 80008, code == 130429, status == http.StatusTooManyRequests:
		return provider.FaultThrottled
	}
	return provider.FaultProvider
}

// outcomeReason returns the reason for a message whose last attempt ended with this rule.
func (r rule) outcomeReason() carillon.Reason {
	switch {
	case r.reason != "":
		return r.reason
	case r.verdict == provider.RetryLater:
		return carillon.ReasonAttemptsExhausted
	case r.verdict == provider.Unknown:
		return carillon.ReasonOutcomeUnknown
	default:
		return carillon.ReasonProviderRefused
	}
}

// receiptReason returns the reason for a message that the channel accepted and failed later. There is no further
// attempt.
func (r rule) receiptReason() carillon.Reason {
	if r.reason != "" {
		return r.reason
	}
	return carillon.ReasonProviderRefused
}

func fixed(d time.Duration) func(int) time.Duration {
	return func(int) time.Duration { return d }
}

// linear waits one to five seconds, as the channel's throughput limit requires.
func linear(attempt int) time.Duration {
	return time.Duration(min(max(attempt, 1), 5)) * time.Second
}

// fourfold waits 4^n seconds, at most about 17 minutes, as the limit from one sender to one recipient requires.
func fourfold(attempt int) time.Duration {
	return time.Duration(1<<(2*min(max(attempt, 1), 5))) * time.Second
}
