package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"carillon/internal/store/configure"
	"carillon/internal/store/messages"
	"carillon/internal/store/settings"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/identity"
	"carillon/internal/store/accounts"
	"carillon/internal/store/audit"
)

func configuring() []sentence {
	return []sentence{
		{"what was configured is read at once", configuredIsReadAtOnce},
		{"what was configured is read at once although its caller left", configuredWithoutCaller},
		{"a configuration that fails changes nothing", failedConfiguration},
		{"a company and a line keep what calls need", callSettings},
		{"a limit that is younger than its company has its default", youngerLimits},
		{"senders are found by company, uid, id and number", findingSenders},
		{"a number is another company's once that is proved", provedNumbers},
		{"two senders of a company never share a number", sendersShareNoNumber},
		{"a number is given to one company", assigningNumbers},
		{"senders have random numbers, which JavaScript reads exactly", randomUIDs},
		{"the lines that have a trunk are those of all companies", linesWithTrunks},
		{"a sender is removed once nothing of it waits, and comes back as itself", removingSenders},
		{"templates are found by our id and the channel's, by their company alone", findingTemplates},
		{"templates are polled when due, by one node", pollingTemplates},
		{"the templates of a company keep their limits", templateLimits},
		{"suppressions belong to their company", suppressing},
		{"a maintenance window begins and ends", maintaining},
		{"a rate is borrowed up to its limit and forgotten", borrowing},
		{"the oldest company is the first that was made", oldestCompany},
	}
}

func randomUIDs(t *testing.T, r *rig) {
	const n = 200
	shards, largest := map[int]bool{}, int64(0)
	r.configure(t, func(ctx context.Context, tx *configure.Tx) error {
		for i := range n {
			x := *r.second
			x.ID, x.Number, x.Default = "random-"+strconv.Itoa(i), strconv.Itoa(15555560000+i), false
			if err := settings.PutSender(ctx, tx, &x, r.now.Add(time.Duration(1+i)*time.Millisecond)); err != nil {
				return err
			}
			if x.UID <= 0 || x.UID >= 1<<53 || int64(float64(x.UID)) != x.UID {
				t.Errorf("the number %d", x.UID)
			}
			shards[x.Shard()], largest = true, max(largest, x.UID)
		}
		return nil
	})
	// Of 200 random numbers, none is above 2^45 once in 10^480, and fewer than 40 of 64 shards are used once in 10^20.
	if len(shards) < 40 || largest < 1<<45 {
		t.Errorf("%d shards are used, the largest number is %d", len(shards), largest)
	}
	all, err := r.Senders.Senders(t.Context(), ours)
	if err != nil || len(all) != n+2 {
		t.Fatalf("%d senders, %v", len(all), err)
	}
	for i, x := range all[2:] {
		if x.ID != "random-"+strconv.Itoa(i) {
			t.Fatalf("sender %d is %s: they are not in the order of their creation", i, x.ID)
		}
	}
}

// put makes our company with another name.
func put(name string, now time.Time) func(ctx context.Context, tx *configure.Tx) error {
	return func(ctx context.Context, tx *configure.Tx) error {
		return accounts.PutCompany(ctx, tx, &carillon.Company{ID: ours, Name: name}, now)
	}
}

func (r *rig) companyName(t *testing.T) string {
	t.Helper()
	c, err := r.Accounts.Company(t.Context(), ours)
	if err != nil {
		t.Fatal(err)
	}
	return c.Name
}

func configuredIsReadAtOnce(t *testing.T, r *rig) {
	key := &accounts.AccessKey{CompanyID: ours, Label: "l", Key: "ck_secret", Scopes: []string{"*"}}
	for i := range 20 {
		name := "Name " + strconv.Itoa(i)
		if k, err := r.Keys.AccessKey(t.Context(), key.Key+name); k != nil || err != nil { // the absence is remembered too
			t.Fatal(k, err)
		}
		before := r.Config.Generation()
		r.configure(t, func(ctx context.Context, tx *configure.Tx) error {
			fresh := *key
			fresh.Key += name
			return errors.Join(put(name, r.now)(ctx, tx), accounts.PutKey(ctx, tx, &fresh, r.now))
		})
		if got := r.companyName(t); got != name {
			t.Errorf("read %q after %q was written", got, name)
		}
		if k, err := r.Keys.AccessKey(t.Context(), key.Key+name); k == nil || err != nil {
			t.Error("the new key is not known:", err)
		}
		if r.Config.Generation() == before {
			t.Error("the generation stood still")
		}
	}
	if _, err := r.Accounts.Company(t.Context(), "nobody"); !carillon.IsCode(err, carillon.NotFound) {
		t.Error(err)
	}
}

