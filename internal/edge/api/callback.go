package api

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/edge/httpio"
	"carillon/internal/send/catalog"
	"carillon/internal/send/notify"
	"carillon/internal/store"
	"carillon/internal/store/chats"
	"carillon/internal/store/settings"
)

// maxCallback limits a callback's body. The channel batches up to 3 MB of updates.
const maxCallback = 4 << 20

// callbacks serves the endpoints called by providers (docs/reference/callbacks.md).
type callbacks struct {
	providers map[string]Callback
	store     *store.Store
	notify    *notify.Notify
	catalog   *catalog.Catalog
	messaging Messaging
	history   History
	reports   Reports
	seen      *callbackTimes
	log       *slog.Logger
}

// callbackTimeInterval is the interval at which the time of a sender's latest callback is stored.
const callbackTimeInterval = time.Minute

// callbackTimes holds, for each sender, when its latest callback time was last stored by this node.
type callbackTimes struct {
	mu sync.Mutex
	at map[int64]time.Time
}

// due reports whether it is time to store a sender's callback time again.
func (s *callbackTimes) due(senderUID int64, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.at[senderUID]) < callbackTimeInterval {
		return false
	}
	if s.at == nil {
		s.at = map[int64]time.Time{}
	}
	s.at[senderUID] = now
	return true
}

func (s callbacks) routes() []httpio.Route {
	var routes []httpio.Route
	for _, provider := range slices.Sorted(maps.Keys(s.providers)) {
		pattern := " /callbacks/" + provider + "/{sender}"
		routes = append(routes,
			route("GET"+pattern, "provider", func(w http.ResponseWriter, r *http.Request) error { return s.handshake(w, r, provider) }),
			httpio.Route{
				Pattern: "POST" + pattern, Access: "provider", MaxBody: maxCallback,
				Handle: func(w http.ResponseWriter, r *http.Request) error {
					return s.receive(w, r, provider)
				},
			})
	}
	return routes
}

// senders returns the senders that a callback's path may refer to, because sender ids are unique only within a
// company.
func (s callbacks) senders(r *http.Request, provider string) (Callback, []*carillon.Sender, error) {
	cb, id := s.providers[provider], r.PathValue("sender")
	if !validID(id) {
		return cb, nil, carillon.Absent("Sender")
	}
	all, err := s.store.Senders.SendersByID(r.Context(), id)
	if err != nil {
		return cb, nil, err
	}
	var senders []*carillon.Sender
	for _, x := range all {
		if x.Provider == provider {
			senders = append(senders, x)
		}
	}
	if len(senders) == 0 {
		return cb, nil, carillon.Absent("Sender")
	}
	return cb, senders, nil
}

// validID reports whether an id from a path is a possible sender id.
func validID(id string) bool {
	return id != "" && len(id) <= 255 && utf8.ValidString(id) && !strings.ContainsFunc(id, func(c rune) bool { return c < ' ' })
}

// handshake proves to the provider that we own the address by echoing the challenge.
func (s callbacks) handshake(w http.ResponseWriter, r *http.Request, provider string) error {
	cb, senders, err := s.senders(r, provider)
	if err != nil {
		return err
	}
	query := r.URL.Query()
	for _, x := range senders {
		if challenge, ok := cb.Handshake(x.Settings, query); ok {
			if err := s.store.Senders.KeepHandshake(r.Context(), x, time.Now()); err != nil {
				return err
			}
			h := w.Header()
			h.Set("Content-Type", "text/plain; charset=utf-8")
			h.Set("X-Content-Type-Options", "nosniff")
			h.Set("Cache-Control", "no-store")
			_, _ = w.Write([]byte(challenge)) // the client may have disconnected
			return nil
		}
	}
	return carillon.Denied("The verify token is not this sender's")
}

// receive responds with 200 only once every event of the callback is stored; otherwise the provider repeats the
// callback. If the path matches no sender or there is no signature, the body is not read.
func (s callbacks) receive(w http.ResponseWriter, r *http.Request, provider string) error {
	cb, senders, err := s.senders(r, provider)
	if err == nil && !cb.Signed(r.Header) {
		err = carillon.NoAccess("The callback is not signed", "missing")
	}
	if err != nil {
		httpio.LeaveBody(r.Context())
		return err
	}
	body, err := httpio.RawBody(r)
	if err != nil {
		return err
	}
	verified, in := false, intake{companyOf: map[string]string{}}
	var away error
	for _, x := range senders {
		if !cb.Verify(x.Settings, r.Header, body) {
			continue
		}
		httpio.SetCompany(r.Context(), x.CompanyID)
		gone, err := s.moved(r.Context(), x)
		if err != nil {
			return err
		}
		if gone != nil {
			away = gone
			continue
		}
		verified = true
		if err := s.storeForCompany(r, cb, x, body, &in); err != nil {
			return err
		}
	}
	if away != nil && !verified {
		return away
	}
	if !verified {
		return carillon.NoAccess("The signature is not this sender's", "invalid")
	}
	s.countIgnored(r, &in)
	return httpio.Raw(w, http.StatusOK, []byte(`{"success":true}`))
}

