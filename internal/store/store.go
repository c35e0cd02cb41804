// Package store holds the SQL of the program, one file a table, one text for SQLite and PostgreSQL, on top of
// internal/store/db. Writes of the hot path go through the group commit; configuration is read through caches (configure.go). It
// knows rows and transactions, not what they are for: rules live in notify, catalog, auth and queue.
package store

import (
	"context"
	"crypto/rand"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	mathrand "math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"carillon"
	"carillon/internal/base/cache"
	"carillon/internal/base/share"
	"carillon/internal/store/accounts"
	"carillon/internal/store/addresses"
	"carillon/internal/store/apicalls"
	"carillon/internal/store/audit"
	"carillon/internal/store/bulk"
	"carillon/internal/store/calls"
	"carillon/internal/store/chats"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
	"carillon/internal/store/events"
	"carillon/internal/store/files"
	"carillon/internal/store/hooks"
	"carillon/internal/store/questions"
	"carillon/internal/store/rates"
	"carillon/internal/store/replies"
	"carillon/internal/store/resources"
	"carillon/internal/store/runs"
	"carillon/internal/store/seal"
	"carillon/internal/store/senders"
	"carillon/internal/store/stats"
	"carillon/internal/store/suppressions"
	"carillon/internal/store/templates"
	"carillon/internal/store/work"
)

// Options say where the data is. DatabaseURL empty: SQLite in Dir.
type Options struct {
	Dir         string
	DatabaseURL string
	MasterKey   [32]byte
	Logger      *slog.Logger
	// MaxWaiting bounds the writes that wait for a commit; past it a write is refused with service_unavailable. Twice as many
	// requests may wait to be admitted.
	MaxWaiting int
	// CommitTimeout bounds a group commit with PostgreSQL; 0: 5 s.
	CommitTimeout time.Duration
	// Committed is called after every group commit, however it ended, with the rows that shared it and how long it took.
	Committed  func(rows int, took time.Duration)
	Processors int // by which SQLite's readers are counted; default GOMAXPROCS
	// Wait is how long Open waits for a PostgreSQL that does not answer; 0: it fails at once.
	Wait   time.Duration
	Shares *share.Set // nil: shares of its own
}

// The places of operations in the lock order: closing notifications and deletions, shards with starts and results, idempotency
// keys with new rows and quotas, messages of receipts, contacts, conversations, questions. The topics of events come last of all, whichever operations write
// events (events.Record).
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

// Migrations are the files that bring a database to the program's schema. Tests make databases to copy with them.
func Migrations() fs.FS { return migrations }

// Store is the database. Its methods are safe for concurrent use.
type Store struct {
	*db.DB

	*accountStore
	*templateStore
	*resourceStore
	*suppressionStore
	*senderStore
	*rateStore
	*eventStore
	seal         *seal.Sealer
	config       *configure.Configuration
	log          *slog.Logger
	window       *cache.Cache[Maintenance]
	ids          carillon.Sequence
	accepts      *db.Kind[*Accept]
	messages     *work.Table
	deliveries   *db.Kind[*work.Batch]
	receipts     *db.Kind[[]receipt]
	reconciles   *db.Kind[db.Func] // unknown outcomes
	closes       *db.Kind[closing]
	purges       *db.Kind[db.Func] // deletions, on SQLite
	backups      backups
	calls        *calls.Store
	incoming     *calls.Incoming
	chats        *chats.Store
	questions    *questions.Store
	files        *files.Store
	addresses    *addresses.Store
	runs         *runs.Store
	replies      *replies.Store
	bulk         *bulk.Store
	audit        *audit.Store
	apiCalls     *apicalls.Store
	stats        *stats.Store
	hooks        *hooks.Store
	lists        *share.Share // of the lists being read: they must leave readers to requests that send
	unsearchable atomic.Int64 // entries that the search table refused
	nodeID       atomic.Value // string; empty until the node has joined
	stop         context.CancelFunc
	done         sync.WaitGroup
}

// ErrFolderInUse means that another process has the data folder.
var ErrFolderInUse = db.ErrFolderInUse

