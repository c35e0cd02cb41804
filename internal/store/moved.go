package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"carillon/internal/store/db"
)

// MoveMark is the state of a database that an installation is moved to or from (package move). It is the row MoveMarkName
// of the table meta, as JSON, and is not copied.
type MoveMark struct {
	ID    string    `json:"id"` // of the move: the same in both databases
	State MoveState `json:"state"`
	At    time.Time `json:"at"`
	// Keys are the foreign keys that a target on PostgreSQL gets back at the end.
	Keys []ForeignKey `json:"keys,omitempty"`
}

// ForeignKey is a foreign key of a table, which PostgreSQL describes.
type ForeignKey struct {
	Table      string `json:"table"`
	Name       string `json:"name"`
	Definition string `json:"definition"`
}

// MoveState is the state of one of the two databases of a move.
type MoveState string

// The states. Only a database that is Arrived, or has no mark, can be used.
const (
	MoveCopying MoveState = "copying" // a target that is not complete
	MoveCopied  MoveState = "copied"  // a target that is complete and verified
	MoveArrived MoveState = "arrived" // a target after the move
	MoveMoved   MoveState = "moved"   // a source after the move
)

// MoveMarkName is the row of a MoveMark in the table meta.
const MoveMarkName = "moved"

// ErrMoved means that the installation is in another database since a move.
var ErrMoved = errors.New("this installation was moved")

// ErrMoving means that the database is the target of a move that is not complete.
var ErrMoving = errors.New("this database is the target of a move that is not complete")

// ParseMoveMark reads the text of the mark's row.
func ParseMoveMark(text string) (*MoveMark, error) {
	m := new(MoveMark)
	if err := json.Unmarshal([]byte(text), m); err != nil {
		return nil, fmt.Errorf("read the mark of a move: %w", err)
	}
	return m, nil
}

// refused returns an error for a database that must not be used.
func (m *MoveMark) refused(sqlite bool) error {
	switch {
	case m.State == MoveArrived:
		return nil
	case m.State == MoveMoved && sqlite:
		return fmt.Errorf("%w to PostgreSQL at %s and is not used here any more: start the program with --database-url-file; "+
			"to go back, run `carillon migrate --from-file` (docs/guides/scale.md)", ErrMoved, m.At.Format(time.RFC3339))
	case m.State == MoveMoved:
		return fmt.Errorf("%w to SQLite at %s and is not used here any more: start the program with --data", ErrMoved,
			m.At.Format(time.RFC3339))
	}
	return fmt.Errorf("%w: run `carillon migrate` again, which finishes it or starts over", ErrMoving)
}

// checkMoved refuses a database that is not, or no longer, the installation's.
func (s *Store) checkMoved(ctx context.Context) error {
	var text string
	err := s.DB.Row(ctx, []any{&text}, "SELECT text FROM meta WHERE name = $1", MoveMarkName)
	if err = db.Ignore(err); err != nil || text == "" {
		return db.Wrap(err, "read the mark of a move")
	}
	m, err := ParseMoveMark(text)
	if err != nil {
		return err
	}
	return m.refused(s.DB.SQLite())
}
