package bulk_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/send/bulk"
	"carillon/internal/send/request"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/messages"
	"carillon/internal/store/settings"
	"carillon/internal/store/storetest"
)

// accepting accepts requests in memory, each key only once.
type accepting struct {
	mu       sync.Mutex
	ids      map[string]string   // by key
	numbers  map[string][]string // by notification
	contacts []map[string]string
	refuse   func(d *request.Draft) error
	fault    func(accepted bool) error // the error before or after the request is accepted
	canceled map[string]int
}

func newAccepting() *accepting {
	return &accepting{ids: map[string]string{}, numbers: map[string][]string{}, canceled: map[string]int{}}
}

func (a *accepting) Accept(_ context.Context, _ *carillon.Company, r bulk.Request) (string, error) {
	if a.fault != nil {
		if err := a.fault(false); err != nil {
			return "", err
		}
	}
	id, err := a.accept(r)
	if err == nil && a.fault != nil {
		err = a.fault(true)
	}
	return id, err
}

func (a *accepting) accept(r bulk.Request) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if id, ok := a.ids[r.Key]; ok {
		return id, nil
	}
	if a.refuse != nil {
		if err := a.refuse(r.Draft); err != nil {
			return "", err
		}
	}
	id := carillon.NewID(time.Now())
	a.ids[r.Key] = id
	for _, c := range r.Draft.Contacts {
		a.numbers[id] = append(a.numbers[id], c["number"])
		a.contacts = append(a.contacts, c)
	}
	return id, nil
}

func (a *accepting) Accepted(_ context.Context, _ string, r bulk.Request) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ids[r.Key], nil
}

func (a *accepting) Cancel(_ context.Context, _, id string) (canceled, sent int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.canceled[id]++
	return len(a.numbers[id]) - 1, 1, nil
}

// rig is a company with a sender and a template.
type rig struct {
	*bulk.Jobs
	t       *testing.T
	store   *store.Store
	company *carillon.Company
	taken   *accepting
}

func engines(t *testing.T, test func(t *testing.T, o store.Options)) {
	t.Run("sqlite", func(t *testing.T) { test(t, store.Options{Dir: storetest.Folder(t)}) })
	t.Run("postgres", func(t *testing.T) { test(t, store.Options{DatabaseURL: storetest.PatientPostgres(t)}) })
}

func newRig(t *testing.T, o store.Options) *rig {
	t.Helper()
	s, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	company := carillon.NewCompany("Acme")
	company.ID = carillon.NewID(time.Now())
	r := &rig{t: t, store: s, company: &company, taken: newAccepting()}
	sender := &carillon.Sender{
		CompanyID: company.ID, ID: "main", Number: "15555550100", Channel: carillon.Messaging, Provider: "sandbox", Default: true,
		MediaCheck: "syntax",
		Unknown:    carillon.DefaultUnknownPolicy(), Settings: json.RawMessage(`{}`),
	}
	template := &carillon.Template{
		ID: "1", CompanyID: company.ID, Name: "hello", Language: "en", Category: "UTILITY", Status: carillon.TemplateApproved,
		Components: []carillon.Component{
			{Type: content.TypeHeader, Format: content.FormatImage}, {Type: content.TypeBody, Text: "Hello {{1}}, {{2}}!"},
		},
	}
	if err := content.Compile(template); err != nil {
		t.Fatal(err)
	}
	if err := s.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		if err := errors.Join(accounts.PutCompany(ctx, tx, &company, time.Now()),
			settings.PutSender(ctx, tx, sender, time.Now())); err != nil {
			return err
		}
		template.SenderUID = sender.UID
		return settings.PutTemplate(ctx, tx, template, time.Now())
	}); err != nil {
		t.Fatal(err)
	}
	r.Jobs = r.node()
	return r
}

// node makes a node that keeps its jobs while it lives, even on a busy machine.
func (r *rig) node() *bulk.Jobs { return r.mortal(time.Hour) }

