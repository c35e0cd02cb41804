// Package messages is the SQL of notifications and their messages: accepting, delivering, receipts, lists and search.
package messages

import (
	"context"
	"log/slog"
	"sync/atomic"

	"carillon"
	"carillon/internal/base/share"
	"carillon/internal/store/db"
	"carillon/internal/store/work"
)

// Options are the dependencies of the tables.
type Options struct {
	DB *db.DB
	// Places in the lock order.
	Close, Delivery, Accept, Receipt db.Place

	IDs        *work.Sequence
	Subscribed func(ctx context.Context, companyID, topic string) bool        // whether events of a topic are written
	Sender     func(ctx context.Context, uid int64) (*carillon.Sender, error) // from the cache
	Followed   func(ctx context.Context, senderUID int64) bool                // whether events of a sender's messages are written
	Touch      func(seq carillon.Seq, err error)                              // called on a new state of recipients
	Lists      *share.Share                                                   // bounds lists, to leave readers to sends
}

// Notifications is the table of notifications. Its methods and those of the other types here are safe for concurrent
// use.
type Notifications struct {
	d          *db.DB
	ids        *work.Sequence
	accepts    *db.Kind[*Accept]
	closes     *db.Kind[closing]
	subscribed func(ctx context.Context, companyID, topic string) bool
	sender     func(ctx context.Context, uid int64) (*carillon.Sender, error)
	touch      func(seq carillon.Seq, err error)
	lists      *share.Share
}

// NewNotifications returns the notifications of a database.
func NewNotifications(o *Options) *Notifications {
	return &Notifications{
		d: o.DB, ids: o.IDs, accepts: acceptKind(o.Accept), closes: closeKind(o.Close), subscribed: o.Subscribed, sender: o.Sender,
		touch: o.Touch, lists: o.Lists,
	}
}

// Messages is the table of messages, for the dispatcher too.
type Messages struct {
	*work.Table
	deliveries *db.Kind[*work.Batch]
	receipts   *db.Kind[[]receipt]
	reconciles *db.Kind[db.Func] // unknown outcomes
	followed   func(ctx context.Context, senderUID int64) bool
	touch      func(seq carillon.Seq, err error)
}

// New returns the messages of a database.
func New(o *Options) *Messages {
	t := &work.Table{DB: o.DB, Name: "message"}
	return &Messages{
		Table: t, deliveries: deliveryKind(t, o.Delivery), receipts: receiptKind(o.Receipt), reconciles: db.Funcs("reconcile", o.Delivery),
		followed: o.Followed, touch: o.Touch,
	}
}

// Search is the table in which notifications are searched by number and campaign.
type Search struct {
	d            *db.DB
	log          *slog.Logger
	unsearchable atomic.Int64 // entries refused by the table
}

// NewSearch returns the search of a database.
func NewSearch(d *db.DB, log *slog.Logger) *Search { return &Search{d: d, log: log} }
