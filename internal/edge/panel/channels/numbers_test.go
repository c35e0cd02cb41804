package channels_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/edge/panel/channels"
	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"
)

const numberedLine = `{"id":"%s","number":"%s","channel":"voice","provider":"sip","settings":{"trunk":"sip:%s"%s}}`

// declare declares a line like a set-up file does.
func declare(w *paneltest.World, company *carillon.Company, id, number, trunk string) {
	w.T.Helper()
	err := w.Store.Config.Change(w.T.Context(), func(ctx context.Context, tx *configure.Tx) error {
		_, err := settings.DeclareSender(ctx, tx, &carillon.Sender{
			CompanyID: company.ID, ID: id, Number: number, Channel: carillon.Voice, Provider: "sip", MediaCheck: "full",
			RingTimeout: 30 * time.Second, Unknown: carillon.DefaultUnknownPolicy(), Settings: []byte(`{"trunk":"sip:` + trunk + `"}`),
		}, time.Now())
		return err
	})
	if err != nil {
		w.T.Fatal(err)
	}
}

// claims reports whether a company's line counts as entered by a member.
func claims(w *paneltest.World, company *carillon.Company, id string) bool {
	w.T.Helper()
	named, err := w.Store.Senders.SendersNamed(w.T.Context(), company.ID, id)
	if err != nil || len(named) != 1 {
		w.T.Fatal(named, err)
	}
	return channels.SettingsOf(named[0])["claimed"] == "true"
}

func TestANumberIsEnteredByOneCompanyOnATrunk(t *testing.T) {
	w := paneltest.New(t)
	acme, beta := w.Company("acme"), w.Company("beta")
	mine, theirs := w.As("owner@acme.test"), w.As("admin@beta.test")
	const number, trunk = "15555550101", "sip.example.com"
	add := func(by, id, number, trunk string) string {
		status, body := w.Do("POST", "/panel/v1/senders", by, fmt.Sprintf(numberedLine, id, number, trunk, ""))
		details, _ := body["details"].(map[string]any)
		text := fmt.Sprint(body)
		if by == theirs && (strings.Contains(text, "acme") || strings.Contains(text, acme.ID) || strings.Contains(text, "hers")) {
			t.Errorf("the response names the other company or its line: %s", text)
		}
		return fmt.Sprint(status, " ", details["field"])
	}
	for i, step := range []struct{ by, id, number, trunk, want string }{
		{mine, "hers", number, trunk, "201 <nil>"},
		{theirs, "one", number, trunk, "409 number"},
		{theirs, "one", number, trunk + ";transport=tcp", "409 number"},
		{theirs, "one", number, "same.example.com", "409 number"},  // another name of the same trunk
		{theirs, "one", number, "other.example.com", "201 <nil>"},  // the same number in another network
		{theirs, "two", "15555550102", trunk, "201 <nil>"},         // another number
		{mine, "again", number, "other.example.com", "409 number"}, // the company's own number
		{mine, "second", "15555550102", "same.example.com", "409 number"},
	} {
		if got := add(step.by, step.id, step.number, step.trunk); got != step.want {
			t.Errorf("step %d: %s, want %s", i, got, step.want)
		}
	}
	// An existing line cannot be changed to the number or the trunk either.
	change := `{"number":"%s","channel":"voice","provider":"sip","settings":{"trunk":"sip:%s"%s}}`
	w.Want("PUT", "/panel/v1/senders/two", theirs, fmt.Sprintf(change, number, trunk, ""), 409, "conflict", "number")
	w.Want("PUT", "/panel/v1/senders/one", theirs, fmt.Sprintf(change, number, trunk, ""), 409, "conflict", "number")
	w.Want("PUT", "/panel/v1/senders/two", theirs, fmt.Sprintf(change, "15555550102", trunk, `,"caller_id":"1"`), 200, "", "")
	// The operator of the installation assigns the number.
	w.Want("PUT", "/panel/v1/numbers/"+number, theirs, fmt.Sprintf(`{"company":"%s"}`, beta.ID), 403, "forbidden", "")
	w.Want("PUT", "/panel/v1/numbers/"+number, mine, fmt.Sprintf(`{"company":"%s"}`, beta.ID), 204, "", "")
	// taken by the company's own line "one"
	w.Want("PUT", "/panel/v1/senders/two", theirs, fmt.Sprintf(change, number, trunk, ""), 409, "conflict", "number")
	w.Want("DELETE", "/panel/v1/senders/one", theirs, "", 204, "", "")
	w.Want("PUT", "/panel/v1/senders/two", theirs, fmt.Sprintf(change, number, trunk, ""), 200, "", "")
	w.Want("PUT", "/panel/v1/senders/hers", mine, fmt.Sprintf(change, number, "other.example.com", ""), 409, "conflict", "number")
	w.Want("PUT", "/panel/v1/senders/hers", mine, fmt.Sprintf(change, number, trunk, `,"caller_id":"1"`), 200, "", "") // unchanged values
}