// mortal makes a node whose jobs others continue after that time, if it is killed.
func (r *rig) mortal(lease time.Duration) *bulk.Jobs {
	return bulk.New(bulk.Options{Store: r.store, Notifications: r.taken, Lease: lease})
}

// run works on jobs until the end of the test, or until end is called.
func (r *rig) run(x *bulk.Jobs) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = x.Run(ctx) }()
	end = sync.OnceFunc(func() { cancel(); <-done })
	r.t.Cleanup(end)
	return end
}

func (r *rig) upload(text string) *bulk.View {
	r.t.Helper()
	v, err := r.Upload(r.t.Context(), bulk.File{
		CompanyID: r.company.ID, Author: "ana", Name: "people.csv", Bytes: int64(len(text)), Content: strings.NewReader(text),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return v
}

// chosen chooses the template for a job.
func (r *rig) chosen(v *bulk.View) *bulk.View {
	r.t.Helper()
	v, err := r.Change(r.t.Context(), r.company.ID, v.ID, bulk.Edit{
		Version: v.Settings.Version, Template: new("hello"), Language: new("en"), Sender: new("main"), Campaign: new("spring"),
		Type: new("utility"),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return v
}

// putTemplate stores a changed copy of the template.
func (r *rig) putTemplate(change func(*carillon.Template)) {
	r.t.Helper()
	named, err := r.store.Senders.SendersNamed(r.t.Context(), r.company.ID, "main")
	if err != nil || len(named) != 1 {
		r.t.Fatal(named, err)
	}
	all, err := r.store.Templates.Templates(r.t.Context(), named[0].UID)
	i := slices.IndexFunc(all, func(x *carillon.Template) bool { return x.ID == "1" })
	if err != nil || i < 0 {
		r.t.Fatal(all, err)
	}
	changed := *all[i]
	changed.Components = slices.Clone(changed.Components)
	change(&changed)
	if err := content.Compile(&changed); err != nil {
		r.t.Fatal(err)
	}
	if err := r.store.Config.Change(r.t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return settings.PutTemplate(ctx, tx, &changed, time.Now())
	}); err != nil {
		r.t.Fatal(err)
	}
}

// until waits until a job is in one of the states.
func (r *rig) until(id string, states ...messages.JobState) *bulk.View {
	r.t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; {
		v, err := r.Find(context.Background(), r.company.ID, id)
		if err != nil {
			r.t.Fatal(err)
		}
		if slices.Contains(states, v.State) {
			return v
		}
		if time.Now().After(end) {
			r.t.Fatalf("the job is %s, %s %s", v.State, v.Reason, v.Detail)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// people returns a file with that many rows.
func people(n int) string {
	var b strings.Builder
	b.WriteString("phone,first_name,order,image\n")
	for i := range n {
		fmt.Fprintf(&b, "%d,Ana,%d,https://files.example/%d.png\n", 34600200000+i, i, i)
	}
	return b.String()
}

// checked returns a job with that many rows, all checked.
func (r *rig) checked(n int) *bulk.View {
	r.t.Helper()
	v := r.chosen(r.upload(people(n)))
	if _, err := r.Check(r.t.Context(), r.company.ID, v.ID); err != nil {
		r.t.Fatal(err)
	}
	return r.until(v.ID, messages.JobChecked)
}

func TestTheFormsOfANumberAreOnePersonOfAList(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		r := newRig(t, o)
		r.run(r.Jobs)
		if err := r.store.Suppressions.Suppress(t.Context(), r.company.ID, settings.SuppressAll, "api", time.Now(),
			"541123456789"); err != nil {
			t.Fatal(err)
		}
		rows := []string{"phone;first_name;order;image"}
		for _, number := range []string{
			"525512345601", "5215512345601", "5551998765432", "555198765432", "551132345678", "5511932345678", "5491123456789",
		} {
			rows = append(rows, number+";Ana;1;https://files.example/1.png")
		}
		v := r.chosen(r.upload(strings.Join(rows, "\n")))
		if _, err := r.Check(t.Context(), r.company.ID, v.ID); err != nil {
			t.Fatal(err)
		}
		v = r.until(v.ID, messages.JobChecked)
		if d := cmp.Diff(map[string]int{bulk.Duplicate: 2, bulk.Suppressed: 1}, v.Result.Faults); d != "" || v.Result.Good != 4 {
			t.Errorf("%+v\n%s", v.Result, d)
		}
	})
}

func TestEachBadRowIsFoundWithItsReason(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		r := newRig(t, o)
		r.run(r.Jobs)
		if err := r.store.Suppressions.Suppress(t.Context(), r.company.ID, settings.SuppressAll, "api", time.Now(),
			"34600300009"); err != nil {
			t.Fatal(err)
		}
		rows := []string{
			"phone;first_name;order;image",
			"+34 600 300 001;Ana;1;https://files.example/1.png",
			";Ana;1;https://files.example/1.png",
			"600;Ana;1;https://files.example/1.png",
			"34600300004;;1;https://files.example/1.png",
			"34600300005;" + strings.Repeat("x", 1020) + ";1234;https://files.example/1.png",
			"34600300006;Ana;1;http://files.example/1.png",
			"34600300007;Ana;1;",
			"0034600300001;Ana;2;https://files.example/1.png",
			"34600300009;Ana;1;https://files.example/1.png",
			"34600300010;=1+1;1;https://files.example/1.png",
			"34600300011;\"two\nlines\";1;https://files.example/1.png",
			"@home;Ana;1;https://files.example/1.png",
		}
		v := r.chosen(r.upload(strings.Join(rows, "\n")))
		if _, err := r.Check(t.Context(), r.company.ID, v.ID); err != nil {
			t.Fatal(err)
		}
		v = r.until(v.ID, messages.JobChecked)
		want := map[string]int{
			bulk.NumberMissing: 1, bulk.NumberInvalid: 2, bulk.VariableMissing: 2, bulk.TextTooLong: 1, bulk.MediaInvalid: 1,
			bulk.Duplicate: 1, bulk.Suppressed: 1,
			bulk.Refused: 1,
		}
		if d := cmp.Diff(want, v.Result.Faults); d != "" || v.Result.Good != 2 || v.Result.Rows != 12 || v.Result.Cleaned != 2 {
			t.Errorf("%+v\n%s", v.Result, d)
		}
		var got []string
		for from, more := (bulk.Place{}), true; more; {
			bad, next, on, err := r.BadRows(t.Context(), r.company.ID, v.ID, "", from, 2)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range bad {
				got = append(got, fmt.Sprintf("%d %s %s", b.Line, b.Reason, b.Detail))
			}
			from, more = next, on
		}
		if d := cmp.Diff([]string{
			"3 number_missing ", "4 number_invalid 600", "5 variable_missing first_name",
			"6 text_too_long The rendered body has at most 1024 characters, this one 1033",
			"7 media_invalid A media URL must be HTTPS", "8 variable_missing image", "9 duplicate 2", "10 suppressed ",
			"12 refused " + content.LinesReason, "14 number_invalid @home",
		}, got); d != "" {
			t.Error(d)
		}
		if bad, _, more, err := r.BadRows(t.Context(), r.company.ID, v.ID, bulk.Duplicate, bulk.Place{}, 10); err != nil || more ||
			len(bad) != 1 || bad[0].Line != 9 {
			t.Error(bad, more, err)
		}
		var file strings.Builder
		if err := r.WriteBad(t.Context(), v, &file); err != nil {
			t.Fatal(err)
		}
		records, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(file.String(), "\ufeff"))).ReadAll()
		if err != nil || len(records) != 11 || records[10][0] != "'@home" || records[10][4] != "14" ||
			records[9][1] != "two\nlines" || records[7][0] != "0034600300001" {
			t.Error(records, err)
		}
		samples, _, err := r.Samples(t.Context(), r.company.ID, v.ID, 1, 1)
		if err != nil || len(samples) != 1 || samples[0].Values["body_text_0"] != "=1+1" ||
			samples[0].Values["header_image"] != "https://files.example/1.png" {
			t.Error(samples, err)
		}
		again := r.upload(file.String()) // uploading the written file again reverses the guarding of formulas
		if s := again.Settings.Columns[0].Samples; again.Total != 10 || s[1] != "600" {
			t.Error(again.Settings)
		}
	})
}

