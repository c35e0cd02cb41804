// Package settings is the SQL of the configuration that is read through caches: senders, templates, suppressions.
package settings

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/base/cache"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// Senders is the SQL of senders, which are read through caches. Its methods are safe for concurrent use.
type Senders struct {
	d       *db.DB
	seal    *configure.Sealer
	rosters *cache.Cache[*roster] // by company
	byUID   *cache.Cache[*carillon.Sender]
	named   *configure.Names[[]*carillon.Sender] // by id, and by id or number
	owners  *configure.Names[string]             // companies by number
}

// maxRoster bounds the time to read all of a company's senders.
const maxRoster = 30 * time.Second

// NewSenders returns the store of a database.
func NewSenders(d *db.DB, s *configure.Sealer, c *configure.Configuration) *Senders {
	return &Senders{
		d: d, seal: s, rosters: configure.SlowCache[*roster](c, maxRoster), byUID: configure.Cache[*carillon.Sender](c),
		named: configure.NewNames[[]*carillon.Sender](c), owners: configure.NewNames[string](c),
	}
}

const senderColumns = `uid, company_id, id, number, channel, provider, is_default, per_second, per_recipient, max_concurrent,
	ring_timeout, media_check, unknown_outcome, sealed`

// senderSelect begins the queries for scanSender.
//
//nolint:gochecknoglobals // read-only
var senderSelect = "SELECT " + senderColumns + ", " + configure.KeyOf("sender.company_id") + " FROM sender WHERE "

// SealedSenders are the settings of companies' senders, also those of removed senders.
func SealedSenders() configure.Sealed {
	return configure.Sealed{Table: "sender", Key: []string{"uid"}, Row: func(_ string, key []any) string {
		return "sender/" + fmt.Sprint(key[0])
	}}
}

func senderRow(uid int64) string { return "sender/" + strconv.FormatInt(uid, 10) }

// senderScanner reads rows of senderSelect.
func senderScanner(sealer *configure.Sealer) func(scan db.Scan) (*carillon.Sender, error) {
	return func(scan db.Scan) (*carillon.Sender, error) { return scanSender(scan, sealer) }
}

func scanSender(scan db.Scan, sealer *configure.Sealer) (*carillon.Sender, error) {
	var x carillon.Sender
	var perRecipient, ringTimeout int64
	var unknown, sealed, key string
	err := scan(&x.UID, &x.CompanyID, &x.ID, &x.Number, &x.Channel, &x.Provider, &x.Default, &x.PerSecond, &perRecipient,
		&x.MaxConcurrent, &ringTimeout, &x.MediaCheck, &unknown, &sealed, &key)
	if err != nil {
		return nil, err
	}
	x.PerRecipient = time.Duration(perRecipient) * time.Millisecond
	x.RingTimeout = time.Duration(ringTimeout) * time.Millisecond
	if err := json.Unmarshal([]byte(unknown), &x.Unknown); err != nil {
		return nil, fmt.Errorf("read policy of sender %s: %w", x.ID, err)
	}
	if x.Settings, err = sealer.OpenOf(x.CompanyID, key, senderRow(x.UID), sealed); err != nil {
		return nil, fmt.Errorf("open settings of sender %s: %w", x.ID, err)
	}
	return &x, nil
}

func (s *Senders) senders(ctx context.Context, where string, args ...any) ([]*carillon.Sender, error) {
	return db.Collect(ctx, s.d, "senders", senderScanner(s.seal), senderSelect+where, args...)
}

// roster indexes a company's senders, of which it may have a hundred thousand.
type roster struct {
	all      []*carillon.Sender // oldest first
	byUID    map[int64]*carillon.Sender
	named    map[string][]*carillon.Sender         // by id and by number
	standard map[carillon.Channel]*carillon.Sender // default senders
}

func (s *Senders) roster(ctx context.Context, companyID string) (*roster, error) {
	return s.rosters.Get(ctx, companyID, func(ctx context.Context) (*roster, string, error) {
		clock := s.byUID.Clock()
		all, err := s.senders(ctx, "company_id = $1 AND NOT removed ORDER BY created_at, id", companyID)
		if err != nil {
			return nil, "", err
		}
		r := &roster{
			all: all, byUID: make(map[int64]*carillon.Sender, len(all)), named: make(map[string][]*carillon.Sender, 2*len(all)),
			standard: map[carillon.Channel]*carillon.Sender{},
		}
		for _, x := range all {
			r.byUID[x.UID] = x
			r.named[x.ID] = append(r.named[x.ID], x)
			if x.Number != x.ID {
				r.named[x.Number] = append(r.named[x.Number], x)
			}
			if x.Default {
				r.standard[x.Channel] = x
			}
			s.byUID.Put(configure.UIDKey(x.UID), x, companyID, clock)
		}
		return r, companyID, nil
	})
}

