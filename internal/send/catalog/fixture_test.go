package catalog

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/provider"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"
	"carillon/internal/store/storetest"
)

// desk is a channel's review in memory. It accepts every submission and keeps it pending until a test decides.
type desk struct {
	mu     sync.Mutex
	last   int
	known  map[string]*provider.TemplateEvent // by provider id
	down   error                              // error that every call returns instead
	during func()                             // runs during a submission
	asked  []time.Time
}

var errDown = errors.New("connection refused")

func (d *desk) fault() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.down
}

func (d *desk) Submit(_ context.Context, s *carillon.Sender, t *carillon.Template) (string, carillon.TemplateStatus, error) {
	if d.during != nil {
		d.during()
	}
	if err := d.fault(); err != nil {
		return "", "", err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	id := t.ProviderID
	if d.known[id] == nil {
		d.last++
		id = strconv.Itoa(900_000_000 + d.last)
	}
	d.known[id] = &provider.TemplateEvent{
		SenderUID: s.UID, ProviderID: id, Name: t.Name, Language: t.Language, Status: carillon.TemplatePending,
	}
	return id, carillon.TemplatePending, nil
}

func (d *desk) Status(_ context.Context, _ *carillon.Sender, t *carillon.Template) (provider.TemplateEvent, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, time.Now())
	if d.down != nil {
		return provider.TemplateEvent{}, d.down
	}
	for id, e := range d.known {
		if id == t.ProviderID || t.ProviderID == "" && e.Name == t.Name && e.Language == t.Language {
			return *e, nil
		}
	}
	return provider.TemplateEvent{}, carillon.Absent("Template")
}

func (d *desk) List(_ context.Context, s *carillon.Sender) (all provider.TemplateList, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.known {
		if e.SenderUID == s.UID {
			all.Templates = append(all.Templates, provider.ListedTemplate{TemplateEvent: *e})
		}
	}
	return all, d.down
}

func (d *desk) Withdraw(_ context.Context, _ *carillon.Sender, t *carillon.Template) error {
	if err := d.fault(); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.known, t.ProviderID)
	return nil
}

func (d *desk) has(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.known[id] != nil
}

// world is a store with two companies, their senders, and a catalog.
type world struct {
	*Catalog
	t            *testing.T
	desk         *desk
	ours, theirs *carillon.Company
	main, second *carillon.Sender // of our company
	foreign      *carillon.Sender // of the other company
	mu           sync.Mutex
	approved     []string // ids that OnApproved was called with
}

func onEachEngine(t *testing.T, test func(t *testing.T, w *world)) {
	t.Run("sqlite", func(t *testing.T) { test(t, newWorld(t, store.Options{Dir: storetest.Folder(t)})) })
	t.Run("postgres", func(t *testing.T) { test(t, newWorld(t, store.Options{DatabaseURL: storetest.PatientPostgres(t)})) })
}

func newWorld(t *testing.T, o store.Options) *world {
	t.Helper()
	st, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &world{t: t, desk: &desk{known: map[string]*provider.TemplateEvent{}}}
	w.Catalog = New(st, map[string]Reviewer{"desk": w.desk}, Options{})
	w.OnApproved(func(_ context.Context, x *carillon.Template) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.approved = append(w.approved, x.ID)
		return nil
	})
	w.ours, w.theirs = &carillon.Company{ID: "ours", Name: "Ours"}, &carillon.Company{ID: "theirs", Name: "Theirs"}
	w.main, w.second, w.foreign = sender("ours", "main", "15555550100"), sender("ours", "second", "15555550101"),
		sender("theirs", "main", "15555550200")
	w.main.Default = true
	err = st.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return errors.Join(accounts.PutCompany(ctx, tx, w.ours, time.Now()), accounts.PutCompany(ctx, tx, w.theirs, time.Now()),
			settings.PutSender(ctx, tx, w.main, time.Now()), settings.PutSender(ctx, tx, w.second, time.Now()),
			settings.PutSender(ctx, tx, w.foreign, time.Now()))
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func sender(company, id, number string) *carillon.Sender {
	return &carillon.Sender{
		CompanyID: company, ID: id, Number: number, Channel: carillon.Messaging, Provider: "desk",
		MediaCheck: "syntax", Unknown: carillon.DefaultUnknownPolicy(), Settings: []byte("{}"),
	}
}

func draft(name string) carillon.Template {
	return carillon.Template{
		Name: name, Language: "es_ES", Category: "UTILITY",
		Components: []carillon.Component{{Type: content.TypeBody, Text: "Hola {{1}}."}},
	}
}

// create creates a draft of our main sender.
func (w *world) create(name string) *carillon.Template {
	w.t.Helper()
	made, err := w.Create(w.t.Context(), w.ours, w.main, draft(name), false)
	if err != nil {
		w.t.Fatal(err)
	}
	return made
}

// submitted creates a template in review.
func (w *world) submitted(name string) *carillon.Template {
	w.t.Helper()
	made, err := w.Create(w.t.Context(), w.ours, w.main, draft(name), true)
	if err != nil {
		w.t.Fatal(err)
	}
	return made
}

// standing creates a template with a status. All but drafts exist at the channel.
func (w *world) standing(name string, status carillon.TemplateStatus) *carillon.Template {
	w.t.Helper()
	if status == carillon.TemplateDraft {
		return w.create(name)
	}
	made := w.submitted(name)
	r := w.record(made.ID)
	next := *r
	next.Status = status
	setFirstPoll(&next, time.Now())
	if ok, err := w.store.Templates.SwapTemplate(w.t.Context(), r, &next, time.Now(), settings.TemplateLimits{}); !ok || err != nil {
		w.t.Fatal(ok, err)
	}
	return &next.Template
}

func (w *world) record(id string) *settings.TemplateRecord {
	w.t.Helper()
	r, err := w.store.Templates.Template(w.t.Context(), "ours", id)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) status(id string) carillon.TemplateStatus {
	w.t.Helper()
	return w.record(id).Status
}

func (w *world) approvedCalls(id string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, x := range w.approved {
		if x == id {
			n++
		}
	}
	return n
}

func same(t carillon.Template) (carillon.Template, error) { return t, nil }

func statuses() []carillon.TemplateStatus {
	return []carillon.TemplateStatus{
		carillon.TemplateDraft, carillon.TemplatePending, carillon.TemplateApproved,
		carillon.TemplateRejected, carillon.TemplatePaused, carillon.TemplateDisabled,
	}
}