func TestAJobSendsEveryRowOnceWhateverIsKilled(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		const rows = 2350
		r := newRig(t, o)
		v := r.chosenAndChecked(rows)
		var mu sync.Mutex
		kills, faults := 0, 0
		r.taken.fault = func(accepted bool) error {
			mu.Lock()
			defer mu.Unlock()
			switch n := rand.IntN(10); {
			case n == 0 && kills < 2: // neither the batch nor the release of its lease is stored
				kills++
				runtime.Goexit()
			case n == 1 && faults < 1:
				faults++
				return fmt.Errorf("the connection broke, accepted %t", accepted)
			}
			return nil
		}
		r.run(r.mortal(300 * time.Millisecond))
		r.run(r.mortal(300 * time.Millisecond))
		if _, err := r.Send(t.Context(), r.company.ID, v.ID, v.Result.Good, false); err != nil {
			t.Fatal(err)
		}
		v = r.until(v.ID, messages.JobDone)
		r.everybodyOnce(rows)
		if v.Result.Accepted != rows {
			t.Errorf("%+v, after %d kills and %d faults", v.Result, kills, faults)
		}
	})
}

// chosenAndChecked returns a job whose rows another node has checked.
func (r *rig) chosenAndChecked(rows int) *bulk.View {
	end := r.run(r.node())
	defer end()
	return r.checked(rows)
}

