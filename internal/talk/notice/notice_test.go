package notice

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/account/limit"
	"carillon/internal/account/mail"
	"carillon/internal/account/push"
	"carillon/internal/account/push/pushtest"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/chats"
	"carillon/internal/store/configure"
	"carillon/internal/store/events"
	"carillon/internal/store/storetest"
	"carillon/internal/talk/conversation"
)

// rig holds conversations of a company with two teammates and a viewer, an installation that sends notices, and the notices that were sent.
type rig struct {
	*Notices
	t       *testing.T
	db      *store.Store
	talk    *conversation.Conversations
	company string
	members map[string]string // account by name
	pushes  *pushtest.Service
	posted  []mail.Message

	mu        sync.Mutex
	clock     time.Time
	fault     error // of the mail server
	published []string
	visitor   int
}

func onBoth(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Run("sqlite", func(t *testing.T) { test(t, newRig(t, store.Options{Dir: storetest.Folder(t)})) })
	t.Run("postgres", func(t *testing.T) { test(t, newRig(t, store.Options{DatabaseURL: storetest.PatientPostgres(t)})) })
}

func newRig(t *testing.T, o store.Options) *rig {
	t.Helper()
	s, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	r := &rig{
		t: t, db: s, company: carillon.NewID(time.Now()), members: map[string]string{}, clock: time.Now().Truncate(time.Millisecond).UTC(),
		pushes: pushtest.New(t),
	}
	if err := s.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		all := []error{accounts.PutCompany(ctx, tx, &carillon.Company{ID: r.company, Name: "Acme " + r.company}, r.clock)}
		for name, role := range map[string]string{"ana": "teammate", "ben": "owner", "vic": "viewer"} {
			a := &accounts.Account{Email: name + "@" + r.company + ".test", Name: name}
			all = append(all, accounts.PutAccount(ctx, tx, a, r.clock),
				accounts.PutMembership(ctx, tx, accounts.Membership{AccountID: a.ID, CompanyID: r.company, Role: role}))
			r.members[name] = a.ID
		}
		return errors.Join(all...)
	}); err != nil {
		t.Fatal(err)
	}
	r.talk = conversation.New(conversation.Options{Store: s, Publisher: r, Log: slog.New(slog.DiscardHandler), Now: r.now, Mails: true})
	client := push.NewClient(r.pushes.Egress())
	t.Cleanup(client.Close)
	pusher := push.New(push.Options{Notices: s.Notices, Client: client, Contact: func() string { return "https://acme.test" }, Now: r.now})
	key, err := pusher.PublicKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.pushes.SetKey(key)
	r.Notices = r.node(pusher)
	return r
}

// node returns another node on the rig's database.
func (r *rig) node(pusher Pusher) *Notices {
	limits := limit.New(r.db.Rates, slog.New(slog.DiscardHandler))
	limits.Now = r.now
	return New(Options{
		Store: r.db, Mailer: r, Push: pusher, Limits: limits, Publisher: r, BaseURL: func() string { return "https://panel.test" },
		Origins: func(_ context.Context, companyID, widgetID string) ([]string, error) {
			if companyID != r.company || widgetID != "w" {
				return nil, fmt.Errorf("the origins of widget %q of company %q", widgetID, companyID)
			}
			return []string{"https://shop.acme.test"}, nil
		},
		Suspended: func(context.Context, string) (bool, error) { return false, nil }, Log: slog.New(slog.DiscardHandler), Now: r.now,
	})
}

func (r *rig) now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.clock
}

func (r *rig) pass(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock = r.clock.Add(d)
}

// Send implements Mailer.
func (r *rig) Send(_ context.Context, x mail.Message) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fault == nil {
		r.posted = append(r.posted, x)
	}
	return r.fault
}

// Post implements Mailer.
func (r *rig) Post(job mail.Job) bool {
	x, err := job(context.Background())
	return err == nil && r.Send(context.Background(), *x) == nil
}

// Publish implements Publisher.
func (r *rig) Publish(all ...*events.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range all {
		if e.Kind == "delivery" {
			r.published = append(r.published, string(e.Payload))
		}
	}
}

// mails returns the e-mails sent since the last call.
func (r *rig) mails() []mail.Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.posted
	r.posted = nil
	return all
}

func (r *rig) rules(rules carillon.InboxRules) {
	r.t.Helper()
	if err := r.db.Config.Change(r.t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		c, err := accounts.FindCompany(ctx, tx, r.company, "")
		if err != nil {
			return err
		}
		c.Inbox = rules
		return accounts.PutCompany(ctx, tx, c, r.now())
	}); err != nil {
		r.t.Fatal(err)
	}
}

