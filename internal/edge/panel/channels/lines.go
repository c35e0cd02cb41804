package channels

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/hours"
	"carillon/internal/base/identity"
	"carillon/internal/base/share"
	"carillon/internal/call/sip"
	"carillon/internal/call/telephone"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/db"
)

// Lines accesses voice lines on this node.
type Lines interface {
	// Health returns the trunk's latest response. It is the zero value if the trunk was not checked or the line has
	// none.
	Health(line *carillon.Sender) sip.Health
	// Registration returns the state of the line's registration at its trunk by this node.
	Registration(line *carillon.Sender) sip.Registration
	// Ask checks whether a line's trunk responds. Errors: conflict for a line without a trunk.
	Ask(ctx context.Context, line *carillon.Sender) (sip.Health, error)
	// Disputed reports whether calls to a number with these lines are refused, because several companies claim it.
	Disputed(lines []*carillon.Sender) bool
	// Denies reports whether a number must never be called.
	Denies(number string) bool
	// Try places a call that speaks one sentence.
	Try(ctx context.Context, line *carillon.Sender, x telephone.Trial) telephone.TrialEnd
}

// trialStep is a message between the line and its trunk, in a response.
type trialStep struct {
	AfterMS int64  `json:"after_ms"`
	Ours    bool   `json:"ours"`
	Code    int    `json:"code"`
	Text    string `json:"text"`
}

// trialEnd is the result of a test call, in a response.
type trialEnd struct {
	Problem  string `json:"problem"`
	Code     int    `json:"code"`
	Detail   string `json:"detail"`
	Answered bool   `json:"answered"`
	TalkedMS int64  `json:"talked_ms"`
	Packets  int64  `json:"packets"`
	Loud     bool   `json:"loud"`
}

const (
	linesShown      = 200 // lines whose calls are counted
	trialsPerMinute = 4   // per line, on all nodes together
	checksPerMinute = 30
	maxTrial        = 90 * time.Second
)

// lineRow holds the additional fields of a voice line in the list of senders.
type lineRow struct {
	Trunk         string     `json:"trunk"`
	CallerID      string     `json:"caller_id"`
	Agent         string     `json:"agent"` // answers calls to the line
	MaxConcurrent int        `json:"max_concurrent"`
	UnderWay      *int       `json:"under_way"` // null if not counted
	RingTimeout   string     `json:"ring_timeout"`
	Health        *healthRow `json:"health"` // null if the trunk was not checked yet, or there is none
	// Registration is null for a line that is not to be registered.
	Registration *registrationRow `json:"registration"`
}

// registrationRow is the registration of a line at its trunk.
type registrationRow struct {
	// State is registered, refused or unanswered, or unknown if this node has no response yet or another node registers
	// the line.
	State  string `json:"state" enum:"registered,refused,unanswered,unknown"`
	At     string `json:"at"`    // time of the last response or of its timeout; empty if unknown
	Until  string `json:"until"` // end of the registration; empty if there is none
	Code   int    `json:"code"`  // status of the last response; 0 if there was none
	Reason string `json:"reason"`
}

func registrationOf(x sip.Registration, now time.Time) *registrationRow {
	r := &registrationRow{State: "unknown", Code: x.Code, Reason: x.Reason}
	if x.At.IsZero() {
		return r
	}
	r.At = carillon.FormatTime(x.At)
	switch {
	case now.Before(x.Until):
		r.State, r.Until = "registered", carillon.FormatTime(x.Until)
	case x.Code != 0:
		r.State = "refused"
	default:
		r.State = "unanswered"
	}
	return r
}

// healthRow is the trunk's response to a check. Any response means that it is reachable.
type healthRow struct {
	At       string `json:"at"`
	Responds bool   `json:"responds"`
	Code     int    `json:"code"`
	Reason   string `json:"reason"`
	MS       int64  `json:"ms"`
	Problem  string `json:"problem" enum:",unreachable,denied"` // unreachable, denied; empty if it responds
}

func healthOf(h sip.Health) *healthRow {
	if h.At.IsZero() {
		return nil
	}
	x := &healthRow{At: carillon.FormatTime(h.At), Responds: h.Err == nil, Code: h.Code, Reason: h.Reason, MS: h.Took.Milliseconds()}
	switch {
	case errors.Is(h.Err, sip.ErrDenied):
		x.Problem = "denied"
	case h.Err != nil:
		x.Problem = "unreachable"
	}
	return x
}

// TestCalls serves the test calls of voice lines.
type TestCalls struct {
	Gate    *member.Gate
	Store   *store.Store
	Lines   Lines
	Senders Senders
	Trials  *share.Share
}

func (x TestCalls) Routes() []httpio.Route {
	return []httpio.Route{
		x.Gate.Stream("POST", "/senders/{id}/test-call", auth.MayWriteSenders, x.try).Taking(trialRequest{}),
	}
}