func (r *rig) everybodyOnce(n int) {
	r.t.Helper()
	r.taken.mu.Lock()
	defer r.taken.mu.Unlock()
	seen := map[string]int{}
	for _, c := range r.taken.contacts {
		seen[c["number"]]++
	}
	if len(seen) != n || len(r.taken.contacts) != n {
		r.t.Errorf("%d contacts of %d numbers were accepted, want %d", len(r.taken.contacts), len(seen), n)
	}
}

func TestAJobIsPausedGoneOnWithAndCanceled(t *testing.T) {
	engines(t, func(t *testing.T, o store.Options) {
		r := newRig(t, o)
		r.run(r.Jobs)
		v := r.checked(1200)
		gate := make(chan struct{})
		open := sync.OnceFunc(func() { close(gate) })
		defer open()
		r.taken.fault = func(accepted bool) error {
			if !accepted {
				<-gate
			}
			return nil
		}
		if _, err := r.Send(t.Context(), r.company.ID, v.ID, v.Result.Good-1, false); !carillon.IsCode(err, carillon.Conflict) {
			t.Error("another number is confirmed:", err)
		}
		if _, err := r.Send(t.Context(), r.company.ID, v.ID, v.Result.Good, false); err != nil {
			t.Fatal(err)
		}
		gate <- struct{}{}
		gate <- struct{}{}
		for v = r.until(v.ID, messages.JobSending); v.Done < 2; v = r.until(v.ID, messages.JobSending) {
			time.Sleep(time.Millisecond)
		}
		if _, err := r.Pause(t.Context(), r.company.ID, v.ID); err != nil {
			t.Fatal(err)
		}
		gate <- struct{}{} // a batch in progress is recorded although the job is paused
		for v = r.until(v.ID, messages.JobPaused); v.Done < 3; v = r.until(v.ID, messages.JobPaused) {
			time.Sleep(time.Millisecond)
		}
		if v.Result.Accepted != 300 || v.Reason != bulk.ByTeammate {
			t.Errorf("%+v", v)
		}
		if _, err := r.Change(t.Context(), r.company.ID, v.ID, bulk.Edit{Version: v.Settings.Version}); !carillon.IsCode(err,
			carillon.Conflict) {
			t.Error("its settings change:", err)
		}
		if _, err := r.Resume(t.Context(), r.company.ID, v.ID); err != nil {
			t.Fatal(err)
		}
		gate <- struct{}{}
		r.taken.mu.Lock()
		r.taken.refuse = func(*request.Draft) error {
			return &carillon.Error{Code: carillon.QuotaExceeded, Message: "Daily quota exceeded"}
		}
		r.taken.mu.Unlock()
		open()
		v = r.until(v.ID, messages.JobPaused)
		if v.Reason != bulk.Quota || v.Result.Accepted != v.Done*100 {
			t.Errorf("%+v", v)
		}
		if _, err := r.Cancel(t.Context(), r.company.ID, v.ID, true); err != nil {
			t.Fatal(err)
		}
		v = r.until(v.ID, messages.JobCanceled)
		if v.Result.Canceled != v.Done*99 || v.Result.Left != v.Done || len(r.taken.canceled) != v.Done {
			t.Errorf("%+v", v.Result)
		}
		if _, err := r.Resume(t.Context(), r.company.ID, v.ID); !carillon.IsCode(err, carillon.Conflict) {
			t.Error("it goes on:", err)
		}
	})
}