// open opens a conversation of a visitor with an e-mail address, who asks and then waits for a teammate.
func (r *rig) open(email, page string) string {
	r.t.Helper()
	r.visitor++
	c, _, err := r.talk.Open(r.t.Context(), conversation.Start{
		Contact: chats.Contact{CompanyID: r.company, WidgetID: "w", VisitorID: fmt.Sprint(r.visitor), Email: email, Name: "María"},
		Channel: "web_chat", Language: "es-MX", Page: page,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	if _, _, err := r.talk.Say(r.t.Context(), r.company, c.ID, conversation.Said{
		ClientID: "q", Kind: chats.KindText, Text: "¿Admiten <perros>?",
	}); err != nil {
		r.t.Fatal(err)
	}
	return c.ID
}

func (r *rig) answer(id, clientID, text string) {
	r.t.Helper()
	by := conversation.By{CompanyID: r.company, AccountID: r.members["ana"], Name: "Ana"}
	if _, _, err := r.talk.Desk.Answer(r.t.Context(), by, id, conversation.Said{ClientID: clientID, Kind: chats.KindText, Text: text},
		-1); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) sweep() {
	r.t.Helper()
	if err := r.Sweep(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

// pushed sends the waiting push messages and returns the paths, titles and bodies of all that arrived so far.
func (r *rig) pushed() (all []string) {
	r.t.Helper()
	for len(r.jobs) > 0 {
		if err := r.push(r.t.Context(), <-r.jobs); err != nil {
			r.t.Fatal(err)
		}
	}
	for _, x := range r.pushes.Received() {
		all = append(all, strings.TrimSpace(x.Path+" "+x.Text["title"]+" "+x.Text["body"]))
	}
	return all
}

func (r *rig) subscribe(name, lang string) *accounts.Subscription {
	r.t.Helper()
	session := carillon.NewID(r.now())
	account, err := r.db.Accounts.Account(r.t.Context(), r.members[name])
	if err != nil {
		r.t.Fatal(err)
	}
	ok, err := r.db.Sessions.StartBrowser(r.t.Context(), accounts.Browser{Session: accounts.Session{
		ID: session, AccountID: account.ID, CreatedAt: r.now(), ExpiresAt: r.now().Add(30 * 24 * time.Hour),
	}}, session, account.PasswordHash, account.PasswordHash)
	if err != nil || !ok {
		r.t.Fatal(ok, err)
	}
	x := &accounts.Subscription{
		CompanyID: r.company, AccountID: account.ID, SessionID: session, Endpoint: r.pushes.URL + "/" + name, Language: lang,
		CreatedAt: r.now(),
	}
	x.P256DH, x.Auth = r.pushes.Keys()
	if err := r.db.Notices.Subscribe(r.t.Context(), x); err != nil {
		r.t.Fatal(err)
	}
	return x
}

func (r *rig) choose(name string, c accounts.NoticeChoice) {
	r.t.Helper()
	if err := r.db.Notices.SetChoice(r.t.Context(), r.company, r.members[name], c); err != nil {
		r.t.Fatal(err)
	}
}

func TestTeammatesGetAPushMessageAboutAWait(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.subscribe("ana", "es")
		r.subscribe("vic", "en") // may not answer
		ben := r.subscribe("ben", "en")
		first := r.open("", "")
		r.sweep()
		other := r.node(r.o.Push)
		if err := other.Sweep(t.Context()); err != nil || len(other.jobs) != 0 {
			t.Error("two nodes told of it:", err)
		}
		r.sweep()
		spanish, english := "/ana Un visitante espera respuesta", "/ben A visitor is waiting"
		got := r.pushed()
		if len(got) != 2 || !strings.Contains(fmt.Sprint(got), spanish) || !strings.Contains(fmt.Sprint(got), english) {
			t.Fatal(got)
		}
		for _, x := range r.pushes.Received() {
			if x.Text["url"] != "/panel/inbox?c="+first+"&company="+r.company || x.Text["tag"] != first || x.TTL != 600 {
				t.Errorf("%+v", x)
			}
		}

		r.rules(carillon.InboxRules{ShowText: true})
		quietNow := r.now().Hour() * 60
		r.choose("ana", accounts.NoticeChoice{Push: true, Mail: true, QuietFrom: quietNow, QuietTo: (quietNow + 61) % 1440, Language: "en"})
		r.open("", "")
		r.sweep()
		if got := r.pushed()[2:]; !cmp.Equal(got, []string{"/ben María is waiting ¿Admiten <perros>?"}) {
			t.Error("with the text, and quiet hours of one:", got)
		}
		r.choose("ana", accounts.NoticeChoice{Push: false, Mail: true, Language: "en"})
		r.open("", "")
		r.sweep()
		if got := r.pushed()[3:]; len(got) != 1 {
			t.Error("turned off by one:", got)
		}
		if err := r.db.Sessions.EndSession(t.Context(), ben.SessionID, r.now()); err != nil {
			t.Fatal(err)
		}
		r.open("", "")
		r.sweep()
		if got := r.pushed()[4:]; len(got) != 0 {
			t.Error("signed out:", got)
		}
	})
}

func TestNoPushMessageWithoutAWaitOrAMembership(t *testing.T) {
	r := newRig(t, store.Options{Dir: storetest.Folder(t)})
	r.subscribe("ana", "en")
	ben := r.subscribe("ben", "en")
	id := r.open("", "")
	r.answer(id, "1", "Sí")
	r.sweep()
	if got := r.pushed(); len(got) != 0 {
		t.Error("answered:", got)
	}
	if err := r.db.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.RemoveMembership(ctx, tx, accounts.Membership{AccountID: r.members["ben"], CompanyID: r.company, Role: "owner"})
	}); err != nil {
		t.Fatal(err)
	}
	r.open("", "")
	r.sweep()
	if got := r.pushed(); !cmp.Equal(got, []string{"/ana A visitor is waiting"}) {
		t.Error("no longer a member:", got, ben.ID)
	}
	r.pushes.Respond(410)
	r.open("", "")
	r.sweep()
	r.pushed()
	left, err := r.db.Notices.Subscriptions(t.Context(), r.company, r.members["ana"], r.now())
	if err != nil || len(left) != 0 {
		t.Error("the browser ended its subscription, which is kept:", left, err)
	}
	r.pushes.Respond(201)
	ana := r.subscribe("ana", "en")
	for range pushesPerMinute + 5 {
		r.open("", "")
	}
	r.sweep()
	if got := r.pushed()[1:]; len(got) > pushesPerMinute {
		t.Errorf("%d push messages in a minute to %s", len(got), ana.AccountID)
	}
	r.pass(stale + time.Hour)
	late := r.open("", "")
	r.pass(stale + time.Hour) // the program was stopped
	r.sweep()
	before := len(r.pushes.Received())
	if got := r.pushed()[before:]; len(got) != 0 {
		t.Error("after half a day:", got, late)
	}
}