// Senders returns the senders of a company, oldest first, from the cache.
func (s *Senders) Senders(ctx context.Context, companyID string) ([]*carillon.Sender, error) {
	r, err := s.roster(ctx, companyID)
	if err != nil {
		return nil, err
	}
	return r.all, nil
}

// SendersNamed returns the senders of a company with this id or number, oldest first, from the cache.
func (s *Senders) SendersNamed(ctx context.Context, companyID, idOrNumber string) ([]*carillon.Sender, error) {
	r, err := s.roster(ctx, companyID)
	if err != nil {
		return nil, err
	}
	return r.named[idOrNumber], nil
}

// SenderOf returns a company's sender by uid, from the cache; nil if there is none.
func (s *Senders) SenderOf(ctx context.Context, companyID string, uid int64) (*carillon.Sender, error) {
	r, err := s.roster(ctx, companyID)
	if err != nil {
		return nil, err
	}
	return r.byUID[uid], nil
}

// DefaultSender returns the default sender of a company's channel, from the cache; nil if there is none.
func (s *Senders) DefaultSender(ctx context.Context, companyID string, ch carillon.Channel) (*carillon.Sender, error) {
	r, err := s.roster(ctx, companyID)
	if err != nil {
		return nil, err
	}
	return r.standard[ch], nil
}

// Sender returns a sender by uid, even a removed one, from the cache. Errors: not_found.
func (s *Senders) Sender(ctx context.Context, uid int64) (*carillon.Sender, error) {
	return s.byUID.Get(ctx, configure.UIDKey(uid), func(ctx context.Context) (*carillon.Sender, string, error) {
		x, err := db.Find(ctx, s.d, "sender", senderScanner(s.seal), senderSelect+"uid = $1", uid)
		if err != nil {
			return nil, "", err
		}
		if x == nil {
			return nil, "", carillon.Absent("Sender")
		}
		return x, x.CompanyID, nil
	})
}

// SendersByID returns all senders of any company with an id: a callback URL names a sender without its company.
func (s *Senders) SendersByID(ctx context.Context, id string) ([]*carillon.Sender, error) {
	return s.anySenders(ctx, "id "+id, "id = $1 AND NOT removed", id)
}

// LinesByNumber returns all voice lines of any company with a number, oldest first: an incoming call names a number
// without its company.
func (s *Senders) LinesByNumber(ctx context.Context, number string) ([]*carillon.Sender, error) {
	return s.anySenders(ctx, "line "+number, "number = $1 AND channel = 'voice' AND NOT removed", number)
}

// SIPLines returns the lines with a trunk of all companies, from the database: callers ask again when the
// configuration's generation changes.
func (s *Senders) SIPLines(ctx context.Context) ([]*carillon.Sender, error) {
	return s.senders(ctx, "company_id IN (SELECT id FROM company) AND channel = 'voice' AND provider = 'sip' AND NOT removed")
}

// anySenders returns senders of any company, oldest first, from the cache.
func (s *Senders) anySenders(ctx context.Context, name, where, arg string) ([]*carillon.Sender, error) {
	return s.named.Get(ctx, name, func(ctx context.Context) ([]*carillon.Sender, string, error) {
		all, err := s.senders(ctx, where+" ORDER BY created_at, company_id, id", arg) // a few at most
		if err == nil && len(all) == 0 {
			err = sql.ErrNoRows
		}
		return all, "", err
	})
}

// ProvedElsewhere reports whether an id or number belongs to another company: a proved number, or the id of a sender
// declared by the operator. A number that a company merely entered is no proof: it would block another company's
// requests, and reveal who uses a number.
func (s *Senders) ProvedElsewhere(ctx context.Context, companyID, idOrNumber string) (bool, error) {
	all, err := s.anySenders(ctx, "proved "+idOrNumber, `NOT removed
		AND uid IN (SELECT uid FROM sender WHERE id = $1 UNION ALL SELECT uid FROM sender WHERE number = $1)
		AND EXISTS (SELECT 1 FROM number_proof AS p WHERE p.sender = sender.uid AND p.number = sender.number
			AND (p.declared OR p.number = $1))`, idOrNumber)
	return slices.ContainsFunc(all, func(x *carillon.Sender) bool { return x.CompanyID != companyID }), err
}