func configuredWithoutCaller(t *testing.T, r *rig) {
	ctx, leave := context.WithCancel(t.Context())
	k := &accounts.AccessKey{CompanyID: ours, Label: "l", Key: "ck_secret", Scopes: []string{"*"}}
	r.configure(t, func(ctx context.Context, tx *configure.Tx) error { return accounts.PutKey(ctx, tx, k, r.now) })
	leave()
	err := r.Config.Change(ctx, func(ctx context.Context, tx *configure.Tx) error {
		if _, err := r.Keys.AccessKey(t.Context(), k.Key); err != nil { // another request fills the cache meanwhile
			return err
		}
		return accounts.RevokeKey(ctx, tx, ours, k.ID, r.now)
	})
	if err != nil {
		t.Error("given up with its caller:", err)
	}
	if got, err := r.Keys.AccessKey(t.Context(), k.Key); err != nil || got == nil || got.RevokedAt.IsZero() {
		t.Errorf("the revoked key is still good: %+v, %v", got, err)
	}
}

func failedConfiguration(t *testing.T, r *rig) {
	before, fault := r.companyName(t), errors.New("no")
	err := r.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return errors.Join(put("Changed", r.now)(ctx, tx), fault)
	})
	if !errors.Is(err, fault) || r.companyName(t) != before {
		t.Error(err, r.companyName(t))
	}
	err = r.Config.Change(t.Context(), put("Theirs", r.now))
	if !carillon.IsCode(err, carillon.Conflict) || r.companyName(t) != before {
		t.Error(err, r.companyName(t))
	}
}

func callSettings(t *testing.T, r *rig) {
	want := carillon.NewCompany("Caller")
	want.ID = ours
	want.CallingHours = &carillon.CallingHours{Timezone: "Europe/Madrid", From: "22:00", To: "02:00", Days: []string{"fri"}}
	want.Redial = carillon.Redial{Outcomes: []carillon.State{carillon.StateVoicemail}, Attempts: 10, After: 90 * time.Second}
	line := *r.second
	line.Channel, line.RingTimeout = carillon.Voice, 12345*time.Millisecond
	r.configure(t, func(ctx context.Context, tx *configure.Tx) error {
		return errors.Join(accounts.PutCompany(ctx, tx, &want, r.now), settings.PutSender(ctx, tx, &line, r.now))
	})
	c, err := r.Accounts.Company(t.Context(), ours)
	if d := cmp.Diff(&want, c); err != nil || d != "" {
		t.Error(err, d)
	}
	x, err := r.Senders.Sender(t.Context(), line.UID)
	if d := cmp.Diff(&line, x); err != nil || d != "" {
		t.Error(err, d)
	}
}

func findingSenders(t *testing.T, r *rig) {
	all, err := r.Senders.Senders(t.Context(), ours)
	if err != nil || len(all) != 2 || all[0].UID != r.sender.UID || all[1].UID != r.second.UID {
		t.Error(all, err)
	}
	x, err := r.Senders.Sender(t.Context(), r.second.UID)
	if d := cmp.Diff(r.second, x); err != nil || d != "" {
		t.Error(err, d)
	}
	if _, err := r.Senders.Sender(t.Context(), 999); !carillon.IsCode(err, carillon.NotFound) {
		t.Error(err)
	}
	for company, want := range map[string]bool{ours: true, theirs: false} {
		if x, err := r.Senders.SenderOf(t.Context(), company, r.second.UID); (x != nil) != want || err != nil {
			t.Errorf("the sender of %s: %v, %v", company, x, err)
		}
	}
	if all, err := r.Senders.SendersByID(t.Context(), "main"); err != nil || len(all) != 2 {
		t.Error(all, err)
	}
}

