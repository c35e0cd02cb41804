package whatsapp

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"carillon"
)

// maxWait bounds what the channel may ask us to wait.
const maxWait = 24 * time.Hour

// answer is a whole answer of the channel's.
type answer struct {
	status int
	header http.Header
	body   []byte
	keep   bool // the connection may carry another request
}

// graphError is the channel's error object. Its message is never kept: it can repeat tokens and contents.
type graphError struct {
	Code      *int   `json:"code"`
	Subcode   int    `json:"error_subcode"`
	Transient bool   `json:"is_transient"`
	UserTitle string `json:"error_user_title"`
	UserMsg   string `json:"error_user_msg"`
	Trace     string `json:"fbtrace_id"`
}

// reply is the body of an answer to a message.
type reply struct {
	Messages []struct {
		ID     string `json:"id"`
		Status string `json:"message_status"`
	} `json:"messages"`
	Error *graphError `json:"error"`
}

// decode reads JSON, leaving out members of a type that was not expected: the rest still counts.
func decode(body []byte, into any) error {
	err := json.Unmarshal(body, into)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return nil
	}
	return err
}

// judge turns an answer to a message into a verdict. A gateway's 502 and 504 are unknown whatever they say, for what
// stands behind it may have taken the message; else the channel's own code decides (engine.md, section 3).
func judge(a answer, attempt int) carillon.Outcome {
	if id, status := taken(a); id != "" {
		return carillon.Outcome{Verdict: carillon.Sent, ProviderID: id, Detail: statusDetail(status)}
	}
	var r reply
	foreign := a.status == http.StatusBadGateway || a.status == http.StatusGatewayTimeout
	if foreign || decode(a.body, &r) != nil {
		r = reply{}
	}
	switch {
	case r.Error != nil && r.Error.Code != nil:
		return r.Error.outcome(a, attempt)
	case a.status/100 == 2 && len(r.Messages) > 0 && r.Messages[0].ID != "":
		return carillon.Outcome{Verdict: carillon.Sent, ProviderID: r.Messages[0].ID, Detail: statusDetail(r.Messages[0].Status)}
	case a.status == http.StatusTooManyRequests:
		return carillon.Outcome{
			Verdict: carillon.RetryLater, Reason: carillon.ReasonAttemptsExhausted,
			RetryAfter: retryAfter(a.header), Detail: "answer 429 without the channel's JSON", Fault: carillon.FaultThrottled,
		}
	}
	return unknown("answer " + strconv.Itoa(a.status) + " without the channel's JSON")
}

// taken reads the everyday answer, once a message: a 200 with the message's id and nothing of an error. Any other answer
// is none of it, and is read with more patience.
func taken(a answer) (id, status string) {
	if a.status != http.StatusOK {
		return "", ""
	}
	o, err := carillon.ParseObject(a.body)
	if err != nil || o.Find("error").Present() {
		return "", ""
	}
	all, _, err := o.Array("messages", "messages")
	if err != nil || len(all) == 0 {
		return "", ""
	}
	first, _, err := all[0].Object("messages")
	if err != nil || first == nil {
		return "", ""
	}
	if status, _, err = first.String("message_status", "message_status"); err != nil {
		return "", ""
	}
	if id, _, err = first.String("id", "id"); err != nil {
		return "", ""
	}
	return strings.Clone(id), status // strings of the reader alias the answer
}

func unknown(detail string) carillon.Outcome {
	return carillon.Outcome{Verdict: carillon.Unknown, Reason: carillon.ReasonOutcomeUnknown, Detail: detail, Fault: carillon.FaultUnknown}
}

// statusDetail tells the operator of a message that the channel took but holds. It is sent all the same: it has an id,
// and is either released or fails by a status with 132015.
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

func (e *graphError) outcome(a answer, attempt int) carillon.Outcome {
	r := e.rule(a.status)
	out := carillon.Outcome{Verdict: r.verdict, Reason: r.outcomeReason(), Detail: e.detail(r), MaxTries: r.tries, Fault: r.fault(*e.Code, a.status)}
	if r.verdict == carillon.RetryLater || r.verdict == carillon.PauseSender {
		out.RetryAfter = e.wait(r, a.header, attempt)
	}
	return out
}

// wait is how long the channel wants to be left alone: its own word, else the rule's.
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

// limitsCalls tells whether the code is about the calls of an application or account, which the usage header counts.
func limitsCalls(code int) bool { return code == 4 || code == 80007 || code == 80008 }

// detail is code, title and trace id: enough for the operator to ask the channel, nothing of the message.
func (e *graphError) detail(r rule) string {
	var b strings.Builder
	b.WriteString(strconv.Itoa(*e.Code))
	if e.Subcode != 0 {
		b.WriteString("/" + strconv.Itoa(e.Subcode))
	}
	b.WriteString(" " + r.title)
	if t := plainID(e.Trace); t != "" {
		b.WriteString(" (trace " + t + ")")
	}
	return b.String()
}

// plainID passes what looks like an id of the channel's and nothing else.
func plainID(s string) string {
	if len(s) > 64 {
		return ""
	}
	for _, c := range []byte(s) {
		switch {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_', c == '-':
		default:
			return ""
		}
	}
	return s
}

// retryAfter reads the header of that name, seconds or a date.
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

// regain reads the minutes until access is given back from x-business-use-case-usage.
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
