package telephone

import (
	"testing"

	"carillon"
	"carillon/internal/call/sip"
)

func TestNobodyTakesCallsForHavingComeFirst(t *testing.T) {
	t.Parallel()
	of := func(company, id string, claimed bool) claim {
		return claim{&carillon.Sender{CompanyID: company, ID: id}, sip.Trunk{Claimed: claimed}}
	}
	for name, c := range map[string]struct {
		all  []claim
		want string // empty: nobody
	}{
		"one line":                              {[]claim{of("a", "1", true)}, "1"},
		"two of one company":                    {[]claim{of("a", "1", true), of("a", "2", true)}, "1"},
		"a declared one of one company":         {[]claim{of("a", "1", true), of("a", "2", false)}, "2"},
		"two companies entered it":              {[]claim{of("a", "1", true), of("b", "2", true)}, ""},
		"declared for the second":               {[]claim{of("a", "1", true), of("b", "2", false)}, "2"},
		"declared for the first":                {[]claim{of("a", "1", false), of("b", "2", true), of("c", "3", true)}, "1"},
		"declared for both":                     {[]claim{of("a", "1", false), of("b", "2", false)}, ""},
		"declared twice for one, entered by it": {[]claim{of("a", "1", true), of("b", "2", false), of("b", "3", false)}, "2"},
	} {
		got, ok := answering(c.all)
		if ok != (c.want != "") || ok && got.line.ID != c.want {
			t.Errorf("%s: %s, %v; want %q", name, got.line.ID, ok, c.want)
		}
	}
}

func TestNumbersAreDisputedOnOneTrunkAlone(t *testing.T) {
	t.Parallel()
	line := func(company, settings string) *carillon.Sender {
		const agent = `{"claimed":"true","agent":"3e0f7a52-1d84-4b7c-8c39-5a2be6d41f11",`
		return &carillon.Sender{CompanyID: company, Provider: "sip", Settings: []byte(agent + settings + `}`)}
	}
	here, there := `"trunk":"sip:Trunk.example.com:5070"`, `"trunk":"sip:trunk.example.org"`
	for name, c := range map[string]struct {
		lines []*carillon.Sender
		want  bool
	}{
		"one trunk":            {[]*carillon.Sender{line("a", here), line("b", `"trunk":"sips:trunk.example.com"`)}, true},
		"two trunks":           {[]*carillon.Sender{line("a", here), line("b", there)}, false},
		"one company":          {[]*carillon.Sender{line("a", here), line("a", here)}, false},
		"no agent answers one": {[]*carillon.Sender{line("a", here), line("b", here+`,"agent":""`)}, false},
		"of the sandbox":       {[]*carillon.Sender{line("a", here), {CompanyID: "b", Provider: "sandbox"}}, false},
	} {
		if got := Disputed(c.lines); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