func provedNumbers(t *testing.T, r *rig) {
	elsewhere := func(when, name string, want bool) {
		t.Helper()
		if got, err := r.Senders.ProvedElsewhere(t.Context(), ours, name); got != want || err != nil {
			t.Errorf("%s, %s is elsewhere: %v, %v", when, name, got, err)
		}
	}
	declared := false
	prove := func(x *carillon.Sender, want bool) {
		t.Helper()
		r.configure(t, func(ctx context.Context, tx *configure.Tx) error {
			if fresh, err := settings.ProveNumber(ctx, tx, x, declared, r.now); fresh != want || err != nil {
				t.Errorf("the proof of %s is new: %v, %v", x.Number, fresh, err)
			}
			return nil
		})
	}
	declare := func(x carillon.Sender) {
		t.Helper()
		r.configure(t, func(ctx context.Context, tx *configure.Tx) error {
			_, err := settings.DeclareSender(ctx, tx, &x, r.now)
			return err
		})
	}
	for _, name := range []string{"main", "15555550100", "side", "15555550101", "none"} {
		elsewhere("entered", name, false)
	}
	stolen := *r.foreign
	stolen.CompanyID = ours
	prove(&stolen, false)
	elsewhere("proved for a company that it is not of", r.foreign.Number, false)
	prove(r.foreign, true)
	prove(r.foreign, false)
	elsewhere("proved", r.foreign.Number, true)
	elsewhere("proved", r.foreign.ID, false)
	declared = true
	prove(r.foreign, true)
	elsewhere("declared by the operator", r.foreign.ID, true)
	declared = false
	prove(r.foreign, false)
	elsewhere("declared before it was checked", r.foreign.ID, true)
	declare(*r.foreign)
	elsewhere("stored once more", r.foreign.Number, true)
	changed := *r.foreign
	changed.Settings = []byte(`{"phone_number_id":"7"}`)
	declare(changed)
	elsewhere("with another account", r.foreign.Number, false)
	elsewhere("with another account", r.foreign.ID, false)
	prove(r.foreign, true)
	changed.Number = "15555550177"
	declare(changed)
	elsewhere("given up", r.foreign.Number, false)
	elsewhere("changed", changed.Number, false)
	prove(&changed, true)
	elsewhere("proved", changed.Number, true)
	r.configure(t, func(ctx context.Context, tx *configure.Tx) error {
		return settings.RemoveSender(ctx, tx, theirs, changed.ID, r.now)
	})
	declare(changed)
	elsewhere("removed and entered again", changed.Number, false)
}

func youngerLimits(t *testing.T, r *rig) {
	standard := carillon.NewCompany("").Limits
	for text, want := range map[string]carillon.Limits{
		`{"daily_recipients":0,"daily_bytes":7}`: {
			DailyBytes: 7, DailyCalls: standard.DailyCalls, EngineTurnsPerDay: standard.EngineTurnsPerDay,
		},
		`{"daily_calls":0,"engine_turns_per_day":0}`:           {},
		`{"daily_calls":5,"engine_turns_per_day":6,"other":1}`: {DailyCalls: 5, EngineTurnsPerDay: 6},
	} {
		r.configure(t, func(ctx context.Context, tx *configure.Tx) error {
			if err := put("Ours", r.now)(ctx, tx); err != nil { // the caches learn of it
				return err
			}
			_, err := tx.Exec(ctx, "UPDATE company SET limits = $1 WHERE id = $2", text, ours)
			return err
		})
		if c, err := r.Accounts.Company(t.Context(), ours); err != nil || c.Limits != want {
			t.Errorf("%s: %+v, %v", text, c.Limits, err)
		}
	}
}

func sendersShareNoNumber(t *testing.T, r *rig) {
	double := *r.second
	double.Number = r.sender.Number
	err := r.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return settings.PutSender(ctx, tx, &double, r.now)
	})
	if !carillon.IsCode(err, carillon.Conflict) {
		t.Error(err)
	}
	if all, err := r.Senders.LinesByNumber(t.Context(), double.Number); err != nil || len(all) != 0 {
		t.Error(all, err)
	}
	double.Channel = carillon.Voice // one number may be a line of each channel
	r.configure(t, func(ctx context.Context, tx *configure.Tx) error { return settings.PutSender(ctx, tx, &double, r.now) })
	if double.UID != r.second.UID {
		t.Errorf("uid %d became %d", r.second.UID, double.UID)
	}
	if all, err := r.Senders.LinesByNumber(t.Context(), double.Number); err != nil || len(all) != 1 || all[0].UID != double.UID {
		t.Error(all, err)
	}
}

