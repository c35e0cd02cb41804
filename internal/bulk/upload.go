package bulk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"carillon"
	"carillon/internal/store/bulk"
)

// File is a file that is uploaded.
type File struct {
	CompanyID string
	Author    string // an account
	Name      string
	Bytes     int64 // as announced
	Content   io.Reader
}

const (
	samplesMost  = 5  // rows
	writeBatches = 10 // in a transaction
	fileNameMost = 200
)

// Upload reads a file and makes a job of it. Errors: validation_failed, payload_too_large, limit_exceeded.
func (x *Jobs) Upload(ctx context.Context, f File) (*View, error) {
	t, err := newTable(f.Content)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	name := []rune(strings.ToValidUTF8(strings.ReplaceAll(f.Name, "\x00", ""), ""))
	v := &View{
		Job: &bulk.Job{
			ID: carillon.NewID(now), CompanyID: f.CompanyID, Author: f.Author, State: bulk.Uploading, File: string(name[:min(len(name), fileNameMost)]),
			Bytes: max(f.Bytes, 1), Settings: "{}", Result: "{}", CreatedAt: now, ChangedAt: now,
		},
		Settings: Settings{Delimiter: string(t.Delimiter)},
	}
	if err := x.o.Store.Bulk().Begin(ctx, v.Job, storageOf); err != nil {
		return nil, err
	}
	if err := x.fill(ctx, v, t); err != nil {
		v.State, v.Reason, v.ChangedAt = bulk.Discarded, interrupt, time.Now()
		return nil, errors.Join(err, x.save(context.WithoutCancel(ctx), v))
	}
	return v, nil
}

// fill stores the rows of a file.
func (x *Jobs) fill(ctx context.Context, v *View, t *table) error {
	for _, name := range t.Names {
		v.Settings.Columns = append(v.Settings.Columns, Column{Name: name, Samples: []string{}})
	}
	var batch []cells
	var waiting []string
	stored := 0
	flush := func() error {
		err := x.o.Store.Bulk().Append(ctx, v.ID, stored, waiting)
		stored, waiting = stored+len(waiting), waiting[:0]
		return err
	}
	for {
		r, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if v.Total++; v.Total > RowsMost {
			return refused(fmt.Sprintf("The file has more than %d rows: divide it", RowsMost))
		}
		if v.Total <= samplesMost {
			for i := range v.Settings.Columns {
				v.Settings.Columns[i].Samples = append(v.Settings.Columns[i].Samples, r.Cells[i])
			}
		}
		if batch = append(batch, r.stored()); len(batch) == BatchRows {
			waiting, batch = append(waiting, write(batch)), batch[:0]
		}
		if len(waiting) == writeBatches {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if v.Total == 0 {
		return refused("The file has no rows below the names of its columns")
	}
	if len(batch) > 0 {
		waiting = append(waiting, write(batch))
	}
	if len(waiting) > 0 {
		if err := flush(); err != nil {
			return err
		}
	}
	v.Settings.Encoding = t.decoder.enc
	v.Settings.mapColumns()
	v.State, v.ChangedAt = bulk.Draft, time.Now()
	return x.save(ctx, v)
}
