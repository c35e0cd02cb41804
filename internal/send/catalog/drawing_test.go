package catalog

import (
	"slices"
	"testing"

	"carillon"
	"carillon/docs"
)

// TestTheDrawingShowsWhatReportsDo compares docs/images/states-template.svg with the code: its arrows are the
// transitions by reports, plus those by requests (submit a draft; edit, which creates a draft).
func TestTheDrawingShowsWhatReportsDo(t *testing.T) {
	drawing, err := docs.Transitions("states-template.svg")
	if err != nil {
		t.Fatal(err)
	}
	requests := []docs.Transition{{From: "draft", To: "pending"}, {From: "pending", To: "draft"}, {From: "rejected", To: "draft"}}
	for _, x := range drawing {
		if !slices.Contains(requests, x) && !slices.Contains(reports[carillon.TemplateStatus(x.From)], carillon.TemplateStatus(x.To)) {
			t.Errorf("it shows that %s becomes %s, which no report does", x.From, x.To)
		}
	}
	for from, all := range reports {
		for _, to := range all {
			// the approval in between was not reported
			lost := from == carillon.TemplatePending && (to == carillon.TemplatePaused || to == carillon.TemplateDisabled)
			if x := (docs.Transition{From: string(from), To: string(to)}); !lost && !slices.Contains(drawing, x) {
				t.Errorf("it does not show that %s becomes %s", from, to)
			}
		}
	}
}