func TestThoseOnDutyGetOneEMailAboutLongWaits(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		r.rules(carillon.InboxRules{MailAfterMinutes: 10, OnDuty: []string{r.members["ana"]}})
		first, second := r.open("", ""), r.open("", "")
		r.sweep()
		r.pass(9 * time.Minute)
		r.sweep()
		if all := r.mails(); len(all) != 0 {
			t.Error("too early:", all)
		}
		r.answer(second, "1", "Sí")
		third := r.open("", "")
		r.sweep()
		r.pass(time.Minute)
		r.sweep()
		all := r.mails()
		if len(all) != 1 || all[0].To != "ana@"+r.company+".test" || all[0].Subject != "A visitor is waiting" ||
			!strings.Contains(all[0].Text, "https://panel.test/panel/inbox?c="+first) || strings.Contains(all[0].Text, "perros") {
			t.Fatalf("%+v", all)
		}
		r.sweep()
		r.pass(9 * time.Minute)
		r.sweep()
		if all := r.mails(); len(all) != 1 || !strings.Contains(all[0].Text, third) || strings.Contains(all[0].Text, first) {
			t.Errorf("once a wait: %+v", all)
		}

		r.rules(carillon.InboxRules{MailAfterMinutes: 1, ShowText: true})
		r.choose("ben", accounts.NoticeChoice{Push: true, Mail: true, Language: "pt"})
		r.choose("ana", accounts.NoticeChoice{Push: true, Mail: false, Language: "en"})
		r.open("", "")
		r.open("", "")
		r.sweep()
		r.pass(time.Minute)
		r.sweep()
		all = r.mails()
		if len(all) != 1 || all[0].To != "ben@"+r.company+".test" || all[0].Subject != "2 visitantes estão esperando" ||
			strings.Count(all[0].Text, "María: ¿Admiten <perros>?") != 2 || !strings.Contains(all[0].HTML, "&lt;perros&gt;") {
			t.Errorf("everybody who may answer and wants it: %+v", all)
		}
	})
}

