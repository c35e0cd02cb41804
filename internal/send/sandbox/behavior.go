package sandbox

import (
	"time"

	"carillon"
	"carillon/internal/base/provider"
)

// behavior is one row of the guide's table of messages: the outcome for numbers with the suffix.
type behavior struct {
	suffix  string
	effect  string // as described in the guide
	verdict provider.Verdict
	faults  int  // number of attempts that fail temporarily first
	limited bool // they fail because of a rate limit, which demands a wait
	slow    bool
	late    bool   // receipts begin only after Delays.Late
	steps   []step // nil: the ordinary steps; empty means no receipts
}

// step is one receipt.
type step struct {
	state  carillon.State
	at     moment
	reason carillon.Reason
}

// moment is one of the Delays.
type moment int

const (
	now moment = iota
	onDelivered
	onRead
)

func (m moment) in(d *Delays) time.Duration {
	return [...]time.Duration{now: 0, onDelivered: d.Delivered, onRead: d.Read}[m]
}

var ordinary = []step{ //nolint:gochecknoglobals // read-only table
	{state: carillon.StateDelivered, at: onDelivered},
	{state: carillon.StateRead, at: onRead},
}

// behaviors is the guide's table. The steps of a row are in chronological order.
var behaviors = []behavior{ //nolint:gochecknoglobals // read-only table
	{suffix: "0001", effect: "refused immediately: `failed`, reason `undeliverable`", verdict: provider.Refused},
	{suffix: "0002", effect: "two attempts fail temporarily, the third is accepted", faults: 2},
	{suffix: "0003", effect: "outcome unknown; the receipts come late, beginning after 5 s", verdict: provider.Unknown, late: true},
	{
		suffix: "0004", effect: "outcome unknown at every attempt, and never a receipt: the sender's policy decides after its wait",
		verdict: provider.Unknown, steps: []step{},
	},
	{
		suffix: "0005", effect: "`sent`, then `failed` by receipt, reason `undeliverable`",
		steps: []step{{state: carillon.StateFailed, at: onDelivered, reason: carillon.ReasonUndeliverable}},
	},
	{
		suffix: "0006", effect: "`delivered`, never `read`",
		steps: []step{{state: carillon.StateDelivered, at: onDelivered}},
	},
	{
		suffix: "0007", effect: "`read`, with no receipt for `delivered`",
		steps: []step{{state: carillon.StateRead, at: onRead}},
	},
	{
		suffix: "0008", effect: "receipts in the wrong order and each twice: read, delivered, sent",
		steps: []step{
			{state: carillon.StateRead, at: onDelivered},
			{state: carillon.StateRead, at: onDelivered},
			{state: carillon.StateDelivered, at: onRead},
			{state: carillon.StateDelivered, at: onRead},
			{state: carillon.StateSent, at: onRead},
			{state: carillon.StateSent, at: onRead},
		},
	},
	{suffix: "0009", effect: "slow: the channel responds after 5 s", slow: true},
	{suffix: "0010", effect: "the first attempt is rate limited for 5 s, the second is accepted", faults: 1, limited: true},
	{suffix: "0022", effect: "`sent`, never `delivered`", steps: []step{}},
}

// plan is a behavior with the delays of its steps.
type plan struct {
	behavior
	steps []dated
}

type dated struct {
	step
	after time.Duration
}

// planTable contains the plans by number suffix.
type planTable struct {
	bySuffix map[string]*plan
	ordinary *plan
}

const suffixDigits = 4

func (t *planTable) plan(number string) *plan {
	if p, ok := t.bySuffix[SuffixOf(number)]; ok {
		return p
	}
	return t.ordinary
}

// SuffixOf returns the last digits of a number, which determine the outcome of a message or call.
func SuffixOf(number string) string { return number[max(0, len(number)-suffixDigits):] }

func newPlanTable(d *Delays) *planTable {
	t := &planTable{bySuffix: map[string]*plan{}, ordinary: newPlan(behavior{}, d)}
	for _, b := range behaviors {
		t.bySuffix[b.suffix] = newPlan(b, d)
	}
	return t
}

func newPlan(b behavior, d *Delays) *plan {
	steps := b.steps
	if steps == nil {
		steps = ordinary
	}
	p := &plan{behavior: b}
	base := time.Duration(0)
	if b.late { // the lost response would have reported sent
		base = d.Late
		p.steps = append(p.steps, dated{step{state: carillon.StateSent}, base})
	}
	for _, s := range steps {
		p.steps = append(p.steps, dated{s, base + s.at.in(d)})
	}
	return p
}
