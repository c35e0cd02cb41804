// Package store holds the SQL of the program, the same text for SQLite and PostgreSQL, on top of internal/store/db:
// each subject is a field of Store. Operations over several subjects are here: set-ups, backups, erasing a person.
// Writes of the hot path go through the group commit; configuration is read through caches (package configure). The
// store knows rows and transactions, but not their purpose: rules are in notify, catalog, auth and queue.
package store

import (
	"context"
	"crypto/rand"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	mathrand "math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"carillon"
	"carillon/internal/base/share"
	"carillon/internal/store/accounts"
	"carillon/internal/store/audit"
	"carillon/internal/store/calls"
	"carillon/internal/store/chats"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
	"carillon/internal/store/events"
	"carillon/internal/store/messages"
	"carillon/internal/store/purge"
	"carillon/internal/store/resources"
	"carillon/internal/store/settings"
	"carillon/internal/store/sites"
	"carillon/internal/store/stats"
	"carillon/internal/store/widgets"
	"carillon/internal/store/work"
)

// Options describe the database. If DatabaseURL is empty, it is SQLite in Dir.
type Options struct {
	Dir         string
	DatabaseURL string
	MasterKey   [32]byte
	Logger      *slog.Logger
	// MaxWaiting bounds the writes that wait for a commit; more are refused with service_unavailable. Twice as many
	// requests may wait for admission.
	MaxWaiting int
	// CommitTimeout bounds a group commit with PostgreSQL; default 5 s.
	CommitTimeout time.Duration
	// Committed is called after every group commit, successful or not, with its number of rows and its duration.
	Committed  func(rows int, took time.Duration)
	Processors int // determines the number of SQLite readers; default GOMAXPROCS
	// Wait is the time for which Open waits for an unresponsive PostgreSQL; 0 fails immediately.
	Wait time.Duration
	// RequireSynchronous refuses writes of callers while no synchronous standby of PostgreSQL confirms commits.
	RequireSynchronous bool
	Shares             *share.Set // nil for separate shares
	// Cell is the number of this installation among those between which companies can move; nil for the stored one. The
	// first Open stores it, at least 0.
	Cell *int
}

