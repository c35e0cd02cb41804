package company

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/chats"
)

// due returns the companies of all work that is due, by kind.
func due(t *testing.T, s *store.Store) map[string][]string {
	t.Helper()
	ctx, now, all := t.Context(), time.Now(), map[string][]string{}
	found := func(kind, id string) {
		if !slices.Contains(all[kind], id) {
			all[kind] = append(all[kind], id)
		}
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	conversations := func(kind string, cs []*chats.Conversation, err error) {
		check(err)
		for _, c := range cs {
			found(kind, c.CompanyID)
		}
	}
	runs := func(kind string, rs []*chats.Run, err error) {
		check(err)
		for _, r := range rs {
			found(kind, r.CompanyID)
		}
	}
	cs, err := s.Chats.Noticed(ctx, now, 100)
	conversations("notices", cs, err)
	cs, err = s.Chats.InState(ctx, chats.Queued, now, 100)
	conversations("waiting conversations", cs, err)
	cs, err = s.Chats.Unreplied(ctx, now, 100)
	conversations("agents", cs, err)
	cs, err = s.Reviews.Due(ctx, now, 100, nil)
	conversations("reviews", cs, err)
	rs, _, err := s.Runs.Due(ctx, now, 100)
	runs("flows", rs, err)
	rs, err = s.Runs.Calls(ctx, now, 100, nil)
	runs("effects", rs, err)
	mails, err := s.Mails.Due(ctx, now, 100)
	check(err)
	for _, x := range mails {
		found("e-mails", x.CompanyID)
	}
	imports, err := s.Past.Due(ctx, now, 100, nil)
	check(err)
	for _, x := range imports {
		found("histories", x.CompanyID)
	}
	inbound, err := s.Replies.Waiting(ctx, now, 100, nil)
	check(err)
	for _, x := range inbound {
		found("inbound messages", x.CompanyID)
	}
	replies, err := s.Replies.DueReplies(ctx, now, 100, nil)
	check(err)
	for _, x := range replies {
		found("replies", x.CompanyID)
	}
	sites, err := s.Sites.Due(ctx, now, 100, nil)
	check(err)
	for _, x := range sites {
		found("sites", x.CompanyID)
	}
	vectors, err := s.Vectors.Due(ctx, now, 100, nil)
	check(err)
	for _, x := range vectors {
		found("vectors", x.CompanyID)
	}
	jobs, err := s.Bulk.Due(ctx, now, 100, nil)
	check(err)
	for _, x := range jobs {
		found("jobs", x.CompanyID)
	}
	fallbacks, err := s.Fallbacks.Companies(ctx, "", now, 100)
	check(err)
	for _, id := range fallbacks {
		found("fallbacks", id)
	}
	syncs, _, err := s.Templates.DueSyncs(ctx, now, 100)
	check(err)
	for _, x := range syncs {
		found("comparisons of templates", companies[x.SenderUID/1000])
	}
	polls, _, err := s.Templates.TemplatePolls(ctx, now, 100)
	check(err)
	for _, x := range polls {
		found("reviews of templates", x.CompanyID)
	}
	return all
}

// TestNothingOfAStoppedCompanyIsDue stops one of two companies for which all kinds of work are due.
func TestNothingOfAStoppedCompanyIsDue(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, s *store.Store) {
		fill(t, s)
		for _, st := range []string{
			"UPDATE template SET components = '[]', report = ''",
			"UPDATE conversation SET state = 'queued', tags = '[]', asks = '', memory = '', question = '', unanswered = '', undo = ''",
			"UPDATE flow_run SET variables = '{}', question = '', path = '0', state = 'calling' WHERE id LIKE '%-1'",
			"UPDATE flow_run SET variables = '{}', question = '', path = '0' WHERE id NOT LIKE '%-1'",
			"UPDATE bulk_job SET state = 'sending', settings = '{}', result = '{}'", "UPDATE embedding SET model = ''",
		} {
			if _, err := s.DB.Exec(t.Context(), st); err != nil {
				t.Fatal(err)
			}
		}
		before := due(t, s)
		if len(before) != 16 {
			t.Errorf("%d kinds of work are due: %v", len(before), before)
		}
		for kind, ids := range before {
			if len(ids) != len(companies) {
				t.Errorf("%s are due for %v", kind, ids)
			}
		}
		if _, _, err := New(s, "test").stop(t.Context(), companies[0]); err != nil {
			t.Fatal(err)
		}
		for kind, ids := range due(t, s) {
			if !slices.Equal(ids, companies[1:]) {
				t.Errorf("%s are due for %v", kind, ids)
			}
		}
		for kind := range before {
			if due(t, s)[kind] == nil {
				t.Errorf("%s are due for nobody", kind)
			}
		}
	})
}

// TestAnExportWaitsForWorkInProgress exports a company with a call that does not end.
func TestAnExportWaitsForWorkInProgress(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, s *store.Store) {
		fill(t, s)
		m, file := New(s, "test"), filepath.Join(t.TempDir(), "file")
		set := func(query string) {
			t.Helper()
			if _, err := s.DB.Exec(t.Context(), query, companies[0]); err != nil {
				t.Fatal(err)
			}
		}
		set("UPDATE incoming_call SET under_way = TRUE WHERE company_id = $1")
		waits := 0
		o := ExportOptions{To: file, Grace: time.Millisecond, Wait: time.Millisecond}
		_, err := m.Export(t.Context(), companies[0], o)
		if err == nil || !strings.Contains(err.Error(), "5 calls to lines") {
			t.Errorf("an export during a call: %v", err)
		}
		states, err := m.List(t.Context())
		if err != nil || slices.ContainsFunc(states, func(x State) bool { return x.State != active }) {
			t.Errorf("after it: %v, %v", states, err)
		}
		if left, _ := os.ReadDir(filepath.Dir(file)); len(left) > 0 {
			t.Errorf("files are left: %v", left)
		}
		o.Wait, o.Report = 0, func(p Progress) {
			if p.Phase == Waiting && p.Detail != "" {
				waits++
				set("UPDATE incoming_call SET under_way = FALSE WHERE company_id = $1")
			}
		}
		_, err = m.Export(t.Context(), companies[0], o)
		if err != nil || waits == 0 {
			t.Errorf("an export until the end of a call: %v, after %d waits", err, waits)
		}
	})
}

// TestTheRefusalOfACompany compares the errors of the states.
func TestTheRefusalOfACompany(t *testing.T) {
	for state, want := range map[Move]carillon.Code{
		Moving: carillon.ServiceUnavailable, Arriving: carillon.ServiceUnavailable, Arrived: carillon.ServiceUnavailable,
		Moved: carillon.Forbidden, Removing: carillon.Forbidden,
	} {
		for _, suspended := range []bool{false, true} {
			if err := (&carillon.Company{Move: string(state), Suspended: suspended}).Refusal(); !carillon.IsCode(err, want) {
				t.Errorf("%s: %v", state, err)
			}
		}
	}
	if err := (&carillon.Company{Suspended: true}).Refusal(); !carillon.IsCode(err, carillon.Forbidden) {
		t.Error(err)
	}
	if err := new(carillon.Company).Refusal(); err != nil {
		t.Error(err)
	}
}