func assigningNumbers(t *testing.T, r *rig) {
	const number = "15555550555"
	r.configure(t, func(ctx context.Context, tx *configure.Tx) error {
		var all []error
		for _, x := range []carillon.Sender{
			{CompanyID: ours, ID: "ours-line", Number: number},
			{CompanyID: theirs, ID: "theirs-line", Number: number},
			{CompanyID: ours, ID: "ours-other", Number: "15555550556"},
			{CompanyID: theirs, ID: "theirs-other", Number: "15555550557"},
		} {
			line := *r.second
			line.CompanyID, line.ID, line.Number, line.Channel, line.Default = x.CompanyID, x.ID, x.Number, carillon.Voice, false
			all = append(all, settings.PutSender(ctx, tx, &line, r.now))
		}
		return errors.Join(all...)
	})
	shared, err := r.Senders.SharedNumbers(t.Context())
	if err != nil || len(shared) != 2 || shared[0].Number != number || shared[1].Number != number ||
		shared[0].CompanyID != ours || shared[1].CompanyID != theirs {
		t.Errorf("%+v, %v", shared, err)
	}
	owner := func(want string) {
		t.Helper()
		if got, err := r.Senders.NumberOwner(t.Context(), number); got != want || err != nil {
			t.Errorf("it is the number of %q, %v; want %q", got, err, want)
		}
	}
	assign := func(company string) {
		t.Helper()
		r.configure(t, func(ctx context.Context, tx *configure.Tx) error {
			if err := settings.AssignNumber(ctx, tx, number, company, r.now); err != nil {
				return err
			}
			got, err := settings.NumberOwner(ctx, tx, number)
			if got != company {
				t.Errorf("inside the transaction it is the number of %q", got)
			}
			return err
		})
		owner(company)
	}
	owner("")
	for _, company := range []string{theirs, ours, ours, "", "", theirs} {
		assign(company)
	}
	var changes []string
	for _, company := range []string{ours, theirs} {
		all, err := r.Audit.List(t.Context(), company, audit.Filter{Kind: audit.Sender, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			changes = append(changes, c.ObjectID)
		}
	}
	if d := cmp.Diff([]string{"ours-line", "ours-line", "theirs-line", "theirs-line", "theirs-line"}, changes); d != "" {
		t.Error(d)
	}
	r.configure(t, func(ctx context.Context, tx *configure.Tx) error {
		all, err := settings.LinesByNumber(ctx, tx, number)
		if len(all) != 2 {
			t.Errorf("%d lines inside a transaction", len(all))
		}
		return err
	})
	r.configure(t, func(ctx context.Context, tx *configure.Tx) error {
		return settings.RemoveSender(ctx, tx, theirs, "theirs-line", r.now)
	})
	if shared, err := r.Senders.SharedNumbers(t.Context()); err != nil || len(shared) != 0 {
		t.Errorf("%+v, %v", shared, err)
	}
}

// linesWithTrunks are those of all companies, without messaging senders, sandbox lines and removed lines.
func linesWithTrunks(t *testing.T, r *rig) {
	all := func() (ids []string) {
		lines, err := r.Senders.SIPLines(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range lines {
			ids = append(ids, x.CompanyID+" "+x.ID+" "+string(x.Settings))
		}
		slices.Sort(ids)
		return ids
	}
	before := all()
	line := func(company, id, provider string) *carillon.Sender {
		return &carillon.Sender{
			CompanyID: company, ID: id, Number: "1555555" + id, Channel: carillon.Voice, Provider: provider, MediaCheck: "full",
			Unknown:  r.sender.Unknown,
			Settings: json.RawMessage(`{"trunk":"sip:192.0.2.1"}`),
		}
	}
	r.configure(t, func(ctx context.Context, tx *configure.Tx) error {
		return errors.Join(settings.PutSender(ctx, tx, line(ours, "0001", "sip"), r.now),
			settings.PutSender(ctx, tx, line(theirs, "0002", "sip"), r.now),
			settings.PutSender(ctx, tx, line(ours, "0003", "sandbox"), r.now),
			settings.PutSender(ctx, tx, line(ours, "0004", "sip"), r.now))
	})
	r.configure(t, func(ctx context.Context, tx *configure.Tx) error {
		return settings.RemoveSender(ctx, tx, ours, "0004", r.now)
	})
	want := append(before, ours+` 0001 {"trunk":"sip:192.0.2.1"}`, theirs+` 0002 {"trunk":"sip:192.0.2.1"}`)
	slices.Sort(want)
	if d := cmp.Diff(want, all()); d != "" {
		t.Error(d)
	}
}

func removingSenders(t *testing.T, r *rig) {
	remove := func(company, id string) error {
		return r.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
			return settings.RemoveSender(ctx, tx, company, id, r.now)
		})
	}
	if err := remove(theirs, "side"); !carillon.IsCode(err, carillon.NotFound) {
		t.Errorf("another company removes: %v", err)
	}
	r.create(t, r.template(r.second, "t1", "hello", carillon.TemplateApproved))
	for name, waits := range map[string]func(a *messages.Accept){
		"due": func(*messages.Accept) {}, "later": func(a *messages.Accept) { a.Notification.DueAt = r.now.Add(time.Hour) },
	} {
		a := r.accepted(t, 1, func(a *messages.Accept) { a.Notification.SenderUID = r.second.UID }, waits)
		if err := remove(ours, "side"); !carillon.IsCode(err, carillon.Conflict) {
			t.Errorf("a message that is %s: %v", name, err)
		}
		if _, err := r.Notifications.Cancel(t.Context(), ours, a.Notification.ID, false, r.now); err != nil {
			t.Fatal(err)
		}
	}
	if err := remove(ours, "side"); err != nil {
		t.Fatal(err)
	}
	if all, err := r.Senders.Senders(t.Context(), ours); err != nil || len(all) != 1 {
		t.Error(all, err)
	}
	if x, err := r.Senders.Sender(t.Context(), r.second.UID); err != nil || x.ID != "side" || string(x.Settings) != "{}" {
		t.Errorf("notifications show %v, %v", x, err)
	}
	if err := remove(ours, "side"); !carillon.IsCode(err, carillon.NotFound) {
		t.Errorf("removed twice: %v", err)
	}
	if left, err := r.Templates.Templates(t.Context(), r.second.UID); err != nil || len(left) != 0 {
		t.Error(left, err)
	}
	other, again := *r.second, *r.second
	other.ID, again.Number = "other", "15555550177"
	r.configure(t, func(ctx context.Context, tx *configure.Tx) error {
		// the number is free, the id its own
		return errors.Join(settings.PutSender(ctx, tx, &other, r.now), settings.PutSender(ctx, tx, &again, r.now))
	})
	if other.UID == r.second.UID || again.UID != r.second.UID {
		t.Errorf("uids %d and %d after %d", other.UID, again.UID, r.second.UID)
	}
	if all, err := r.Senders.Senders(t.Context(), ours); err != nil || len(all) != 3 {
		t.Error(all, err)
	}
	for most, full := range map[int]bool{3: true, 4: false} {
		err := r.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
			return settings.RoomForSender(ctx, tx, ours, most)
		})
		if full != carillon.IsCode(err, carillon.LimitExceeded) {
			t.Errorf("3 senders of %d: %v", most, err)
		}
	}
}

