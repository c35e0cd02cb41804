package whatsapp

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/provider"
)

// maxWait bounds the wait that the channel can impose.
const maxWait = 24 * time.Hour

// response is a complete response of the channel.
type response struct {
	status int
	header http.Header
	body   []byte
}

// graphError is the channel's error object. Its message is never kept, because it can repeat tokens and contents.
type graphError struct {
	Code      *int   `json:"code"`
	Subcode   int    `json:"error_subcode"`
	Transient bool   `json:"is_transient"`
	UserTitle string `json:"error_user_title"`
	UserMsg   string `json:"error_user_msg"`
	Trace     string `json:"fbtrace_id"`
}

// graphBody holds the relevant members of any response body: a message id or an error.
type graphBody struct {
	Contacts []struct {
		WaID string `json:"wa_id"`
	} `json:"contacts"`
	Messages []struct {
		ID     string `json:"id"`
		Status string `json:"message_status"`
	} `json:"messages"`
	Error *graphError `json:"error"`
}

// decode decodes JSON and ignores members of an unexpected type: the rest is still used.
func decode(body []byte, into any) error {
	err := json.Unmarshal(body, into)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return nil
	}
	return err
}

// judge converts the response to a message to a verdict. A gateway's 502 and 504 are unknown regardless of the body,
// because the server behind it may have accepted the message. Otherwise the channel's code decides.
func judge(r response, attempt int) provider.Outcome {
	var b graphBody
	gateway := r.status == http.StatusBadGateway || r.status == http.StatusGatewayTimeout
	if gateway || decode(r.body, &b) != nil {
		b = graphBody{}
	}
	switch {
	case b.Error != nil && b.Error.Code != nil:
		return b.Error.outcome(r, attempt)
	case r.status/100 == 2 && len(b.Messages) > 0 && b.Messages[0].ID != "":
		return provider.Outcome{
			Verdict: provider.Sent, ProviderID: b.Messages[0].ID, Detail: statusDetail(b.Messages[0].Status), Number: b.number(),
		}
	case r.status == http.StatusTooManyRequests:
		return provider.Outcome{
			Verdict: provider.RetryLater, Reason: carillon.ReasonAttemptsExhausted,
			RetryAfter: retryAfter(r.header), Detail: "response 429 without the channel's JSON", Fault: provider.FaultThrottled,
		}
	}
	return unknown("response " + strconv.Itoa(r.status) + " without the channel's JSON")
}

// number returns the channel's form of the recipient's number, or "" if the response has none.
func (b *graphBody) number() string {
	if len(b.Contacts) == 1 && carillon.ValidNumber(b.Contacts[0].WaID) {
		return b.Contacts[0].WaID
	}
	return ""
}

func unknown(detail string) provider.Outcome {
	return provider.Outcome{Verdict: provider.Unknown, Reason: carillon.ReasonOutcomeUnknown, Detail: detail, Fault: provider.FaultUnknown}
}

// statusDetail returns the detail for a message that the channel accepted but holds. It counts as sent: it has an id,
// and the channel either releases it or reports its failure with 132015.
func statusDetail(status string) string {
	switch status {
	case "held_for_quality_assessment":
		return "held for quality assessment"
	case "paused":
		return "held: template paused"
	}
	return ""
}

func (e *graphError) rule(status int) rule {
	if r, ok := ruleOf(*e.Code); ok {
		return r
	}
	return unlisted(status, e.Transient)
}

func (e *graphError) outcome(resp response, attempt int) provider.Outcome {
	r := e.rule(resp.status)
	out := provider.Outcome{
		Verdict: r.verdict, Reason: r.outcomeReason(), Detail: e.detail(r), MaxTries: r.tries, Fault: r.fault(*e.Code, resp.status),
	}
	if r.verdict == provider.RetryLater || r.verdict == provider.PauseSender {
		out.RetryAfter = e.wait(r, resp.header, attempt)
	}
	return out
}

// wait returns the wait before the next attempt: the channel's, else the rule's.
func (e *graphError) wait(r rule, h http.Header, attempt int) time.Duration {
	if d := retryAfter(h); d > 0 {
		return d
	}
	if d := regain(h); d > 0 && limitsCalls(*e.Code) {
		return d
	}
	if r.wait != nil {
		return r.wait(attempt)
	}
	return 0
}

// limitsCalls reports whether the code is about the rate limit of an application or account, which the usage header
// reports.
func limitsCalls(code int) bool { return code == 4 || code == 80007 || code == 80008 }

// traceForm is the format of the channel's trace ids.
var traceForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// detail returns code, title and trace id: enough for the operator to ask the channel's support, without the message's
// content.
func (e *graphError) detail(r rule) string {
	var b strings.Builder
	b.WriteString(strconv.Itoa(*e.Code))
	if e.Subcode != 0 {
		b.WriteString("/" + strconv.Itoa(e.Subcode))
	}
	b.WriteString(" " + r.title)
	if traceForm.MatchString(e.Trace) {
		b.WriteString(" (trace " + e.Trace + ")")
	}
	return b.String()
}

// retryAfter reads the Retry-After header, which contains seconds or a date.
func retryAfter(h http.Header) time.Duration {
	v := h.Get("Retry-After")
	if v == "" {
		return 0
	}
	if n, err := strconv.ParseUint(v, 10, 31); err == nil {
		return min(time.Duration(n)*time.Second, maxWait)
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	return min(max(time.Until(at), 0), maxWait)
}

// regain reads the minutes until access is restored from X-Business-Use-Case-Usage.
func regain(h http.Header) time.Duration {
	v := h.Get("X-Business-Use-Case-Usage")
	if v == "" || len(v) > 16<<10 {
		return 0
	}
	var usage map[string][]struct {
		Minutes int `json:"estimated_time_to_regain_access"`
	}
	if decode([]byte(v), &usage) != nil {
		return 0
	}
	var longest time.Duration
	for _, uses := range usage {
		for _, u := range uses {
			longest = max(longest, time.Duration(min(u.Minutes, int(maxWait/time.Minute)))*time.Minute)
		}
	}
	return longest
}
