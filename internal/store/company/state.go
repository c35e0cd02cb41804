package company

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"carillon/internal/store"
	"carillon/internal/store/audit"
	"carillon/internal/store/configure"
	"carillon/internal/store/db"
)

// Mover moves companies from and to the installation of a store.
type Mover struct {
	store   *store.Store
	program string // version

	commands sync.Mutex // held by a command on SQLite
}

// New returns the moves of an installation; program is the version that files name.
func New(s *store.Store, program string) *Mover { return &Mover{store: s, program: program} }

// Move is the state of a company's move, as in carillon.Company.
type Move string

// The states of a move. At the former installation a company is Moving, Moved and Removing; at the new one Arriving and Arrived.
const (
	Moving   Move = "moving"   // stopped, to be exported
	Moved    Move = "moved"    // given up: in use at another installation
	Removing Move = "removing" // its rows are being deleted
	Arriving Move = "arriving" // its rows are being imported
	Arrived  Move = "arrived"  // imported, and not in use yet
)

// active is shown for a company that is in use here.
const active Move = "active"

// State is the state of a company.
type State struct {
	ID    string     `json:"id"`
	Name  string     `json:"name"`
	State Move       `json:"state"` // active if the company is in use here
	Since *time.Time `json:"since,omitempty"`
}

// List returns the companies of the installation by name.
func (m *Mover) List(ctx context.Context) ([]State, error) {
	return db.Collect(ctx, m.store.DB, "companies", func(scan db.Scan) (s State, err error) {
		var at int64
		if err = scan(&s.ID, &s.Name, &s.State, &at); err != nil {
			return s, err
		}
		if s.State == "" {
			s.State = active
			return s, nil
		}
		since := db.Instant(at).UTC()
		s.Since = &since
		return s, nil
	}, `SELECT c.id, c.name, COALESCE(v.state, ''), COALESCE(v.at, 0) FROM company AS c
		LEFT JOIN company_move AS v ON v.company_id = c.id ORDER BY c.name`)
}

// row is a row of company_move with the name of its company.
type row struct {
	name  string
	state Move
	code  string
}

// errUnknown means that the installation does not have a company.
var errUnknown = errors.New("the installation has no company with this id")

func find(ctx context.Context, q db.Querier, id string) (*row, error) {
	r, err := db.Find(ctx, q, "company", func(scan db.Scan) (*row, error) {
		var r row
		return &r, scan(&r.name, &r.state, &r.code)
	}, `SELECT c.name, COALESCE(v.state, ''), COALESCE(v.code, '') FROM company AS c
		LEFT JOIN company_move AS v ON v.company_id = c.id WHERE c.id = $1`, id)
	if err == nil && r == nil {
		err = fmt.Errorf("%w: %s", errUnknown, id)
	}
	return r, err
}

// put stores the state of a company's move and records the change; the empty state means that the company is in use here.
func put(ctx context.Context, tx *configure.Tx, id string, was *row, state Move, code string) error {
	tx.Changes(id)
	now := time.Now()
	var err error
	if state == "" {
		_, err = tx.Exec(ctx, "DELETE FROM company_move WHERE company_id = $1", id)
	} else {
		_, err = tx.Exec(ctx, `INSERT INTO company_move (company_id, state, at, code) VALUES ($1, $2, $3, $4)
			ON CONFLICT (company_id) DO UPDATE SET state = excluded.state, at = excluded.at, code = excluded.code`,
			id, string(state), db.Millis(now), code)
	}
	if err != nil {
		return err
	}
	shown := func(s Move) map[string]any {
		if s == "" {
			s = active
		}
		return map[string]any{"move": s}
	}
	return audit.Record(ctx, tx.Tx, now, audit.Entry{
		CompanyID: id, Kind: audit.Company, ID: id, Name: was.name, Action: audit.Changed, Before: shown(was.state), After: shown(state),
	})
}

// change changes the state of a company's move, in a transaction.
func (m *Mover) change(ctx context.Context, id string, fn func(ctx context.Context, tx *configure.Tx, r *row) error) error {
	ctx = audit.By(ctx, audit.Author{Origin: audit.Command})
	return m.store.Config.Change(ctx, func(ctx context.Context, tx *configure.Tx) error {
		r, err := find(ctx, tx, id)
		if err != nil {
			return err
		}
		return fn(ctx, tx, r)
	})
}

// stop stops a company, and reports whether it was in use before.
func (m *Mover) stop(ctx context.Context, id string) (stopped bool, code string, err error) {
	err = m.change(ctx, id, func(ctx context.Context, tx *configure.Tx, r *row) error {
		stopped, code = false, r.code
		switch r.state {
		case Moving:
			return nil
		case "":
			stopped, code = true, newCode()
			return put(ctx, tx, id, r, Moving, code)
		case Moved, Removing, Arriving, Arrived:
		}
		return refusal(r.state)
	})
	return stopped, code, db.Wrap(err, "stop the company")
}

// refusal returns an error for a command that the state does not allow.
func refusal(s Move) error {
	switch s {
	case Moved, Removing:
		return errors.New("the company was moved to another installation: `carillon company remove` deletes what is left here")
	case Arriving:
		return errors.New("the import of the company was interrupted: run `carillon company import` again, or `carillon company remove`")
	case Arrived:
		return errors.New("the company was imported and is not in use yet: run `carillon company resume`")
	case Moving:
		return errors.New("the company is being moved: `carillon company moved` gives it up here, `carillon company resume` takes it back")
	}
	return errors.New("the company is in use here: `carillon company export` stops it")
}

const codeBytes = 16

func newCode() string {
	b := make([]byte, codeBytes)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// Resume takes a company into use. One that was imported needs the code that Finish returned at the former installation, which is
// in use at most once then; sourceGone replaces the code if that installation is lost for good.
func (m *Mover) Resume(ctx context.Context, id, code string, sourceGone bool) error {
	err := m.change(ctx, id, func(ctx context.Context, tx *configure.Tx, r *row) error {
		switch r.state {
		case "":
			return errors.New("the company is in use already")
		case Moving:
			return put(ctx, tx, id, r, "", "")
		case Arrived:
			if !sourceGone && subtle.ConstantTimeCompare([]byte(configure.Digest(code)), []byte(r.code)) != 1 {
				return errors.New("the code is not the one that `carillon company moved` printed at the former installation: " +
					"it gives the company up there first, so that never both use it")
			}
			return put(ctx, tx, id, r, "", "")
		case Moved, Removing, Arriving:
		}
		return refusal(r.state)
	})
	return db.Wrap(err, "resume the company")
}

// Finish gives a company up for good and returns the code for its new installation. It may be repeated.
func (m *Mover) Finish(ctx context.Context, id string) (code string, err error) {
	err = m.change(ctx, id, func(ctx context.Context, tx *configure.Tx, r *row) error {
		switch r.state {
		case Moving:
			code = r.code
			return put(ctx, tx, id, r, Moved, r.code)
		case Moved:
			code = r.code
			return nil
		case "", Removing, Arriving, Arrived:
		}
		return refusal(r.state)
	})
	return code, db.Wrap(err, "give the company up")
}