// ErrNewerSchema means that the database was migrated by a newer program in a way that this one cannot work with.
var ErrNewerSchema = db.ErrNewerSchema

// Open opens and, where needed, creates or migrates the database. On SQLite a second process on the same folder is
// refused: the lock is held until Close.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	sealer, err := seal.New(o.MasterKey)
	if err != nil {
		return nil, err
	}
	d, err := db.Open(ctx, db.Options{
		Dir: o.Dir, URL: o.DatabaseURL, Migrations: migrations, Logger: o.Logger, MaxWaiting: o.MaxWaiting, CommitTimeout: o.CommitTimeout,
		Committed: o.Committed, Processors: o.Processors, Wait: o.Wait,
	})
	if err != nil {
		return nil, err
	}
	config := configure.New(d)
	account := accounts.New(d, sealer, config)
	messages := &work.Table{DB: d, Name: "message"}
	eventStore := events.New(d, config, placeEvent)
	s := &Store{
		DB: d, accountStore: account, templateStore: templates.New(d, config, eventStore.Subscribed), resourceStore: resources.New(d, sealer, config),
		suppressionStore: suppressions.New(d, config, account), senderStore: senders.New(d, sealer, config), rateStore: rates.New(d),
		seal: sealer, config: config, log: o.Logger, window: configure.Cache[Maintenance](config), accepts: acceptKind(),
		messages: messages, deliveries: deliveryKind(messages), receipts: receiptKind(),
		reconciles: db.Funcs("reconcile", placeDelivery), closes: closeKind(), eventStore: eventStore,
		purges: db.Funcs("purge", placeClose), lists: o.Shares.Of(share.Lists.Of(int64(max(2, d.Processors())))),
	}
	s.nodeID.Store("")
	s.stats = stats.New(d, placeClose, time.Now())
	s.calls = calls.New(d, placeDelivery, placeReceipt, s.node, s.senderFollowed(events.Calls), s.stats.Touch)
	s.incoming = calls.NewIncoming(d, s.node, s.senderFollowed(events.Calls))
	s.chats = chats.New(d, placeContact, placeConversation, s.Subscribed)
	s.questions = questions.New(d, placeQuestion)
	s.files = files.New(d)
	s.addresses, s.runs, s.replies, s.bulk, s.hooks = addresses.New(d), runs.New(d), replies.New(d), bulk.New(d), hooks.New(d)
	s.audit, s.apiCalls = audit.New(d), apicalls.New(d)
	if err := s.checkMasterKey(ctx); err != nil {
		_ = d.Close() // the first error is the cause
		return nil, err
	}
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx)) // until Close
	if !s.SQLite() {
		s.ids.SetSlot(mathrand.N(carillon.NodeSlots)) //nolint:gosec // no secret; until the node has joined the others
		s.done.Go(func() { config.Follow(ctx) })
	}
	return s, nil
}

// Calls are the tables of calls.
func (s *Store) Calls() *calls.Store { return s.calls }

// Incoming is the table of calls to lines.
func (s *Store) Incoming() *calls.Incoming { return s.incoming }

// Derive returns a key of 32 bytes for one purpose, made from the master key.
func (s *Store) Derive(purpose string) ([]byte, error) { return s.seal.Derive(purpose) }

// Chats are the tables of conversations.
func (s *Store) Chats() *chats.Store { return s.chats }

// Questions are what agents had no answer to.
func (s *Store) Questions() *questions.Store { return s.questions }

// Files are the tables of files that people send.
func (s *Store) Files() *files.Store { return s.files }

// Runs are the runs of flows.
func (s *Store) Runs() *runs.Store { return s.runs }

// Replies are what people write to senders, and the replies.
func (s *Store) Replies() *replies.Store { return s.replies }

// Audit is the record of changes.
func (s *Store) Audit() *audit.Store { return s.audit }

// Hooks are the deliveries to the endpoints of webhooks.
func (s *Store) Hooks() *hooks.Store { return s.hooks }