func TestAFileHasNoOneTimeCodes(t *testing.T) {
	r := newRig(t, store.Options{Dir: storetest.Folder(t)})
	v := r.chosen(r.upload(people(3)))
	r.putTemplate(func(x *carillon.Template) { x.ID, x.Name, x.Category = "2", "code", content.Authentication })
	refused := func(step string, err error) {
		t.Helper()
		e, ok := errors.AsType[*carillon.Error](err)
		if !ok || e.Details.Find("field") != "template" || !strings.Contains(e.Details.Find("reason").(string), "not sent from files") {
			t.Errorf("%s: %v", step, err)
		}
	}
	_, err := r.Change(t.Context(), r.company.ID, v.ID, bulk.Edit{Version: v.Settings.Version, Template: new("code")})
	refused("choose", err)
	if v, err = r.Find(t.Context(), r.company.ID, v.ID); err != nil || v.Settings.Template != "hello" {
		t.Errorf("template %q: %v", v.Settings.Template, err)
	}
	r.putTemplate(func(x *carillon.Template) { x.Category = content.Authentication }) // after it was chosen
	_, err = r.Check(t.Context(), r.company.ID, v.ID)
	refused("check", err)
}

func TestRowsThatAreRefusedLaterAreLeftOut(t *testing.T) {
	r := newRig(t, store.Options{Dir: storetest.Folder(t)})
	r.run(r.Jobs)
	v := r.checked(250)
	// The template gets longer, so that one row no longer fits.
	name := strings.Repeat("x", 500)
	bad := r.chosen(r.upload("phone,first_name,order,image\n34600300001,Ana,1,https://a.example/a.png\n34600300002," + name +
		",2,https://a.example/a.png\n"))
	if _, err := r.Check(t.Context(), r.company.ID, bad.ID); err != nil {
		t.Fatal(err)
	}
	bad = r.until(bad.ID, messages.JobChecked)
	r.putTemplate(func(x *carillon.Template) { x.Components[1].Text = strings.Repeat("y", 600) + " {{1}} {{2}}" })
	r.taken.refuse = func(d *request.Draft) error {
		for _, c := range d.Contacts {
			if c["first_name"] == name {
				return carillon.Invalid("components_push.body_text_0", "The rendered body has at most 1024 characters")
			}
		}
		return nil
	}
	if _, err := r.Send(t.Context(), r.company.ID, bad.ID, 2, false); err != nil {
		t.Fatal(err)
	}
	bad = r.until(bad.ID, messages.JobDone, messages.JobPaused)
	if bad.State != messages.JobDone || bad.Result.Accepted != 1 || bad.Result.Good != 1 || bad.Result.Faults[bulk.TextTooLong] != 1 {
		t.Errorf("%s %s %+v", bad.State, bad.Detail, bad.Result)
	}
	if _, err := r.Send(t.Context(), r.company.ID, v.ID, 250, false); err != nil {
		t.Fatal(err)
	}
	if v = r.until(v.ID, messages.JobDone, messages.JobPaused); v.Result.Accepted != 250 {
		t.Errorf("%s %+v", v.State, v.Result)
	}
}