func TestAReplyGoesByEMailToAVisitorWhoLeft(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		id := r.open("maria@visitor.test", "https://shop.acme.test/boats?token=secret#here")
		stranger := r.open("other@visitor.test", "https://evil.test/")
		nobody := r.open("", "https://shop.acme.test/")
		r.pass(5 * time.Minute)
		r.answer(id, "1", "Sí, <claro>.")
		r.answer(stranger, "1", "Sí.")
		r.answer(nobody, "1", "Sí.")
		r.pass(30 * time.Second)
		r.answer(id, "2", "¿Cuántos?")
		r.sweep()
		if all := r.mails(); len(all) != 0 {
			t.Error("too early:", all)
		}
		r.pass(30 * time.Second)
		r.sweep()
		r.sweep()
		all := r.mails()
		if len(all) != 2 {
			t.Fatalf("%d e-mails: %+v", len(all), all)
		}
		if all[0].To != "maria@visitor.test" {
			all[0], all[1] = all[1], all[0]
		}
		want := "Usted preguntó:\n> ¿Admiten <perros>?\n\nAna respondió:\n\nSí, <claro>.\n\n¿Cuántos?\n\nContinuar en el chat:\n" +
			"https://shop.acme.test/boats\n\nLas respuestas a este correo no se leen.\n"
		if diff := cmp.Diff(want, all[0].Text); diff != "" {
			t.Error(diff)
		}
		if !strings.Contains(all[0].HTML, "Sí, &lt;claro&gt;.") || !strings.HasPrefix(all[0].Subject, "Acme ") || !all[0].Automatic ||
			all[0].ID != fmt.Sprintf("%s.%d", id, 4) {
			t.Errorf("%+v", all[0])
		}
		if strings.Contains(all[1].Text+all[1].HTML, "evil.test") || !strings.Contains(all[1].Text, "abra de nuevo el chat") {
			t.Errorf("it links to a page where the widget is not allowed: %+v", all[1])
		}
		if n := strings.Count(strings.Join(r.published, "\n"), `"state":"sent"`); n != 3 {
			t.Errorf("%d replies are shown as sent: %s", n, r.published)
		}
	})
}

func TestAConnectedVisitorGetsNoEMail(t *testing.T) {
	r := newRig(t, store.Options{Dir: storetest.Folder(t)})
	seen, idle := r.open("seen@visitor.test", ""), r.open("idle@visitor.test", "")
	alive := func(id string) {
		t.Helper()
		c, err := r.db.Chats.Find(t.Context(), r.company, id)
		if err == nil {
			err = r.talk.Alive(t.Context(), c)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{seen, idle} {
		r.answer(id, "1", "Sí.")
	}
	c, err := r.db.Chats.Find(t.Context(), r.company, seen)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.talk.Seen(t.Context(), r.company, seen, c.LastSeq); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		r.pass(time.Minute)
		alive(idle)
		r.sweep()
	}
	if all := r.mails(); len(all) != 0 {
		t.Error("seen, or connected:", all)
	}
	r.pass(ConnectedFor + chats.MailPause)
	r.sweep()
	if all := r.mails(); len(all) != 1 || all[0].To != "idle@visitor.test" {
		t.Error("left without having seen it:", all)
	}
	r.rules(carillon.InboxRules{ChatOnly: true})
	r.answer(idle, "2", "¿Sigue ahí?")
	r.pass(time.Hour)
	r.sweep()
	if all := r.mails(); len(all) != 0 {
		t.Error("the company wants none:", all)
	}
}

func TestAReplyIsSentAgainAfterAFailure(t *testing.T) {
	onBoth(t, func(t *testing.T, r *rig) {
		id := r.open("maria@visitor.test", "")
		r.pass(5 * time.Minute)
		r.answer(id, "1", "Sí.")
		r.pass(time.Minute)
		r.fault = errors.New("connection refused")
		r.sweep()
		r.fault = nil
		r.sweep()
		if all := r.mails(); len(all) != 0 {
			t.Error("at once:", all)
		}
		r.pass(backoff[0])
		r.sweep()
		all := r.mails()
		if len(all) != 1 {
			t.Fatal(all)
		}

		// A node dies after the mail server accepted the e-mail: another sends it again with the same Message-ID.
		r.answer(id, "2", "¿Cuántos?")
		r.pass(time.Minute)
		due, err := r.db.Mails.Due(t.Context(), r.now(), 10)
		if err != nil || len(due) != 1 {
			t.Fatal(due, err)
		}
		batch, err := r.db.Mails.Claim(t.Context(), due[0], r.now(), r.now().Add(lease))
		if err != nil || len(batch) != 1 {
			t.Fatal(batch, err)
		}
		r.sweep()
		if all := r.mails(); len(all) != 0 {
			t.Error("another node has it:", all)
		}
		r.pass(lease)
		r.sweep()
		if all := r.mails(); len(all) != 1 || all[0].ID != fmt.Sprintf("%s.%d", id, batch[0].Seq) {
			t.Error(all)
		}

		r.answer(id, "3", "¿Hola?")
		r.fault = errors.New("connection refused")
		for range 20 {
			r.pass(24 * time.Hour)
			r.sweep()
		}
		found, err := r.db.Mails.Of(t.Context(), r.company, id, 1, 100)
		if err != nil || len(found) != 3 || found[2].State != "failed" || found[2].Reason != reasonExhausted ||
			int(found[2].Attempt) != len(backoff)+1 {
			t.Error(found, err)
		}
	})
}
