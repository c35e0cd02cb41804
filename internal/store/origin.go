package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"carillon/internal/store/db"
)

// Names of rows of meta. The first two belong to one server, and are not copied to another.
const (
	OriginName = "origin" // server on which the program used this database last, and its timeline
	BackupName = "backup" // time of the last backup
	lostRow    = "lost"   // evidence that this database lost commits
)

// ErrLostCommits means that the database lost commits that it had confirmed, and that nobody has decided about the
// messages that may have been sent since.
var ErrLostCommits = errors.New("this database lost commits that it had confirmed: stop every node, choose the server with the newest " +
	"data, and run `carillon restored mark` before the next start")

// Distrust records evidence that the database lost commits, for later starts, and ends all use of it.
func (s *Store) Distrust(ctx context.Context, evidence string) error {
	_, err := s.DB.Exec(ctx, `INSERT INTO meta (name, value, text) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING`, lostRow,
		db.Millis(time.Now()), evidence)
	s.DB.Health.Distrust(ctx, evidence)
	return errors.Join(ErrLostCommits, db.Wrap(err, "record lost commits"))
}

// Recognize compares the database's server with the one on which the program used this data last, before the program
// starts. A restored dump is marked as restored: messages may have been sent since it was made.
func (s *Store) Recognize(ctx context.Context, log *slog.Logger) error {
	if s.DB.SQLite() {
		return s.Lost(ctx)
	}
	return db.Alone(ctx, s.DB, func(ctx context.Context) error {
		if err := s.Lost(ctx); err != nil {
			return err
		}
		now := s.DB.Health.Origin()
		if now.Data == "" {
			return nil
		}
		data, timeline, err := s.meta(ctx, OriginName)
		switch {
		case err != nil:
			return err
		case data != "" && data != now.Data:
			log.WarnContext(ctx, "this data comes from another database, as a dump does; messages that are due are held")
			if _, err := s.Mark(ctx, time.Now().UTC(), func(int, int) {}); err != nil {
				return fmt.Errorf("mark the database as restored: %w", err)
			}
		case data != "" && timeline > now.Timeline:
			return fmt.Errorf("the database went back: its timeline is %d, and this data has seen %d: bring the newer server back, or, "+
				"if nothing is missing, run `carillon restored accept`", now.Timeline, timeline)
		}
		return s.Adopt(ctx)
	})
}

// Lost returns ErrLostCommits if a node found that the database lost commits.
func (s *Store) Lost(ctx context.Context) error {
	evidence, _, err := s.meta(ctx, lostRow)
	if err == nil && evidence != "" {
		err = fmt.Errorf("%w (%s)", ErrLostCommits, evidence)
	}
	return err
}

// Adopt records the database's server as the origin of its data, if it differs from the one last recorded here.
func (s *Store) Adopt(ctx context.Context) error {
	now := s.DB.Health.Origin()
	if last := s.adopted.Load(); now.Data == "" || last != nil && *last == now {
		return nil
	}
	_, err := s.DB.Exec(ctx, `INSERT INTO meta (name, value, text) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value, text = excluded.text`, OriginName, now.Timeline, now.Data)
	if err == nil {
		s.adopted.Store(&now)
	}
	return db.Wrap(err, "record the database's server")
}

// Trust accepts the database as the continuation of the one that the program used last, with nothing lost. It returns
// ErrLostCommits if there is evidence of the opposite.
func (s *Store) Trust(ctx context.Context) error {
	if err := s.Lost(ctx); err != nil {
		return err
	}
	return s.Adopt(ctx)
}

func (s *Store) meta(ctx context.Context, name string) (text string, value int64, err error) {
	err = s.DB.Row(ctx, []any{&text, &value}, "SELECT text, value FROM meta WHERE name = $1", name)
	return text, value, db.Wrap(db.Ignore(err), "read "+name)
}