func TestAnotherCompanyHasNoJob(t *testing.T) {
	r := newRig(t, store.Options{Dir: storetest.Folder(t)})
	v := r.chosen(r.upload(people(3)))
	const other = "other"
	for name, f := range map[string]func() error{
		"find":    func() error { _, err := r.Find(t.Context(), other, v.ID); return err },
		"change":  func() error { _, err := r.Change(t.Context(), other, v.ID, bulk.Edit{}); return err },
		"check":   func() error { _, err := r.Check(t.Context(), other, v.ID); return err },
		"pause":   func() error { _, err := r.Pause(t.Context(), other, v.ID); return err },
		"cancel":  func() error { _, err := r.Cancel(t.Context(), other, v.ID, true); return err },
		"discard": func() error { return r.Discard(t.Context(), other, v.ID) },
		"rows":    func() error { _, _, _, err := r.BadRows(t.Context(), other, v.ID, "", bulk.Place{}, 1); return err },
		"samples": func() error { _, _, err := r.Samples(t.Context(), other, v.ID, 0, 1); return err },
	} {
		if err := f(); !carillon.IsCode(err, carillon.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if all, err := r.List(t.Context(), other, nil, 10); len(all) > 0 || err != nil {
		t.Error(all, err)
	}
	if _, err := r.Change(t.Context(), r.company.ID, v.ID, bulk.Edit{Version: v.Settings.Version - 1}); !carillon.IsCode(err,
		carillon.Conflict) {
		t.Error("of two who change it the second is not refused:", err)
	}
}

func TestAfterARestoreAJobIsSentOnlyWhenSomebodyConfirms(t *testing.T) {
	r := newRig(t, store.Options{Dir: storetest.Folder(t)})
	end := r.run(r.Jobs)
	v := r.checked(3)
	end()
	if _, err := r.store.Mark(t.Context(), time.Now(), func(int, int) {}); err != nil {
		t.Fatal(err)
	}
	defer r.run(r.node())()
	if _, err := r.Check(t.Context(), r.company.ID, v.ID); err != nil { // checking again is no confirmation
		t.Fatal(err)
	}
	v = r.until(v.ID, messages.JobChecked)
	if _, err := r.Send(t.Context(), r.company.ID, v.ID, 3, false); !carillon.IsCode(err, carillon.Conflict) {
		t.Error("it is sent without a question:", err)
	}
	if _, err := r.Send(t.Context(), r.company.ID, v.ID, 3, true); err != nil {
		t.Fatal(err)
	}
	if v = r.until(v.ID, messages.JobDone); !v.RestoredAt.IsZero() {
		t.Error("it is still uncertain")
	}
	r.everybodyOnce(3)
}

func TestLongCellsAreShownShortened(t *testing.T) {
	r := newRig(t, store.Options{Dir: storetest.Folder(t)})
	long := strings.Repeat("x", 4000)
	defer r.run(r.node())()
	v := r.chosen(r.upload("phone,first_name,order,image\n12," + long +
		",1,https://a.example/a.png\n34600300001,Ana,1,https://a.example/a.png\n"))
	if _, err := r.Check(t.Context(), r.company.ID, v.ID); err != nil {
		t.Fatal(err)
	}
	v = r.until(v.ID, messages.JobChecked)
	if got := len(v.Settings.Columns[1].Samples[0]); got > 200 {
		t.Error("a sample of a column has", got, "bytes")
	}
	bad, _, _, err := r.BadRows(t.Context(), r.company.ID, v.ID, "", bulk.Place{}, 10)
	if err != nil || len(bad) != 1 || len(bad[0].Cells[1]) > 200 {
		t.Error("a cell of a row that is not sent is not shortened", err)
	}
	var file strings.Builder
	if err := r.WriteBad(t.Context(), v, &file); err != nil || !strings.Contains(file.String(), long) {
		t.Error("the file of these rows lacks what was in them", err)
	}
}

func TestAFileHasBounds(t *testing.T) {
	r := newRig(t, store.Options{Dir: storetest.Folder(t)})
	_, err := r.Upload(t.Context(), bulk.File{
		CompanyID: r.company.ID, Name: "x", Bytes: 1,
		Content: strings.NewReader("phone\n" + strings.Repeat("34600111222\n", bulk.MaxRows+1)),
	})
	if e, ok := errors.AsType[*carillon.Error](err); !ok || !strings.Contains(fmt.Sprint(e.Details), "100000 rows") {
		t.Error(err)
	}
	_, err = r.Upload(t.Context(), bulk.File{
		CompanyID: r.company.ID, Name: "x", Bytes: 2 << 30, Content: strings.NewReader("phone\n34600111222\n"),
	})
	if !carillon.IsCode(err, carillon.LimitExceeded) {
		t.Error(err)
	}
	if all, err := r.List(t.Context(), r.company.ID, nil, 10); len(all) > 0 || err != nil {
		t.Error("what broke off is listed:", all, err)
	}
	// The length of a chunked body is unknown until its end. It reserves the size of the largest file, and then counts
	// with its actual size.
	chunked := func() (*bulk.View, error) {
		return r.Upload(t.Context(), bulk.File{
			CompanyID: r.company.ID, Name: "x", Bytes: -1, Content: strings.NewReader("phone\n34600111222\n"),
		})
	}
	if v, err := chunked(); err != nil || v.Bytes != 18 {
		t.Error("a file of 18 bytes counts for", v, err)
	}
	almost := &messages.Job{
		ID: "almost", CompanyID: r.company.ID, State: messages.JobUploading, Bytes: 1<<30 - bulk.MaxFile, CreatedAt: time.Now(),
	}
	if err := r.store.Bulk.Begin(t.Context(), almost, messages.JobRoom{Bytes: 1 << 30, Jobs: 10}); err != nil {
		t.Fatal(err)
	}
	if v, err := chunked(); !carillon.IsCode(err, carillon.LimitExceeded) {
		t.Error("a file of unknown length has room where the largest has none:", v, err)
	}
	p, err := r.store.Purges.DropGone(t.Context(), time.Now().Add(time.Hour), 1000)
	for err == nil && p.More {
		p, err = r.store.Purges.DropGone(t.Context(), time.Now().Add(time.Hour), 1000)
	}
	if err != nil {
		t.Error(err)
	}
}

// A job that always fails because of an internal fault is paused, so that a person notices it, and can be resumed from
// there.
func TestAJobThatAlwaysFailsIsPaused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, store.Options{Dir: dir})
		var mu sync.Mutex
		tries, fault := 0, errors.New("a fault")
		r.taken.refuse = func(*request.Draft) error {
			mu.Lock()
			defer mu.Unlock()
			tries++
			return fault
		}
		defer r.run(r.Jobs)()
		v := r.checked(3)
		after := func(_ *bulk.View, err error) *bulk.View {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour) // fake time
			v, err := r.Find(t.Context(), r.company.ID, v.ID)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		if v := after(r.Send(t.Context(), r.company.ID, v.ID, 3, false)); v.State != messages.JobPaused || v.Reason != bulk.Problem ||
			v.Detail == "" || tries != 8 {
			t.Errorf("after %d tries the job is %s, %s %s", tries, v.State, v.Reason, v.Detail)
		}
		fault = nil
		if v := after(r.Resume(t.Context(), r.company.ID, v.ID)); v.State != messages.JobDone || v.Result.Accepted != 3 {
			t.Errorf("once it can be sent the job is %s, %s, %+v", v.State, v.Reason, v.Result)
		}
	})
}
