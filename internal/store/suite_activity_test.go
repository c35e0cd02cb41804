package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/resource"
	"carillon/internal/base/resource/resourcetest"
	"carillon/internal/store/accounts"
	"carillon/internal/store/audit"
	"carillon/internal/store/chats"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
	"carillon/internal/store/messages"
	"carillon/internal/store/purge"
	"carillon/internal/store/settings"
)

func recording() []sentence {
	return []sentence{
		{"each kind of change is recorded with its author, before and after, without secrets", auditKinds},
		{"a change that fails or changes nothing is not recorded", auditNothing},
		{"recorded changes are listed by company, author, kind, object and time, in pages", auditList},
		{"recorded changes are deleted in steps, the oldest first", auditPurge},
		{"calls are kept in a ring by number and bytes, references too", callRings},
		{"calls are listed by company, status, code, path, key, request and time, in pages", callList},
		{"calls are deleted by company in steps", callPurge},
	}
}

var ana = audit.Author{Kind: "account", ID: "a-1", Name: "ana@example.org", Origin: audit.Panel, Address: "192.0.2.1"}

// changeOf is a recorded change in a form that tests compare.
func (r *rig) changeOf(t *testing.T, company, id string) string {
	t.Helper()
	c, err := r.Audit.Find(t.Context(), company, id)
	if err != nil {
		t.Fatal(err)
	}
	var fields []string
	for _, f := range c.Changes {
		value := func(v json.RawMessage) string {
			if v == nil {
				return "none"
			}
			return string(v)
		}
		text := f.Path + ": " + value(f.Before) + " → " + value(f.After)
		if f.Secret {
			text += " secret"
		}
		fields = append(fields, text)
	}
	return fmt.Sprintf("%s by %s %s: %s %s", c.Action, c.Author, c.Origin, c.Kind, c.ObjectName) + " | " + strings.Join(fields, "; ")
}