func (r *rig) template(sender *carillon.Sender, id, name string, status carillon.TemplateStatus) *settings.TemplateRecord {
	return &settings.TemplateRecord{Template: carillon.Template{
		ID: id, CompanyID: sender.CompanyID, SenderUID: sender.UID, Name: name, Language: "es", Category: "UTILITY", Status: status,
		ParameterFormat: content.Positional, Components: []carillon.Component{{Type: content.TypeBody, Text: "Hola {{1}}"}},
		CreatedAt: r.now, UpdatedAt: r.now,
	}}
}

func (r *rig) create(t *testing.T, x *settings.TemplateRecord) {
	t.Helper()
	if err := r.Templates.CreateTemplate(t.Context(), x, settings.TemplateLimits{}); err != nil {
		t.Fatal(err)
	}
}

func findingTemplates(t *testing.T, r *rig) {
	mine, foreign := r.template(r.sender, "1", "a", carillon.TemplateApproved), r.template(r.foreign, "2", "a", carillon.TemplateApproved)
	mine.ProviderID, foreign.ProviderID = "900", "901"
	r.create(t, mine)
	r.create(t, foreign)
	for id, found := range map[string]bool{"1": true, "900": true, "2": false, "901": false, "": false, "3": false} {
		x, err := r.Templates.Template(t.Context(), ours, id)
		if found && (err != nil || x.ID != "1") || !found && !carillon.IsCode(err, carillon.NotFound) {
			t.Errorf("%q: %+v, %v", id, x, err)
		}
	}
	for _, tt := range []struct {
		sender         *carillon.Sender
		provider, name string
		want           string
	}{
		{r.sender, "900", "other", "1"},
		{r.sender, "", "a", "1"},
		{r.sender, "777", "a", ""},
		{r.second, "900", "a", ""},
		{r.sender, "901", "none", ""},
		{r.foreign, "901", "", "2"},
	} {
		x, err := r.Templates.ReportedTemplate(t.Context(), tt.sender.UID, tt.provider, tt.name, "es")
		if err != nil || (x == nil) != (tt.want == "") || x != nil && x.ID != tt.want {
			t.Errorf("%+v: %+v, %v", tt, x, err)
		}
	}
	if all, err := r.Templates.Templates(t.Context(), r.sender.UID); err != nil || len(all) != 1 || all[0].Shape == nil {
		t.Error(all, err)
	}
	if gone, err := r.Templates.DeleteTemplate(t.Context(), mine); !gone || err != nil {
		t.Error(gone, err)
	}
	if all, err := r.Templates.Templates(t.Context(), r.sender.UID); err != nil || len(all) != 0 {
		t.Error("a deleted template is still listed:", all, err)
	}
}