// lineRow returns the list's additional fields of a line.
func (s Senders) lineRow(ctx context.Context, line *carillon.Sender, count bool) (*lineRow, error) {
	set := settingsOf(line)
	text := func(name string) string { s, _ := set[name].(string); return s }
	r := &lineRow{MaxConcurrent: line.MaxConcurrent, RingTimeout: line.RingTimeout.String(), Health: healthOf(s.Lines.Health(line))}
	if slices.Contains(s.Providers[line.Provider].Shown, "trunk") {
		r.Trunk, r.CallerID, r.Agent = text("trunk"), text("caller_id"), text("agent")
		if t, err := sip.TrunkOf(line.Settings); err == nil && t.Register {
			r.Registration = registrationOf(s.Lines.Registration(line), time.Now())
		}
	}
	if count {
		n, err := s.Store.Calls.UnderWay(ctx, line.UID)
		if err != nil {
			return nil, err
		}
		r.UnderWay = &n
	}
	return r, nil
}

// line returns the voice line named in the path. Errors: not_found, also for a sender that is not a voice line.
func (x TestCalls) line(r *http.Request, by member.Member) (*carillon.Sender, error) {
	line, err := x.Senders.find(r, by)
	if err == nil && line.Channel != carillon.Voice {
		err = carillon.Absent("Line")
	}
	return line, err
}

// try streams a test call: an event named step for each message, then an event named end.
func (x TestCalls) try(w http.ResponseWriter, r *http.Request, by member.Member) error {
	line, err := x.line(r, by)
	if err != nil {
		return err
	}
	trial, err := x.trial(r, by, line)
	if err != nil {
		return err
	}
	place, err := x.Trials.Take(by.Holder())
	if err != nil {
		return err
	}
	defer place.Release()
	if _, err := x.Gate.Limits.Allow(r.Context(), "test call "+by.CompanyID+" "+line.ID, trialsPerMinute, 1); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), maxTrial)
	defer cancel()
	if closing := httpio.Closing(r.Context()); closing != nil { // hang up when the program stops
		go func() {
			select {
			case <-closing:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	free, held, err := x.Gate.Limits.Hold(ctx, "test call "+by.CompanyID+" "+line.ID, maxTrial)
	if err != nil {
		return err
	}
	if !held {
		return carillon.InConflict("The line is being tried already")
	}
	defer free()
	return x.stream(ctx, w, r, by, line, trial)
}

// stream places the call and streams its progress.
func (x TestCalls) stream(
	ctx context.Context, w http.ResponseWriter, r *http.Request, by member.Member, line *carillon.Sender, trial *telephone.Trial,
) error {
	place, err := httpio.Follow(r, by.Holder())
	if err != nil {
		return err
	}
	s, err := httpio.OpenStream(w, r, place)
	if err != nil {
		return err
	}
	defer s.Close()
	send := func(name string, value any) {
		data, _ := json.Marshal(value) // strings and numbers always marshal
		_ = s.Send(httpio.Event{Name: name, Data: data})
	}
	trial.Show = func(s telephone.TrialStep) { send("step", trialStep{s.After.Milliseconds(), s.Ours, s.Code, s.Text}) }
	e := x.Lines.Try(ctx, line, *trial)
	send("end", trialEnd{e.Problem, e.Code, e.Detail, e.Answered, e.Talked.Milliseconds(), e.Packets, e.Loud})
	return nil
}

// trialRequest asks for a test call.
type trialRequest struct {
	Number       string `json:"number"`
	Language     string `json:"language,omitempty"`
	OutsideHours bool   `json:"outside_hours,omitempty"`
}

// trial reads the number to call, and refuses numbers that must not be called, or not at this time.
func (x TestCalls) trial(r *http.Request, by member.Member, line *carillon.Sender) (*telephone.Trial, error) {
	o, err := form.Body[trialRequest](r)
	if err != nil {
		return nil, err
	}
	written, err := form.Text(o, "number", form.MaxName)
	if err != nil {
		return nil, err
	}
	number, err := form.Number("number", written)
	if err != nil {
		return nil, err
	}
	if x.Lines.Denies(number) {
		return nil, carillon.Invalid("number", "Numbers that begin so are never called from here: the operator has the list (calls-denied)")
	}
	language, err := form.Language(o, "en")
	if err != nil {
		return nil, err
	}
	confirmed, _, err := o.Bool("outside_hours", "outside_hours")
	if err != nil {
		return nil, err
	}
	company, err := x.Store.Accounts.Company(r.Context(), by.CompanyID)
	if err != nil {
		return nil, err
	}
	suppressed, err := x.Store.Suppressions.Suppressed(r.Context(), by.CompanyID, carillon.Transactional, identity.Numbers(number))
	if err != nil {
		return nil, err
	}
	if suppressed[identity.Number(number)] {
		return nil, carillon.Invalid("number", "Is on the company's list of numbers that are not called")
	}
	now := time.Now()
	if opens := hours.Next(company.CallingHours, now); opens.After(now) && !confirmed {
		return nil, &carillon.Error{
			Code: carillon.Conflict, Message: "The company's calling hours have not begun",
			Details: carillon.Details{
				{Key: "reason", Value: "outside_hours"}, {Key: "opens_at", Value: carillon.FormatTime(opens)},
			},
		}
	}
	if line.MaxConcurrent > 0 {
		n, err := x.Store.Calls.UnderWay(r.Context(), line.UID)
		if err != nil {
			return nil, err
		}
		if n >= line.MaxConcurrent {
			return nil, db.Overloaded("All calls that the line can hold are under way", nil)
		}
	}
	return &telephone.Trial{Number: number, Language: language, Company: company.Name}, nil
}
