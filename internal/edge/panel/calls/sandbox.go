package calls

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/audio"
	"carillon/internal/call/handset"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/edge/panel/sending"
	"carillon/internal/send/notify"
	"carillon/internal/send/request"
	"carillon/internal/store"
)

// Phone is the sandbox's phone on this node.
type Phone interface {
	Calls(companyID string) []*handset.Heard // calls from the company's lines, newest first
}

// Sandbox serves the page of the sandbox's phone: the calls it received, and calling it.
type Sandbox struct {
	Gate  *member.Gate
	Store *store.Store
	Send  sending.Send
	Phone Phone
}

func (x Sandbox) Routes() []httpio.Route {
	return []httpio.Route{
		member.Route(x.Gate, "GET", "/sandbox/calls", auth.MayReadNotifications, x.list),
		member.Route(x.Gate, "POST", "/sandbox/calls", auth.MaySendNotifications, x.call).Taking(callRequest{}),
		x.Gate.Raw("GET", "/sandbox/calls/{id}/recording", auth.MayReadNotifications, x.recording),
	}
}

// heardRow is a call to the phone.
type heardRow struct {
	ID         string  `json:"id"`
	CallID     string  `json:"call_id"` // empty for a test call of a line
	Number     string  `json:"number"`
	From       string  `json:"from"`
	Suffix     string  `json:"suffix"` // the number's suffix, if it determines the phone's behavior
	At         string  `json:"at"`
	AnsweredAt *string `json:"answered_at"`
	EndedAt    *string `json:"ended_at"`
	Code       int     `json:"code"` // rejection code; 0 if not rejected
	Keys       string  `json:"keys"`
	HeardMS    int64   `json:"heard_ms"`
}

type phoneCalls struct {
	Data       []heardRow          `json:"data"`
	Behaviours []handset.Behaviour `json:"behaviours"`
}

// list responds with the latest calls of the company's lines to this node's phone, and the behaviors of its numbers.
func (x Sandbox) list(_ *http.Request, by member.Member) (phoneCalls, error) {
	page := phoneCalls{[]heardRow{}, handset.Behaviours()}
	for _, c := range x.Phone.Calls(by.CompanyID) {
		now := c.State()
		page.Data = append(page.Data, heardRow{
			ID: c.CallID, CallID: c.Call, Number: c.Number, From: c.From, Suffix: c.Suffix, At: carillon.FormatTime(c.At),
			AnsweredAt: auth.TimeOrNull(now.Answered), EndedAt: auth.TimeOrNull(now.Ended), Code: now.Code, Keys: now.Keys,
			HeardMS: now.Length.Milliseconds(),
		})
	}
	return page, nil
}

// recording responds with the audio that the phone received in a call.
func (x Sandbox) recording(w http.ResponseWriter, r *http.Request, by member.Member) error {
	all, id := x.Phone.Calls(by.CompanyID), r.PathValue("id")
	i := slices.IndexFunc(all, func(c *handset.Heard) bool { return c.CallID == id })
	if i < 0 || all[i].State().Length == 0 {
		return carillon.Absent("Recording")
	}
	h := w.Header()
	h.Set("Content-Type", "audio/wav")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	_, err := w.Write(audio.WAV(all[i].Sound(), handset.HeardRate))
	return err
}

type placedCall struct {
	CallID string `json:"call_id"`
	Number string `json:"number"`
}

// callRequest places a call to the phone.
type callRequest struct {
	Sender    string `json:"sender"`
	AgentID   string `json:"agent_id"`
	Suffix    string `json:"suffix,omitempty"`
	FirstName string `json:"first_name,omitempty"`
}

// call places a call from an agent to the phone, like an application's request.
func (x Sandbox) call(r *http.Request, by member.Member) (placedCall, error) {
	o, err := form.Body[callRequest](r)
	if err != nil {
		return placedCall{}, err
	}
	line, err := form.Text(o, "sender", 100)
	if err != nil {
		return placedCall{}, err
	}
	agentID, err := form.Text(o, "agent_id", 36)
	if err != nil {
		return placedCall{}, err
	}
	suffix, _, err := o.String("suffix", "suffix")
	if err != nil {
		return placedCall{}, err
	}
	if suffix != "" && !slices.ContainsFunc(handset.Behaviours(), func(b handset.Behaviour) bool { return b.Suffix == suffix }) {
		return placedCall{}, carillon.Invalid("suffix", "Must be one of the phone's, or empty")
	}
	name, _, err := o.String("first_name", "first_name")
	if err != nil {
		return placedCall{}, err
	}
	named, err := x.Store.Senders.SendersNamed(r.Context(), by.CompanyID, line)
	if err != nil {
		return placedCall{}, err
	}
	if !slices.ContainsFunc(named, func(s *carillon.Sender) bool { return s.Channel == carillon.Voice && s.Provider == "sandbox" }) {
		return placedCall{}, carillon.Invalid("sender", "Must be a voice line of the sandbox")
	}
	number := sandboxNumber(suffix)
	contact := map[string]string{"number": number}
	if name = strings.TrimSpace(name); name != "" {
		contact["first_name"] = name
	}
	id, err := x.Send.Accept(r, by, &notify.Submission{Route: "panel/sandbox/calls"}, &request.Draft{
		Channel: carillon.Voice, Contact: contact, Sender: line, AgentID: agentID, Type: "transactional", Campaign: "Sandbox phone",
	})
	return placedCall{id, number}, err
}

// sandboxNumber returns a number with the behavior of the suffix. The rest of the number is random, because a number
// that opts out is not called again.
func sandboxNumber(suffix string) string {
	if suffix == "" {
		suffix = "1234"
	}
	return "34600" + strconv.Itoa(100+rand.IntN(900)) + suffix //nolint:gosec // not a secret
}