func pollingTemplates(t *testing.T, r *rig) {
	for i, wait := range []time.Duration{3 * time.Minute, time.Minute, 2 * time.Minute, 0} {
		x := r.template(r.sender, strconv.Itoa(i), "t"+strconv.Itoa(i), carillon.TemplatePending)
		if wait > 0 {
			x.PollAt = r.now.Add(wait)
		}
		r.create(t, x)
	}
	due, next, err := r.Templates.TemplatePolls(t.Context(), r.now.Add(2*time.Minute), 10)
	if err != nil || len(due) != 2 || due[0].ID != "1" || due[1].ID != "2" || !next.Equal(r.now.Add(3*time.Minute)) {
		t.Fatal(due, next, err)
	}
	for _, want := range []bool{true, false} {
		if mine, err := r.Templates.PostponePoll(t.Context(), due[0], r.now.Add(time.Hour)); mine != want || err != nil {
			t.Error(mine, err)
		}
	}
	if due, next, err := r.Templates.TemplatePolls(t.Context(), r.now.Add(time.Hour), 2); err != nil || len(due) != 2 ||
		due[0].ID != "2" || !next.IsZero() {
		t.Error(due, next, err)
	}
}

func templateLimits(t *testing.T, r *rig) {
	limits := settings.TemplateLimits{Active: 2, Created: 7}
	create := func(i int, status carillon.TemplateStatus) error {
		return r.Templates.CreateTemplate(t.Context(), r.template(r.sender, strconv.Itoa(i), "t"+strconv.Itoa(i), status), limits)
	}
	if err := errors.Join(create(0, carillon.TemplatePending), create(1, carillon.TemplateApproved)); err != nil {
		t.Fatal(err)
	}
	if err := create(2, carillon.TemplatePending); !carillon.IsCode(err, carillon.LimitExceeded) {
		t.Error("a third active template:", err)
	}
	for _, status := range []carillon.TemplateStatus{carillon.TemplateDraft, carillon.TemplateRejected, carillon.TemplateDisabled} {
		x := r.template(r.sender, string(status), string(status), status)
		if err := r.Templates.CreateTemplate(t.Context(), x, settings.TemplateLimits{Active: 2}); err != nil {
			t.Errorf("one that is %s is not active: %v", status, err)
		}
	}
	first, err := r.Templates.Template(t.Context(), ours, "0")
	if err != nil {
		t.Fatal(err)
	}
	next := *first
	next.Status = carillon.TemplateDraft
	if swapped, err := r.Templates.SwapTemplate(t.Context(), first, &next, r.now, limits); !swapped || err != nil {
		t.Fatal(swapped, err)
	}
	if err := create(2, carillon.TemplateDraft); err != nil {
		t.Error(err)
	}
	last := r.template(r.sender, "3", "t3", carillon.TemplateDraft)
	if err := r.Templates.CreateTemplate(t.Context(), last, limits); err != nil {
		t.Error(err)
	}
	if err := create(4, carillon.TemplateDraft); !errors.Is(err, settings.ErrTemplatesToday) {
		t.Error("an eighth creation of the day:", err)
	}
	if undone, err := r.Templates.UndoCreateTemplate(t.Context(), last); !undone || err != nil {
		t.Error(undone, err)
	}
	if err := create(4, carillon.TemplateDraft); err != nil {
		t.Error("after one was undone:", err)
	}
	r.now = r.now.Add(24 * time.Hour)
	if err := create(5, carillon.TemplateDraft); err != nil {
		t.Error("on the next day:", err)
	}
	if err := create(5, carillon.TemplateDraft); !carillon.IsCode(err, carillon.Conflict) {
		t.Error("the same name and language:", err)
	}
}