func auditKinds(t *testing.T, r *rig) {
	ctx := audit.By(t.Context(), ana)
	now := func() time.Time { r.now = r.now.Add(time.Second); return r.now }
	config := func(fn func(ctx context.Context, tx *configure.Tx) error) error { return r.Config.Change(ctx, fn) }
	kind := resourcetest.Kinds()[0]
	company, err := r.Accounts.Company(t.Context(), ours)
	if err != nil {
		t.Fatal(err)
	}
	key := &accounts.AccessKey{CompanyID: ours, Label: "site", Key: "ck_recorded_secret_1", Scopes: []string{"notify:send"}}
	user := &accounts.Account{Email: "bob@example.org", Name: "Bob", PasswordHash: "hash-1"}
	member := func(role string) accounts.Membership {
		return accounts.Membership{AccountID: user.ID, CompanyID: ours, Role: role}
	}
	sender := func(settings string) *carillon.Sender {
		x := *r.sender
		x.ID, x.Number, x.UID, x.Settings = "cloud", "15555550109", 0, []byte(settings)
		return &x
	}
	invitation := &accounts.Invitation{CompanyID: ours, Email: "eva@example.org", Role: "viewer"}
	a := r.accepted(t, 2, func(a *messages.Accept) { a.Notification.DueAt = r.now.Add(time.Hour) })
	record := &settings.TemplateRecord{Template: carillon.Template{
		ID: "900", CompanyID: ours, SenderUID: r.sender.UID, Name: "hello", Language: "en", Category: "UTILITY",
		Status: carillon.TemplateDraft, ParameterFormat: "POSITIONAL",
		Components: []carillon.Component{{Type: "BODY", Text: "Hello"}}, CreatedAt: r.now, UpdatedAt: r.now,
	}}
	edited := *record
	edited.Components = []carillon.Component{{Type: "BODY", Text: "Hello you"}}
	canned := &chats.Canned{Shortcut: "hi", Text: "Hello"}
	res := func(name string) resource.Resource { return newResource(t, kind, name) }
	resourceID := ""
	job := r.job(t, ours, messages.JobChecked)
	at := func(tm time.Time) string { return carillon.FormatTime(tm) }
	by := func(action, rest string) string { return action + " by account:a-1 panel: " + rest }
	for _, c := range []struct {
		do   func() error
		want string
	}{
		{func() error {
			x := *company
			x.Limits.DailyRecipients = 7
			return config(func(ctx context.Context, tx *configure.Tx) error { return accounts.PutCompany(ctx, tx, &x, now()) })
		}, by("changed", "company Ours | limits.daily_recipients: 0 → 7")},
		{func() error {
			return config(func(ctx context.Context, tx *configure.Tx) error { return accounts.PutKey(ctx, tx, key, now()) })
		}, by("created", `key site | label: none → "site"; scopes: none → "notify:send"`)},
		{func() error {
			key.Scopes = []string{"*"}
			return config(func(ctx context.Context, tx *configure.Tx) error { return accounts.PutKey(ctx, tx, key, now()) })
		}, by("changed", `key site | scopes: "notify:send" → "*"`)},
		{func() error {
			return config(func(ctx context.Context, tx *configure.Tx) error {
				return accounts.RevokeKey(ctx, tx, ours, key.ID, now())
			})
		}, by("revoked", `key site | revoked_at: none → "`+at(r.now.Add(4*time.Second))+`"`)},
		{func() error {
			return config(func(ctx context.Context, tx *configure.Tx) error {
				return errors.Join(accounts.AddAccount(ctx, tx, user, now()), accounts.AddMembership(ctx, tx, member("viewer")))
			})
		}, by("joined", `user bob@example.org | role: none → "viewer"`)},
		{func() error {
			return config(func(ctx context.Context, tx *configure.Tx) error {
				return accounts.PutMembership(ctx, tx, member("admin"))
			})
		}, by("role_changed", `user bob@example.org | role: "viewer" → "admin"`)},
		{func() error {
			return r.Config.Update(ctx, func(ctx context.Context, tx *configure.Tx) error {
				return accounts.SetPassword(ctx, tx, user.ID, "hash-2", "", now())
			})
		}, by("password_set", "user bob@example.org | ")},
		{func() error {
			return r.Config.Update(ctx, func(ctx context.Context, tx *configure.Tx) error {
				return accounts.PutPasswordLink(ctx, tx, accounts.PasswordLink{
					AccountID: user.ID, CompanyID: ours, MadeBy: "a-1", CreatedAt: now(), ExpiresAt: r.now.Add(time.Hour),
				}, "link-secret")
			})
		}, by("password_link_made", "user bob@example.org | ")},
		{func() error {
			if err := r.Factors.ProposeFactor(ctx, user.ID, []byte("s"), now()); err != nil {
				return err
			}
			_, err := r.Factors.ConfirmFactor(ctx, user.ID, 1, []string{"c"}, now())
			return err
		}, by("second_factor_on", "user bob@example.org | ")},
		{func() error {
			return r.Factors.ReplaceRecovery(ctx, user.ID, []string{"d"})
		}, by("recovery_codes_made", "user bob@example.org | ")},
		{func() error {
			return r.Config.Update(ctx, func(ctx context.Context, tx *configure.Tx) error {
				return accounts.RemoveFactor(ctx, tx, user.ID)
			})
		}, by("second_factor_off", "user bob@example.org | ")},
		{func() error {
			return r.Config.Update(ctx, func(ctx context.Context, tx *configure.Tx) error {
				_, err := accounts.PutIdentity(ctx, tx, user.ID, "https://issuer.test", "sub", now())
				return err
			})
		}, by("identity_linked", `user bob@example.org | issuer: none → "https://issuer.test"`)},
		{func() error {
			return config(func(ctx context.Context, tx *configure.Tx) error {
				return accounts.PutAccount(ctx, tx, &accounts.Account{Email: user.Email, Name: "Robert"}, now())
			})
		}, by("changed", `user bob@example.org | name: "Bob" → "Robert"`)},
		{func() error {
			return config(func(ctx context.Context, tx *configure.Tx) error {
				return accounts.RemoveMembership(ctx, tx, member("admin"))
			})
		}, by("removed", `user bob@example.org | role: "admin" → none`)},
		{func() error {
			invitation.CreatedAt = now()
			return r.Config.Update(ctx, func(ctx context.Context, tx *configure.Tx) error {
				return accounts.PutInvitation(ctx, tx, invitation, "secret-1")
			})
		}, by("created", `invitation eva@example.org | role: none → "viewer"`)},
		{func() error {
			invitation.CreatedAt = now()
			return r.Config.Update(ctx, func(ctx context.Context, tx *configure.Tx) error {
				return accounts.PutInvitation(ctx, tx, invitation, "secret-2")
			})
		}, by("sent", `invitation eva@example.org | role: none → "viewer"`)},
		{func() error {
			return r.Config.Update(ctx, func(ctx context.Context, tx *configure.Tx) error {
				return accounts.RemoveInvitation(ctx, tx, ours, invitation.ID)
			})
		}, by("withdrawn", `invitation eva@example.org | role: "viewer" → none`)},
		{func() error {
			return config(func(ctx context.Context, tx *configure.Tx) error {
				if _, err := settings.DeclareSender(ctx, tx, sender(`{"access_token":"EAAone","phone_number_id":"1"}`), now()); err != nil {
					return err
				}
				_, err := settings.DeclareSender(ctx, tx, sender(`{"access_token":"EAAtwo","phone_number_id":"2"}`), now())
				return err
			})
		}, by("changed", `sender cloud (15555550109) | settings.access_token: true → true secret; settings.phone_number_id: "1" → "2"`)},
		{func() error {
			return config(func(ctx context.Context, tx *configure.Tx) error {
				return settings.RemoveSender(ctx, tx, ours, "cloud", now())
			})
		}, "deleted"},
		{func() error {
			return r.Templates.CreateTemplate(ctx, record, settings.TemplateLimits{},
				settings.TemplateChange{Action: settings.TemplateCreated, By: settings.TemplateAuthor{Kind: "account", ID: "a-1"}})
		}, "created"},
		{func() error {
			_, err := r.Templates.SwapTemplate(ctx, record, &edited, now(), settings.TemplateLimits{},
				settings.TemplateChange{Action: settings.TemplateEdited})
			return err
		}, by("changed", `template hello (en) | components[0].text: "Hello" → "Hello you"`)},
		{func() error {
			decided := edited
			decided.Status, decided.Reason = carillon.TemplateRejected, "no"
			ctx := t.Context()
			_, err := r.Templates.SwapTemplate(ctx, &edited, &decided, now(), settings.TemplateLimits{},
				settings.TemplateChange{Action: settings.TemplateDecided, By: settings.TemplateAuthor{Kind: "channel"}})
			edited = decided
			return err
		}, `decided by channel channel: template hello (en) | reason: "" → "no"; status: "draft" → "rejected"`},
		{func() error { _, err := r.Templates.DeleteTemplate(ctx, &edited); return err }, "deleted"},
		{func() error {
			x := res("one")
			_, err := r.Resources.PutResource(ctx, ours, kind, x)
			id, _ := x.Key()
			resourceID = *id
			return err
		}, "created"},
		{func() error { return r.Resources.DeleteResource(ctx, ours, resourcetest.Kinds(), kind, resourceID) }, "deleted"},
		{func() error {
			_, err := r.Suppressions.AddSuppressions(ctx, ours,
				settings.Suppression{Type: settings.SuppressAll, Reason: "manual", CreatedAt: now()}, "34600000001", "34600000002")
			return err
		}, by("added", `suppression 2 | amount: none → 2; numbers: none → "34600000001, 34600000002"; reason: none → "manual"; `+
			`type: none → "all"`)},
		{
			func() error {
				_, err := r.Suppressions.Unsuppress(ctx, ours, identity.Number("34600000001"))
				return err
			},
			by("lifted", `suppression 34600000001 | reason: "manual" → none; type: "all" → none`),
		},
		{
			func() error {
				_, err := r.Notifications.Move(ctx, ours, a.Notification.ID, r.now.Add(2*time.Hour), now())
				return err
			},
			by("moved", `notification  | scheduled_time: "`+at(a.Notification.DueAt)+`" → "`+"MOVED"+`"`),
		},
		{func() error {
			return r.Notifications.AddNote(ctx, ours, a.Notification.ID, "resent_as:x", audit.Resent)
		}, by("resent", `notification  | note: none → "resent_as:x"`)},
		{
			func() error { _, err := r.Notifications.Cancel(ctx, ours, a.Notification.ID, false, now()); return err },
			by("canceled", "notification  | already_sent: none → 0; canceled: none → 2"),
		},
		{func() error { return r.Canned.Add(ctx, ours, canned, now()) }, "created"},
		{func() error {
			return r.Canned.Replace(ctx, ours, chats.Canned{ID: canned.ID, Shortcut: "hi", Text: "Good day"}, now())
		}, by("changed", `canned_reply hi | text: "Hello" → "Good day"`)},
		{func() error { return r.Canned.Delete(ctx, ours, canned.ID) }, "deleted"},
		{func() error {
			job.State = messages.JobSending
			return r.Bulk.Save(ctx, job)
		}, by("started", `job people.csv | state: "checked" → "sending"`)},
		{func() error {
			job.State = messages.JobPaused
			return r.Bulk.Save(ctx, job)
		}, by("paused", `job people.csv | state: "sending" → "paused"`)},
		{func() error {
			job.State = messages.JobSending
			return r.Bulk.Save(ctx, job)
		}, by("resumed", `job people.csv | state: "paused" → "sending"`)},
		{func() error {
			job.State = messages.JobCanceling
			return r.Bulk.Save(ctx, job)
		}, by("canceled", `job people.csv | state: "sending" → "canceling"`)},
		{func() error {
			return r.Accounts.SetMaintenance(ctx, accounts.Maintenance{From: r.now, Until: r.now.Add(time.Hour)})
		}, "started"},
		{func() error { return r.Accounts.SetMaintenance(ctx, accounts.Maintenance{}) }, by("ended", "maintenance  | ")},
	} {
		before, err := r.Audit.List(t.Context(), ours, audit.Filter{Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.do(); err != nil {
			t.Fatalf("%s: %v", c.want, err)
		}
		after, err := r.Audit.List(t.Context(), ours, audit.Filter{Limit: 1000})
		if err != nil || len(after) <= len(before) {
			t.Errorf("%s is not recorded: %v", c.want, err)
			continue
		}
		seen := map[string]bool{}
		for _, x := range before {
			seen[x.ID] = true
		}
		last := ""
		for _, x := range after {
			if !seen[x.ID] {
				last = max(last, x.ID)
			}
		}
		got := r.changeOf(t, ours, last)
		want, _, cut := strings.Cut(c.want, "MOVED")
		if !strings.HasPrefix(got, want) || !cut && strings.Contains(c.want, "|") && got != c.want {
			t.Errorf("recorded as\n%s, want\n%s", got, c.want)
		}
		for _, secret := range []string{"ck_recorded", "hash-", "EAAone", "EAAtwo", "link-secret", "secret-1"} {
			if strings.Contains(got, secret) {
				t.Errorf("%s has a secret", got)
			}
		}
	}
	if all, err := r.Audit.List(t.Context(), theirs, audit.Filter{Limit: 100}); err != nil || len(all) != 1 { // the company itself
		t.Errorf("another company has %d changes, %v", len(all), err)
	}
}

// newResource makes a resource of a kind by its JSON.
func newResource(t *testing.T, k resource.Kind, name string) resource.Resource {
	t.Helper()
	x := k.New()
	_, to := x.Key()
	*to = name
	return x
}

func auditNothing(t *testing.T, r *rig) {
	ctx := audit.By(t.Context(), ana)
	count := func() int {
		all, err := r.Audit.List(t.Context(), ours, audit.Filter{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	before := count()
	key := &accounts.AccessKey{CompanyID: ours, Label: "k", Key: "ck_nothing_1", Scopes: []string{"*"}}
	failed := errors.New("failed behind the change")
	if err := r.Config.Change(ctx, func(ctx context.Context, tx *configure.Tx) error {
		return errors.Join(accounts.PutKey(ctx, tx, key, r.now), failed)
	}); !errors.Is(err, failed) {
		t.Fatal(err)
	}
	if n := count(); n != before {
		t.Errorf("%d changes recorded of one that was rolled back", n-before)
	}
	for range 2 {
		k := *key
		k.ID = ""
		r.configure(t, func(ctx context.Context, tx *configure.Tx) error { return accounts.PutKey(ctx, tx, &k, r.now) })
	}
	if n := count(); n != before+1 {
		t.Errorf("%d changes recorded of a key that was put twice", n-before)
	}
	all, err := r.Audit.List(t.Context(), ours, audit.Filter{Limit: 1})
	if err != nil || all[0].Author != "system" || all[0].Origin != audit.System {
		t.Errorf("without an author: %+v, %v", all, err)
	}
}

func auditList(t *testing.T, r *rig) {
	record := func(company string, a audit.Author, kind audit.Kind, id string) {
		t.Helper()
		r.now = r.now.Add(time.Second)
		if err := r.Config.Update(audit.By(t.Context(), a), func(ctx context.Context, tx *configure.Tx) error {
			return audit.Record(ctx, tx.Tx, r.now, audit.Entry{
				CompanyID: company, Kind: kind, ID: id, Name: id, Action: audit.Created, After: map[string]int{"n": 1},
			})
		}); err != nil {
			t.Fatal(err)
		}
	}
	bob := audit.Author{Kind: "key", ID: "k-1", Name: "shop", Origin: audit.API}
	r.now = r.now.Add(time.Hour)
	begin := r.now.Add(time.Second)
	record(ours, ana, audit.Sender, "s1")
	record(ours, bob, audit.Sender, "s2")
	record(ours, ana, audit.Key, "k1")
	record(theirs, ana, audit.Sender, "s1")
	// between two of ours
	record(theirs, audit.Author{Kind: "account", ID: "b-1", Name: "ben@example.org", Origin: audit.Panel}, audit.Sender, "s1")
	record(ours, ana, audit.Sender, "s2")
	list := func(f audit.Filter) string {
		t.Helper()
		if f.Limit == 0 {
			f.Limit = 10
		}
		all, err := r.Audit.List(t.Context(), ours, f)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, c := range all {
			ids = append(ids, (c.AuthorName + "?")[:1]+c.ObjectID)
		}
		return strings.Join(ids, " ")
	}
	for name, c := range map[string]struct {
		f    audit.Filter
		want string
	}{
		"all":             {audit.Filter{From: begin}, "as2 ak1 ss2 as1"},
		"an author":       {audit.Filter{From: begin, Author: "account:a-1"}, "as2 ak1 as1"},
		"a kind":          {audit.Filter{From: begin, Kind: audit.Sender}, "as2 ss2 as1"},
		"both":            {audit.Filter{From: begin, Kind: audit.Sender, Author: "account:a-1"}, "as2 as1"},
		"an object":       {audit.Filter{Kind: audit.Sender, ObjectID: "s2"}, "as2 ss2"},
		"all of these":    {audit.Filter{Kind: audit.Sender, ObjectID: "s2", Author: "key:k-1"}, "ss2"},
		"until":           {audit.Filter{From: begin, To: begin.Add(2 * time.Second)}, "ss2 as1"},
		"nobody":          {audit.Filter{Author: "account:x"}, ""},
		"nothing of them": {audit.Filter{Kind: audit.Job}, ""},
	} {
		if got := list(c.f); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	page, err := r.Audit.List(t.Context(), ours, audit.Filter{From: begin, Limit: 2})
	if err != nil || len(page) != 2 {
		t.Fatal(page, err)
	}
	if got := list(audit.Filter{From: begin, Before: page[1].ID}); got != "ss2 as1" {
		t.Errorf("the second page: %s", got)
	}
	if _, err := r.Audit.Find(t.Context(), theirs, page[0].ID); !carillon.IsCode(err, carillon.NotFound) {
		t.Error("another company finds it:", err)
	}
	people, err := r.Audit.Authors(t.Context(), ours, 3)
	want := []audit.Person{
		{Key: "account:a-1", Name: "ana@example.org", Origin: audit.Panel},
		{Key: "key:k-1", Name: "shop", Origin: audit.API},
		{Key: "system", Origin: audit.System},
	}
	if d := cmp.Diff(want, people); d != "" || err != nil {
		t.Error(d, err)
	}
}

func auditPurge(t *testing.T, r *rig) {
	for i := range 5 {
		r.update(t, func(ctx context.Context, tx *configure.Tx) error {
			return audit.Record(ctx, tx.Tx, r.now.Add(time.Duration(i)*time.Hour),
				audit.Entry{CompanyID: ours, Kind: audit.Key, ID: fmt.Sprint(i), Action: audit.Created})
		})
	}
	before := r.now.Add(3 * time.Hour)
	rows := 0
	for more := true; more; {
		p, err := r.Purges.Drop(t.Context(), purge.Changes, before, 2)
		if err != nil {
			t.Fatal(err)
		}
		rows, more = rows+p.Rows, p.More
	}
	all, err := r.Audit.List(t.Context(), ours, audit.Filter{Limit: 10})
	if err != nil || len(all) != 2 || all[1].ObjectID != "3" || rows != 5 { // three of them, and the two companies
		t.Errorf("%d rows deleted, left are %+v, %v", rows, all, err)
	}
}

// apiCall is a call of a company.
func (r *rig) apiCall(company, path string, status int) audit.APICall {
	r.now = r.now.Add(time.Second)
	return audit.APICall{
		ID: carillon.NewID(r.now), CompanyID: company, At: db.Instant(db.Millis(r.now)), Status: status,
		Code: fmt.Sprint("code_", status), Method: "POST", Path: path, KeyID: "k1",
		RequestID: "req_" + path + fmt.Sprint(status), Took: 1500 * time.Microsecond, Message: "no",
		APICallDetail: audit.APICallDetail{Query: "a=b", Address: "192.0.2.7", Body: `{"a":1}`, BodyRead: true, Response: "{}"},
	}
}

func callRings(t *testing.T, r *rig) {
	s := r.APICalls
	var all []audit.APICall
	for range audit.MaxAPICalls + 30 {
		all = append(all, r.apiCall(ours, "/a", 400))
	}
	other := r.apiCall(theirs, "/a", 400)
	if err := s.Write(t.Context(), append(all, other), nil, []string{ours, theirs}); err != nil {
		t.Fatal(err)
	}
	got, err := s.List(t.Context(), ours, audit.APICallFilter{Limit: 2000})
	if err != nil || len(got) != audit.MaxAPICalls || got[0].ID != all[len(all)-1].ID || got[len(got)-1].ID != all[30].ID {
		t.Errorf("%d calls are kept, %v", len(got), err)
	}
	large := r.apiCall(ours, "/large", 400)
	large.Body = strings.Repeat("x", audit.MaxAPICallBytes-500)
	if err := s.Write(t.Context(), []audit.APICall{large}, nil, []string{ours}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.List(t.Context(), ours, audit.APICallFilter{Limit: 2000}); err != nil || len(got) > 5 || got[0].Path != "/large" {
		t.Errorf("%d calls are kept with a large one, %v", len(got), err)
	}
	if got, err := s.List(t.Context(), theirs, audit.APICallFilter{Limit: 10}); err != nil || len(got) != 1 {
		t.Errorf("another company has %d, %v", len(got), err)
	}
	chunk := func(n int) audit.AcceptedChunk {
		c := audit.AcceptedChunk{ID: carillon.NewID(r.now), CompanyID: ours}
		for range n {
			r.now = r.now.Add(time.Millisecond)
			c.All = append(c.All, audit.AcceptedCall{
				At: db.Instant(db.Millis(r.now)), RequestID: "req_x", KeyID: "k1", NotificationID: carillon.NewID(r.now), Voice: n%2 == 1,
			})
		}
		return c
	}
	first, second, third := chunk(audit.MaxAcceptedCalls-1), chunk(1), chunk(2)
	for _, chunks := range [][]audit.AcceptedChunk{{first}, {first, second}, {third}} { // the first is written again
		if err := s.Write(t.Context(), nil, chunks, []string{ours}); err != nil {
			t.Fatal(err)
		}
	}
	accepted, err := s.Accepted(t.Context(), ours)
	if err != nil || len(accepted) != 3 {
		t.Fatalf("%d references are kept, %v", len(accepted), err)
	}
	if d := cmp.Diff([]audit.AcceptedCall{third.All[1], third.All[0], second.All[0]}, accepted); d != "" {
		t.Error(d)
	}
	if accepted, err := s.Accepted(t.Context(), theirs); len(accepted) != 0 || err != nil {
		t.Error("another company's:", len(accepted), err)
	}
}

func callList(t *testing.T, r *rig) {
	s := r.APICalls
	all := []audit.APICall{
		r.apiCall(ours, "/functions/v1/notify", 400), r.apiCall(ours, "/functions/v1/notify/voice", 503),
		r.apiCall(ours, "/functions/v1/usage", 429), r.apiCall(theirs, "/functions/v1/notify", 400),
	}
	all[2].KeyID, all[2].Repeats = "k2", 4
	if err := s.Write(t.Context(), all, nil, nil); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		f    audit.APICallFilter
		want []int
	}{
		"all":       {audit.APICallFilter{}, []int{2, 1, 0}},
		"refused":   {audit.APICallFilter{Least: 400, Most: 499}, []int{2, 0}},
		"failed":    {audit.APICallFilter{Least: 500}, []int{1}},
		"a code":    {audit.APICallFilter{Code: "code_429"}, []int{2}},
		"a path":    {audit.APICallFilter{Path: "/functions/v1/notify"}, []int{1, 0}},
		"no path":   {audit.APICallFilter{Path: "%"}, nil},
		"a key":     {audit.APICallFilter{KeyID: "k2"}, []int{2}},
		"a request": {audit.APICallFilter{RequestID: all[1].RequestID}, []int{1}},
		"from":      {audit.APICallFilter{From: all[1].At}, []int{2, 1}},
		"to":        {audit.APICallFilter{To: all[1].At}, []int{0}},
		"a page":    {audit.APICallFilter{Before: all[2].ID, Limit: 1}, []int{1}},
	} {
		if c.f.Limit == 0 {
			c.f.Limit = 10
		}
		got, err := s.List(t.Context(), ours, c.f)
		var want []audit.APICall
		for _, i := range c.want {
			x := all[i]
			x.APICallDetail = audit.APICallDetail{}
			want = append(want, x)
		}
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%s: %s, %v", name, d, err)
		}
	}
	got, err := s.Find(t.Context(), ours, all[1].ID)
	if d := cmp.Diff(&all[1], got); d != "" || err != nil {
		t.Error(d, err)
	}
	if _, err := s.Find(t.Context(), theirs, all[1].ID); !carillon.IsCode(err, carillon.NotFound) {
		t.Error("another company finds it:", err)
	}
}

func callPurge(t *testing.T, r *rig) {
	s := r.APICalls
	var all []audit.APICall
	for range 4 {
		all = append(all, r.apiCall(ours, "/a", 400), r.apiCall(theirs, "/a", 400))
	}
	chunk := audit.AcceptedChunk{
		ID: carillon.NewID(r.now), CompanyID: ours, All: []audit.AcceptedCall{{At: r.now.Add(-time.Minute), NotificationID: "n"}},
	}
	if err := s.Write(t.Context(), all, []audit.AcceptedChunk{chunk}, nil); err != nil {
		t.Fatal(err)
	}
	var companies []string
	for id := ""; ; {
		var err error
		if id, err = r.Purges.Next(t.Context(), purge.APICalls, id); err != nil {
			t.Fatal(err)
		}
		if id == "" {
			break
		}
		companies = append(companies, id)
	}
	if d := cmp.Diff([]string{ours, theirs}, companies); d != "" {
		t.Error(d)
	}
	rows := 0
	for more := true; more; {
		p, err := r.Purges.DropAPICalls(t.Context(), ours, all[6].At, 2)
		if err != nil {
			t.Fatal(err)
		}
		rows, more = rows+p.Rows, p.More
	}
	left, err := s.List(t.Context(), ours, audit.APICallFilter{Limit: 10})
	if err != nil || len(left) != 1 || left[0].ID != all[6].ID || rows != 4 {
		t.Errorf("%d rows deleted, left are %d, %v", rows, len(left), err)
	}
	if left, err := s.List(t.Context(), theirs, audit.APICallFilter{Limit: 10}); err != nil || len(left) != 4 {
		t.Errorf("another company's: %d, %v", len(left), err)
	}
}