// moved returns an error while the sender's company is being moved: the provider repeats the callback, and nothing of it is
// lost. If the company is in use at another installation, gone is the same error, for a callback of no other company.
func (s callbacks) moved(ctx context.Context, x *carillon.Sender) (gone, err error) {
	c, err := s.store.Accounts.Company(ctx, x.CompanyID)
	if err != nil || c.Move == "" {
		return nil, err
	}
	refused := &carillon.Error{Code: carillon.ServiceUnavailable, Message: "The company is being moved"}
	if c.Gone() {
		return refused, nil
	}
	return nil, refused
}

// intake collects the messages of a callback.
type intake struct {
	// companyOf maps message ids, and numbers with a history, to companies. If two companies claim a number, the one with the
	// older sender wins.
	companyOf map[string]string

	unnamed   []provider.Inbound
	elsewhere map[string][]provider.Inbound // messages to numbers other than the last sender's, by the provider's id of the number
}

// countIgnored counts and logs the messages that no sender accepted.
func (s callbacks) countIgnored(r *http.Request, in *intake) {
	if s.messaging == nil {
		return
	}
	log := httpio.Logger(r.Context(), s.log).With("sender", r.PathValue("sender"))
	if len(in.unnamed) > 0 {
		s.messaging.Ignore(in.unnamed)
		log.WarnContext(r.Context(), "ignore messages that name no author", "kinds", kindsOf(in.unnamed))
	}
	for id, all := range in.elsewhere {
		all = slices.DeleteFunc(all, func(m provider.Inbound) bool { _, taken := in.companyOf[m.ID]; return taken })
		if len(all) > 0 {
			s.messaging.Ignore(all)
			log.WarnContext(r.Context(), "ignore messages that no sender takes", "phone_number_id", id, "kinds", kindsOf(all))
		}
	}
}

// kindsOf returns the kinds of messages as named in metrics.
func kindsOf(all []provider.Inbound) (kinds []string) {
	for i := range all {
		kinds = append(kinds, all[i].Label())
	}
	return kinds
}

// storeForCompany stores a callback's events for each of the company's senders whose secret matches the signature: a
// provider's application has one callback address and may serve several numbers.
func (s callbacks) storeForCompany(r *http.Request, cb Callback, x *carillon.Sender, body []byte, in *intake) error {
	all, err := s.store.Senders.Senders(r.Context(), x.CompanyID)
	if err != nil {
		return err
	}
	for _, y := range all {
		if y.Provider != x.Provider || y.UID != x.UID && !cb.Verify(y.Settings, r.Header, body) {
			continue
		}
		if err := s.storeEvents(r.Context(), cb, y, body, in); err != nil {
			return err
		}
	}
	return nil
}

// storeEvents stores the events of one sender. It ignores events of other numbers of the same application, because
// after an error the provider would repeat them for days.
func (s callbacks) storeEvents(ctx context.Context, cb Callback, x *carillon.Sender, body []byte, in *intake) error {
	events, err := cb.Parse(body, x)
	if err != nil {
		return err
	}
	in.unnamed, in.elsewhere = events.Unnamed, events.Elsewhere
	if events.Ignored > 0 {
		httpio.Logger(ctx, s.log).InfoContext(ctx, "ignore parts of a callback", "company", x.CompanyID, "sender", x.ID, "parts",
			events.Ignored)
	}
	s.recordCallback(ctx, x, events)
	if len(events.Receipts) > 0 {
		if err := s.notify.Receive(ctx, x, events.Receipts); err != nil {
			return fmt.Errorf("store receipts: %w", err)
		}
		if err := s.suppressOptOuts(ctx, x, events.Receipts); err != nil {
			return err
		}
		if err := s.linkIdentities(ctx, cb, x, events.Receipts); err != nil {
			return err
		}
	}
	if err := s.applyPreferences(ctx, x, events.Preferences); err != nil {
		return err
	}
	if err := s.storeHistory(ctx, x, events.History, in); err != nil {
		return err
	}
	if s.reports != nil && len(events.Calls) > 0 {
		if err := s.reports.Reported(ctx, x, events.Calls); err != nil {
			return fmt.Errorf("store reports about calls: %w", err)
		}
	}
	if s.messaging != nil {
		if err := s.messaging.Receive(ctx, x, s.claimed(ctx, x, events.Inbound, in.companyOf)); err != nil {
			return fmt.Errorf("store inbound messages: %w", err)
		}
		if err := s.messaging.Receipts(ctx, x, events.Replies); err != nil {
			return fmt.Errorf("store receipts of replies: %w", err)
		}
	}
	if len(events.Templates) > 0 {
		return s.catalog.Apply(ctx, events.Templates)
	}
	return nil
}