func TestALineOfASetUpFileThatAMemberRenumbersIsTheirs(t *testing.T) {
	w := paneltest.New(t)
	acme := w.Company("acme")
	by := w.As("admin@acme.test")
	declare(w, acme, "main", "15555550101", "sip.example.com")
	change := `{"number":"%s","channel":"voice","provider":"sip","settings":{%s}}`
	for _, step := range []struct {
		number, settings string
		claimed          bool
	}{
		{"15555550101", `"trunk":"sip:sip.example.com","caller_id":"1"`, false},
		{"15555550101", `"claimed":"true","public":"true"`, false},
		{"15555550102", ``, true},
		{"15555550102", `"claimed":"false"`, true},
		{"15555550102", `"trunk":"sip:other.example.com","claimed":false`, true},
	} {
		w.Want("PUT", "/panel/v1/senders/main", by, fmt.Sprintf(change, step.number, step.settings), 200, "", "")
		if got := claims(w, acme, "main"); got != step.claimed {
			t.Errorf("%+v: claimed %v", step, got)
		}
	}
	declare(w, acme, "main", "15555550102", "sip.example.com")
	if claims(w, acme, "main") {
		t.Error("a line that is declared counts as a member's")
	}
}

func TestWhoRunsTheInstallationSettlesNumbers(t *testing.T) {
	w := paneltest.New(t)
	acme, beta := w.Company("acme"), w.Company("beta")
	by := w.As("owner@acme.test")
	declare(w, acme, "main", "15555550101", "sip.example.com")
	declare(w, beta, "main", "15555550101", "sip.example.com")
	declare(w, beta, "other", "15555550102", "sip.example.com")
	list := func() any { return w.Want("GET", "/panel/v1/numbers", by, "", 200, "", "")["data"] }
	line := func(c *carillon.Company) any {
		return map[string]any{"company": c.ID, "company_name": c.Name, "id": "main", "trunk": "sip:sip.example.com", "declared": true}
	}
	row := map[string]any{"number": "15555550101", "assigned": nil, "disputed": true, "lines": []any{line(acme), line(beta)}}
	if d := cmp.Diff([]any{row}, list()); d != "" {
		t.Error(d)
	}
	w.Want("PUT", "/panel/v1/numbers/15555550101", by, `{"company":"nobody"}`, 400, "validation_failed", "company")
	w.Want("PUT", "/panel/v1/numbers/15555550101", by, `{"company":"`+carillon.NewID(time.Now())+`"}`, 404, "not_found", "")
	w.Want("PUT", "/panel/v1/numbers/1x", by, `{"company":"`+beta.ID+`"}`, 404, "not_found", "")
	w.Want("PUT", "/panel/v1/numbers/+15555550101", by, `{"company":"`+beta.ID+`"}`, 204, "", "")
	row["assigned"], row["disputed"] = beta.ID, false
	if d := cmp.Diff([]any{row}, list()); d != "" {
		t.Error(d)
	}
	w.Want("DELETE", "/panel/v1/numbers/15555550101", by, "", 204, "", "")
	row["assigned"], row["disputed"] = nil, true
	if d := cmp.Diff([]any{row}, list()); d != "" {
		t.Error(d)
	}
	for _, other := range []string{"owner@beta.test", "admin@acme.test"} {
		w.Want("GET", "/panel/v1/numbers", w.As(other), "", 403, "forbidden", "")
		w.Want("PUT", "/panel/v1/numbers/15555550101", w.As(other), `{"company":"`+beta.ID+`"}`, 403, "forbidden", "")
		w.Want("DELETE", "/panel/v1/numbers/15555550101", w.As(other), "", 403, "forbidden", "")
	}
}