// Stats are the counts of recipients.
func (s *Store) Stats() *stats.Store { return s.stats }

// Addresses are the signed addresses of sockets.
func (s *Store) Addresses() *addresses.Store { return s.addresses }

// node is this node's id, once it has joined the others.
func (s *Store) node() string { return s.nodeID.Load().(string) }

// Close finishes the writes that wait, then closes the database and releases the folder.
func (s *Store) Close() error {
	s.backups.end()
	s.stop()
	s.done.Wait()
	return s.DB.Close()
}

// The stores of subjects, under names of their own: Store and Tx have their methods.
type (
	accountStore     = accounts.Store
	accountTx        = accounts.Tx
	templateStore    = templates.Store
	templateTx       = templates.Tx
	resourceStore    = resources.Store
	resourceTx       = resources.Tx
	suppressionStore = suppressions.Store
	suppressionTx    = suppressions.Tx
	senderStore      = senders.Store
	senderTx         = senders.Tx
	rateStore        = rates.Store
	eventStore       = events.Store
)

// Accounts are the tables of companies, accounts and keys.
func (s *Store) Accounts() *accounts.Store { return s.accountStore }

// Documents are the tables of resources.
func (s *Store) Documents() *resources.Store { return s.resourceStore }

// Rates are the shared counts of request rates.
func (s *Store) Rates() *rates.Store { return s.rateStore }

// Tx is a transaction in which configuration and rows are written.
type Tx struct {
	*db.Tx
	*accountTx
	*templateTx
	*resourceTx
	*suppressionTx
	*senderTx
	config *configure.Tx
	s      *Store
}

func (s *Store) on(tx *configure.Tx) *Tx {
	return &Tx{
		Tx: tx.Tx, accountTx: s.accountStore.On(tx), templateTx: s.templateStore.On(tx), resourceTx: s.resourceStore.On(tx),
		suppressionTx: s.suppressionStore.On(tx), senderTx: s.senderStore.On(tx), config: tx, s: s,
	}
}

// Record writes a change into the record of changes, for what no method of the transaction records by itself (audit.Record).
func (tx *Tx) Record(ctx context.Context, now time.Time, e audit.Entry) error {
	return audit.Record(ctx, tx.Tx, now, e)
}

// changes records that the transaction changes a company's configuration.
func (tx *Tx) changes(companyID string) { tx.config.Changes(companyID) }

// Update runs fn in a transaction of its own. It must be repeatable: a deadlock or a serialization failure runs it
// again. On SQLite the caller's context bounds the wait, not the commit; on PostgreSQL it bounds all of it, and what it
// ends in the COMMIT may be stored or not.
func (s *Store) Update(ctx context.Context, fn func(ctx context.Context, tx *Tx) error) error {
	return s.DB.Update(ctx, func(ctx context.Context, tx *db.Tx) error { return fn(ctx, s.on(&configure.Tx{Tx: tx})) })
}

// returning is Update for a function with a result, as db.Returning.
func returning[T any](ctx context.Context, s *Store, fn func(ctx context.Context, tx *Tx) (T, error)) (T, error) {
	return db.Returning(ctx, s.DB, func(ctx context.Context, tx *db.Tx) (T, error) { return fn(ctx, s.on(&configure.Tx{Tx: tx})) })
}

// checkMasterKey refuses to start with a master key that cannot open what the database holds.
func (s *Store) checkMasterKey(ctx context.Context) error {
	const row = "meta/master-key"
	nonce := make([]byte, 8)
	_, _ = rand.Read(nonce)
	err := s.Update(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.Exec(ctx, "INSERT INTO meta (name, text) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", "master-key", s.seal.Seal(row, nonce))
		return err
	})
	if err != nil {
		return fmt.Errorf("check the master key: %w", err)
	}
	var sealed string
	if err := s.Row(ctx, []any{&sealed}, "SELECT text FROM meta WHERE name = $1", "master-key"); err != nil {
		return fmt.Errorf("check the master key: %w", err)
	}
	_, err = s.seal.Open(row, sealed)
	return err
}
