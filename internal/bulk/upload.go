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
	Bytes     int64 // as announced; 0 or less: unknown
	Content   io.Reader
}

const (
	samplesMost  = 5  // rows
	writeBatches = 10 // in a transaction
	fileNameMost = 200
)

// Upload reads a file and makes a job of it. Errors: validation_failed, payload_too_large, limit_exceeded.
func (x *Jobs) Upload(ctx context.Context, f File) (*View, error) {
	counted := &counter{r: f.Content}
	t, err := newTable(counted)
	if err != nil {
		return nil, err
	}
	if f.Bytes <= 0 {
		f.Bytes = FileMost // until it is known
	}
	now := time.Now()
	name := []rune(strings.ToValidUTF8(strings.ReplaceAll(f.Name, "\x00", ""), ""))
	v := &View{
		Job: &bulk.Job{
			ID: carillon.NewID(now), CompanyID: f.CompanyID, Author: f.Author, State: bulk.Uploading, File: string(name[:min(len(name), fileNameMost)]),
			Bytes: f.Bytes, Settings: "{}", Result: "{}", CreatedAt: now, ChangedAt: now,
		},
		Settings: Settings{Delimiter: string(t.Delimiter)},
	}
	if err := x.o.Store.Bulk().Begin(ctx, v.Job, bulk.Room{Bytes: storageOf, Jobs: jobsMost}); err != nil {
		return nil, err
	}
	if err := x.fill(ctx, v, t, counted); err != nil {
		v.State, v.Reason, v.ChangedAt = bulk.Discarded, interrupt, time.Now()
		return nil, errors.Join(err, x.save(context.WithoutCancel(ctx), v))
	}
	return v, nil
}

// fill stores the rows of a file.
func (x *Jobs) fill(ctx context.Context, v *View, t *table, counted *counter) error {
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
				v.Settings.Columns[i].Samples = append(v.Settings.Columns[i].Samples, carillon.Shorten(r.Cells[i]))
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
	v.State, v.Bytes, v.ChangedAt = bulk.Draft, max(counted.n, 1), time.Now()
	return x.save(ctx, v)
}

// counter counts the bytes that are read.
type counter struct {
	r io.Reader
	n int64
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