func suppressing(t *testing.T, r *rig) {
	if err := r.Suppressions.Suppress(t.Context(), ours, settings.SuppressAll, "manual", r.now, "34600000001", "34600000002"); err != nil {
		t.Fatal(err)
	}
	if err := r.Suppressions.Suppress(t.Context(), ours, settings.SuppressAll, "other", r.now.Add(time.Hour), "34600000001",
		"34600000003"); err != nil {
		t.Fatal(err)
	}
	for company, want := range map[string]map[string]bool{ours: {"34600000001": true}, theirs: {}} {
		found, err := r.Suppressions.Suppressed(t.Context(), company, carillon.Transactional,
			identity.Numbers("34600000001", "34600000009"))
		got := textsOf(found)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Error(company, err, d)
		}
		if c, err := r.Accounts.Company(t.Context(), company); err != nil || c.Suppresses != (len(want) > 0) {
			t.Error(company, err)
		}
	}
	x, err := r.Suppressions.Suppression(t.Context(), ours, identity.Number("34600000001"))
	if err != nil || *x != (settings.Suppression{Number: "34600000001", Type: settings.SuppressAll, Reason: "manual", CreatedAt: r.now}) {
		t.Error(x, err)
	}
	suppressingMarketing(t, r)
	liftingOptOuts(t, r)
	rows, err := r.Suppressions.Suppressions(t.Context(), ours, "34600000001", 1)
	if err != nil || len(rows) != 1 || rows[0].Number != "34600000002" {
		t.Error(rows, err)
	}
	if removed, err := r.Suppressions.Unsuppress(t.Context(), theirs, identity.Number("34600000001")); removed || err != nil {
		t.Error(removed, err)
	}
	if removed, err := r.Suppressions.Unsuppress(t.Context(), ours, identity.Number("34600000001")); !removed || err != nil {
		t.Error(removed, err)
	}
}