// The places of operations in the lock order: closing notifications and deletions, shards with starts and results,
// idempotency keys with new rows and quotas, messages of receipts, contacts, conversations, questions. The topics of
// events come last, after all operations that write events (events.Record).
const (
	placeClose db.Place = iota
	placeDelivery
	placeAccept
	placeReceipt
	placeContact
	placeConversation
	placeQuestion
	placeEvent
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrations are the files that bring a database to the program's schema. Tests use them to create databases to copy.
func Migrations() fs.FS { return migrations }

// Store is the database, with a field for each subject. It is safe for concurrent use.
type Store struct {
	DB     *db.DB
	Sealer *configure.Sealer
	Config *configure.Configuration // changes of cached configuration: companies, keys, senders, templates, suppressions
	Nodes  *work.Nodes

	Accounts *accounts.Store
	Sessions *accounts.Sessions
	Keys     *accounts.Keys
	Factors  *accounts.Factors
	Links    *accounts.Links
	Rates    *accounts.Rates
	Audit    *audit.Store
	APICalls *audit.APICalls

	Senders      *settings.Senders
	Templates    *settings.Templates
	Suppressions *settings.Suppressions
	Resources    *resources.Store
	TestRuns     *resources.TestRuns
	Vectors      *resources.Vectors
	Sites        *sites.Store
	Widgets      *widgets.Store

	Notifications *messages.Notifications
	Messages      *messages.Messages
	Fallbacks     *messages.Fallbacks
	Search        *messages.Search
	Breakers      *work.Breakers
	Bulk          *messages.Jobs
	Stats         *stats.Store

	Calls    *calls.Store
	Incoming *calls.Incoming

	Chats      *chats.Store
	Contacts   *chats.Contacts
	Attendance *chats.Attendance
	Canned     *chats.CannedReplies
	Topics     *chats.Topics
	Questions  *chats.Questions
	Quality    *chats.Quality
	Files      *chats.Files
	Addresses  *chats.SignedAddresses
	Runs       *chats.Runs
	Reviews    *chats.Reviews
	Replies    *chats.Replies
	Past       *chats.Past // from the channel's own app
	Mails      *chats.MailReplies
	Notices    *accounts.Notices
	Phones     *chats.Phones // of the sandbox

	Events *events.Store
	Hooks  *events.Hooks
	Purges *purge.Store

	Integrity *Integrity
	ids       *work.Sequence
	backups   backups
	adopted   atomic.Pointer[db.Origin] // recorded last
	stop      context.CancelFunc
	done      sync.WaitGroup
}

// ErrFolderInUse means that another process uses the data folder.
var ErrFolderInUse = db.ErrFolderInUse

// LockFolder locks a data folder for this process, or returns ErrFolderInUse.
func LockFolder(dir string) (io.Closer, error) { return db.LockFolder(dir) }

// ErrNewerSchema means that a newer program migrated the database to an incompatible schema.
var ErrNewerSchema = db.ErrNewerSchema

// Open opens the database and, if needed, creates or migrates it. On SQLite a second process on the same folder is
// refused: the lock is held until Close.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	sealer, err := configure.NewSealer(o.MasterKey)
	if err != nil {
		return nil, err
	}
	d, err := db.Open(ctx, db.Options{
		Dir: o.Dir, URL: o.DatabaseURL, Migrations: migrations, Logger: o.Logger, MaxWaiting: o.MaxWaiting, CommitTimeout: o.CommitTimeout,
		Committed: o.Committed, Processors: o.Processors, Wait: o.Wait, RequireSynchronous: o.RequireSynchronous,
	})
	if err != nil {
		return nil, err
	}
	s := newStore(d, sealer, &o)
	if err = s.checkMoved(ctx); err == nil {
		err = s.checkMasterKey(ctx)
	}
	if err == nil {
		err = s.setCell(ctx, o.Cell)
	}
	if err != nil {
		_ = d.Close() // the first error is reported
		return nil, err
	}
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx)) // until Close
	if !d.SQLite() {
		s.done.Go(func() { s.Config.Follow(ctx) })
	}
	return s, nil
}

