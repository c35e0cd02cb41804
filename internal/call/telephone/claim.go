package telephone

import (
	"slices"
	"time"

	"carillon"
	"carillon/internal/call/sip"
)

// claim is a line of the calling trunk with the called number.
type claim struct {
	line  *carillon.Sender
	trunk sip.Trunk
}

// answering returns the line that takes a call claimed by several lines: the oldest one of a single company. Lines
// declared by the operator win over those entered by members of companies, who can enter any number. If lines of
// several companies are left, none takes the call, since being first proves nothing.
func answering(all []claim) (chosen claim, ok bool) {
	if declared := slices.DeleteFunc(slices.Clone(all), func(c claim) bool { return c.trunk.Claimed }); len(declared) > 0 {
		all = declared
	}
	chosen = all[0]
	return chosen, !slices.ContainsFunc(all, func(c claim) bool { return c.line.CompanyID != chosen.line.CompanyID })
}

// Disputed reports whether calls to a number with these lines are refused, as far as the names of their trunks show.
func Disputed(lines []*carillon.Sender) bool {
	byHost := map[string][]claim{}
	for _, l := range lines {
		if trunk, err := sip.TrunkOf(l.Settings); l.Provider == "sip" && err == nil && trunk.Agent != "" {
			byHost[trunk.Name()] = append(byHost[trunk.Name()], claim{l, trunk})
		}
	}
	for _, all := range byHost {
		if _, ok := answering(all); !ok {
			return true
		}
	}
	return false
}

// disputed warns the operator of a number that several companies have.
func (t *Telephone) disputed(all []claim) {
	if !t.refused.due("number "+all[0].line.Number, time.Now()) {
		return
	}
	var lines []string
	for _, c := range all {
		lines = append(lines, c.line.CompanyID+"/"+c.line.ID)
	}
	t.o.Log.Warn("calls are refused: several companies have a line with the number and its trunk; "+
		"settle it with `carillon numbers assign`", "lines", lines)
}