// storeHistory stores the parts of a sender's history, unless another company has the number too and got them.
func (s callbacks) storeHistory(ctx context.Context, x *carillon.Sender, parts []provider.HistoryPart, in *intake) error {
	if s.history == nil || len(parts) == 0 {
		return nil
	}
	key := "history/" + x.Number
	if company, taken := in.companyOf[key]; taken && company != x.CompanyID {
		httpio.Logger(ctx, s.log).WarnContext(ctx, "ignore the history of a number that another company has too", "company", x.CompanyID,
			"sender", x.ID)
		return nil
	}
	in.companyOf[key] = x.CompanyID
	if err := s.history.Receive(ctx, x, parts); err != nil {
		return fmt.Errorf("store a history: %w", err)
	}
	return nil
}

// recordCallback stores the time of the callback and the channel's notice. Failures are only logged: neither is worth a repeat
// of the callback.
func (s callbacks) recordCallback(ctx context.Context, x *carillon.Sender, events CallbackEvents) {
	now := time.Now()
	if events.Concerned && s.seen.due(x.UID, now) {
		if err := s.store.Senders.KeepCallback(ctx, x, now); err != nil {
			httpio.Logger(ctx, s.log).WarnContext(ctx, "store when a callback came", "company", x.CompanyID, "sender", x.ID, "error", err)
		}
	}
	if events.Notice != nil {
		if err := s.store.Senders.KeepNotice(ctx, x, *events.Notice); err != nil {
			httpio.Logger(ctx, s.log).WarnContext(ctx, "store a notice of the channel", "company", x.CompanyID, "sender", x.ID,
				"error", err)
		}
	}
}

// claimed returns the messages for a sender's company, without those claimed by another company that has the same
// number.
func (s callbacks) claimed(ctx context.Context, x *carillon.Sender, all []provider.Inbound, to map[string]string) (own []provider.Inbound) {
	for _, m := range all {
		if company, ok := to[m.ID]; ok && company != x.CompanyID {
			httpio.Logger(ctx, s.log).WarnContext(ctx, "ignore messages to a number that another company has too", "company",
				x.CompanyID, "sender", x.ID)
			continue
		}
		to[m.ID] = x.CompanyID
		own = append(own, m)
	}
	return own
}

// linkIdentities links the phone numbers of recipients to the user ids that the channel reports.
func (s callbacks) linkIdentities(ctx context.Context, cb Callback, x *carillon.Sender, receipts []provider.Receipt) error {
	var reports []chats.Report
	for i := range receipts {
		r := &receipts[i]
		if r.UserID == "" || cb.Portfolio == nil {
			continue
		}
		number, err := s.store.Suppressions.NumberOf(ctx, x.UID, r.Ref)
		if err != nil {
			return err
		}
		if _, userID := identity.Split(number); userID != "" {
			number = r.Number // a message to an id has no number, but its receipt may
		}
		if number != "" {
			owner := &identity.Identity{Kind: identity.Person, Scope: cb.Portfolio(x), Key: identity.User(r.UserID)}
			reports = append(reports, chats.Report{Number: number, As: r.Number, Person: owner})
		}
	}
	if len(reports) == 0 {
		return nil
	}
	return s.store.Contacts.Learn(ctx, x.CompanyID, reports, time.Now())
}

// suppressOptOuts suppresses marketing to recipients who opted out of it at the channel.
func (s callbacks) suppressOptOuts(ctx context.Context, x *carillon.Sender, receipts []provider.Receipt) error {
	numbers, err := s.store.Suppressions.OptOuts(ctx, x.UID, receipts)
	if err != nil || len(numbers) == 0 {
		return err
	}
	return s.store.Suppressions.Suppress(ctx, x.CompanyID, settings.SuppressMarketing, settings.OptedOut, time.Now(), numbers...)
}

// applyPreferences applies the marketing choices that people make in the channel's settings: it suppresses them for
// marketing, or lifts that suppression. A stop without a timestamp takes effect now; a resume without one is ignored.
func (s callbacks) applyPreferences(ctx context.Context, x *carillon.Sender, all []provider.Preference) error {
	for i := range all {
		p := &all[i]
		at := p.At
		var err error
		if p.Stop {
			if at.IsZero() {
				at = time.Now()
			}
			err = s.store.Suppressions.Suppress(ctx, x.CompanyID, settings.SuppressMarketing, settings.OptedOut, at, p.Addresses()...)
		} else if !at.IsZero() {
			err = s.store.Suppressions.LiftOptOut(ctx, x.CompanyID, at, p.Addresses()...)
		}
		if err != nil {
			return fmt.Errorf("store a wish about marketing: %w", err)
		}
	}
	return nil
}