// newStore connects the subjects.
func newStore(d *db.DB, sealer *configure.Sealer, o *Options) *Store {
	config := configure.New(d, sealer)
	ids := new(work.Sequence)
	if !d.SQLite() {
		ids.SetSlot(mathrand.N(carillon.NodeSlots)) //nolint:gosec // no secret; until the node has joined the others
	}
	event := events.New(d, config, placeEvent)
	s := &Store{
		DB: d, Sealer: sealer, Config: config, ids: ids, Nodes: work.NewNodes(d, ids),
		Accounts: accounts.New(d, config), Sessions: accounts.NewSessions(d), Keys: accounts.NewKeys(d, sealer, config),
		Factors: accounts.NewFactors(d, sealer), Links: accounts.NewLinks(d), Rates: accounts.NewRates(d),
		Audit: audit.New(d), APICalls: audit.NewAPICalls(d),
		Senders: settings.NewSenders(d, sealer, config), Templates: settings.NewTemplates(d, config, event.Subscribed),
		Resources: resources.New(d, sealer, config), TestRuns: resources.NewTestRuns(d), Sites: sites.New(d), Widgets: widgets.New(d),
		Vectors:  resources.NewVectors(d, sealer, config),
		Breakers: work.NewBreakers(d), Bulk: messages.NewJobs(d), Stats: stats.New(d, placeClose, time.Now()),
		Chats:      chats.New(d, placeContact, placeConversation, event.Subscribed),
		Attendance: chats.NewAttendance(d), Canned: chats.NewCannedReplies(d),
		Questions: chats.NewQuestions(d, placeQuestion), Quality: chats.NewQuality(d),
		Files: chats.NewFiles(d), Addresses: chats.NewSignedAddresses(d),
		Runs: chats.NewRuns(d), Reviews: chats.NewReviews(d),
		Replies: chats.NewReplies(d, event.Subscribed),
		Phones:  chats.NewPhones(d), Mails: chats.NewMailReplies(d), Notices: accounts.NewNotices(d, sealer),
		Events: event, Hooks: events.NewHooks(d), Search: messages.NewSearch(d, o.Logger),
	}
	s.Suppressions = settings.NewSuppressions(d, config, s.Accounts)
	touch := func(seq carillon.Seq, err error) { s.Stats.Touch(seq, err) }
	m := messages.Options{
		DB: d, Close: placeClose, Delivery: placeDelivery, Accept: placeAccept, Receipt: placeReceipt, IDs: ids,
		Subscribed: event.Subscribed, Sender: s.Senders.Sender, Followed: s.followed(events.Notifications), Touch: touch,
		Lists: o.Shares.Of(share.Lists.Of(int64(max(2, d.Processors())))),
	}
	s.Notifications, s.Messages, s.Fallbacks = messages.NewNotifications(&m), messages.New(&m), messages.NewFallbacks(&m)
	s.Calls = calls.New(d, placeDelivery, placeReceipt, s.Nodes.ID, s.followed(events.Calls), touch)
	s.Incoming = calls.NewIncoming(d, s.Nodes.ID, s.followed(events.Calls))
	s.Contacts, s.Topics = chats.NewContacts(s.Chats), chats.NewTopics(event, s.Chats)
	s.Past = chats.NewPast(s.Chats)
	s.Integrity = &Integrity{s: s}
	s.Purges = purge.NewStore(d, placeClose, s.Stats)
	return s
}

// followed returns a check whether events of a sender's company are written.
func (s *Store) followed(topic string) func(ctx context.Context, senderUID int64) bool {
	return func(ctx context.Context, senderUID int64) bool {
		x, err := s.Senders.Sender(ctx, senderUID)
		if err != nil { // if it cannot be read, events are written; if there is none, they are not
			return !carillon.IsCode(err, carillon.NotFound)
		}
		return s.Events.Subscribed(ctx, x.CompanyID, topic)
	}
}

// Close finishes the waiting writes, then closes the database and releases the folder.
func (s *Store) Close() error {
	s.backups.end()
	s.stop()
	s.done.Wait()
	return s.DB.Close()
}

// checkMasterKey refuses to start with a master key that cannot open the stored secrets.
func (s *Store) checkMasterKey(ctx context.Context) error {
	nonce := make([]byte, 8)
	_, _ = rand.Read(nonce)
	err := s.DB.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, "INSERT INTO meta (name, text) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", "master-key",
			s.Sealer.Seal(masterKeyRow, nonce))
		return err
	})
	if err != nil {
		return fmt.Errorf("check the master key: %w", err)
	}
	var sealed string
	if err := s.DB.Row(ctx, []any{&sealed}, "SELECT text FROM meta WHERE name = $1", "master-key"); err != nil {
		return fmt.Errorf("check the master key: %w", err)
	}
	return openMasterKey(s.Sealer, sealed)
}

// masterKeyRow is the name under which the proof of the master key is sealed.
const masterKeyRow = "meta/master-key"

func openMasterKey(by *configure.Sealer, sealed string) error {
	_, err := by.Open(masterKeyRow, sealed)
	return err
}

// CheckMasterKey returns an error unless a master key opens what a database has in the row master-key of its table meta.
func CheckMasterKey(key [32]byte, sealed string) error {
	by, err := configure.NewSealer(key)
	if err != nil {
		return err
	}
	return openMasterKey(by, sealed)
}