func maintaining(t *testing.T, r *rig) {
	check := func(want accounts.Maintenance) {
		t.Helper()
		if m, err := r.Accounts.Maintenance(t.Context()); err != nil || m != want {
			t.Errorf("%+v, want %+v, %v", m, want, err)
		}
	}
	check(accounts.Maintenance{})
	for _, m := range []accounts.Maintenance{
		{From: r.now, Until: r.now.Add(time.Hour)}, {From: r.now, Until: r.now.Add(2 * time.Hour)}, {},
	} {
		if err := r.Accounts.SetMaintenance(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		check(m)
	}
}

func borrowing(t *testing.T, r *rig) {
	borrow := func(name string, n int) int {
		_, used, err := r.Rates.BorrowRate(t.Context(), name, r.now, n, 10)
		if err != nil {
			t.Fatal(err)
		}
		return used
	}
	var got []int
	for _, n := range []int{6, 5, 4, 1, 11} { // granted, refused, granted, refused, refused
		got = append(got, borrow("a", n))
	}
	if want := []int{6, 6, 10, 10, 10}; !slices.Equal(got, want) {
		t.Errorf("used %v, want %v", got, want)
	}
	if n := borrow("b", 1); n != 1 {
		t.Errorf("another name's use counts: %d", n)
	}
	for _, n := range []int{3, 8} { // more than is used is not taken back
		if err := r.Rates.ReturnRate(t.Context(), "a", r.now, n); err != nil {
			t.Error(err)
		}
	}
	if n, err := r.Rates.RateUsed(t.Context(), "a", r.now); n != 7 || err != nil {
		t.Error(n, err)
	}
	for before, want := range map[time.Duration]int64{0: 0, time.Millisecond: 2} {
		if n, err := r.Rates.DropRates(t.Context(), r.now.Add(before), 10); want == 0 && n != 0 || err != nil {
			t.Error(n, err)
		}
	}
	if n, err := r.Rates.RateUsed(t.Context(), "a", r.now); n != 0 || err != nil {
		t.Error(n, err)
	}
}

func oldestCompany(t *testing.T, r *rig) {
	r.configure(t, func(ctx context.Context, tx *configure.Tx) error {
		return accounts.PutCompany(ctx, tx, &carillon.Company{ID: "aaa", Name: "Earlier"}, r.now.Add(-time.Hour))
	})
	if id, err := r.Accounts.OldestCompany(t.Context()); id != "aaa" || err != nil {
		t.Error(id, err)
	}
}

// liftingOptOuts lifts one company's opt-outs at the channel, but neither later nor other suppressions.
func liftingOptOuts(t *testing.T, r *rig) {
	const number = "34600000007"
	if err := r.Suppressions.Suppress(t.Context(), ours, settings.SuppressMarketing, settings.OptedOut, r.now, number); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		company string
		at      time.Duration
		left    bool
	}{{theirs, time.Hour, true}, {ours, -time.Second, true}, {ours, 0, false}} {
		err := r.Suppressions.LiftOptOut(t.Context(), c.company, r.now.Add(c.at), number, "34600000001", "34600000002")
		if _, found := r.Suppressions.Suppression(t.Context(), ours, identity.Number(number)); err != nil || c.left != (found == nil) {
			t.Errorf("%s %s: %v, %v", c.company, c.at, err, found)
		}
	}
	for _, other := range []string{"34600000001", "34600000002"} {
		if x, err := r.Suppressions.Suppression(t.Context(), ours, identity.Number(other)); err != nil || x.Reason != "manual" {
			t.Error(other, x, err)
		}
	}
}

// suppressingMarketing checks that a suppression of marketing leaves the other classes alone, never narrows one of all types, and is
// replaced by one.
func suppressingMarketing(t *testing.T, r *rig) {
	for _, step := range []struct {
		of     settings.SuppressionType
		reason string
		want   map[string]settings.SuppressionType
	}{
		{
			settings.SuppressMarketing, settings.OptedOut,
			map[string]settings.SuppressionType{"34600000001": settings.SuppressAll, "34600000008": settings.SuppressMarketing},
		},
		{settings.SuppressAll, "stop", map[string]settings.SuppressionType{
			"34600000001": settings.SuppressAll,
			"34600000008": settings.SuppressAll,
		}},
		{
			settings.SuppressMarketing, settings.OptedOut,
			map[string]settings.SuppressionType{"34600000001": settings.SuppressAll, "34600000008": settings.SuppressAll},
		},
	} {
		numbers := slices.Sorted(maps.Keys(step.want))
		if err := r.Suppressions.Suppress(t.Context(), ours, step.of, step.reason, r.now.Add(2*time.Hour), numbers...); err != nil {
			t.Fatal(err)
		}
		for class := range carillon.Class(carillon.Classes) {
			want := map[string]bool{}
			for number, of := range step.want {
				if of == settings.SuppressAll || class == carillon.Marketing {
					want[number] = true
				}
			}
			got, err := r.Suppressions.Suppressed(t.Context(), ours, class, identity.Numbers(numbers...))
			if d := cmp.Diff(want, textsOf(got)); err != nil || d != "" {
				t.Errorf("after %s for %s, %s: %v %s", step.reason, step.of, class, err, d)
			}
		}
	}
	x, err := r.Suppressions.Suppression(t.Context(), ours, identity.Number("34600000008"))
	if err != nil || *x != (settings.Suppression{
		Number: "34600000008", Type: settings.SuppressAll, Reason: "stop", CreatedAt: r.now.Add(2 * time.Hour),
	}) {
		t.Error(x, err)
	}
}
