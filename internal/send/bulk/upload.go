package bulk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/sheet"
	"carillon/internal/store/messages"
)

// File is an uploaded file.
type File struct {
	CompanyID string
	Author    string // id of the account
	Name      string
	Bytes     int64  // as announced; 0 or less if unknown
	Key       string // idempotency key among the author's uploads; may be empty
	Content   io.Reader
}

// Bounds of an upload.
const (
	MaxFile = 32 << 20 // bytes of a file
	MaxRows = 100_000

	maxSamples   = 5  // rows
	writeBatches = 10 // per transaction
	maxFileName  = 200
)

// Upload reads a file and creates a job from it, or returns the job of an earlier upload with the same key. Errors:
// validation_failed, payload_too_large, limit_exceeded; idempotency_in_progress while the earlier upload is being
// read.
func (x *Jobs) Upload(ctx context.Context, f File) (*View, error) {
	counted := &counter{r: f.Content}
	t, err := sheet.Open(counted)
	if err != nil {
		return nil, err
	}
	if f.Bytes <= 0 {
		f.Bytes = MaxFile // until the size is known
	}
	now := time.Now()
	id, made, err := earlier(ctx, x.o.Store.Bulk, f, now)
	if made != nil || err != nil {
		return made, err
	}
	name := []rune(strings.ToValidUTF8(strings.ReplaceAll(f.Name, "\x00", ""), ""))
	v := &View{
		Job: &messages.Job{
			ID: id, CompanyID: f.CompanyID, Author: f.Author, State: messages.JobUploading,
			File:  string(name[:min(len(name), maxFileName)]),
			Bytes: f.Bytes, Settings: "{}", Result: "{}", CreatedAt: now, ChangedAt: now,
		},
	}
	if t.Delimiter != 0 { // a workbook has none
		v.Settings.Delimiter = string(t.Delimiter)
	}
	if err := x.o.Store.Bulk.Begin(ctx, v.Job, messages.JobRoom{Bytes: storageOf, Jobs: maxJobs}); err != nil {
		return nil, err
	}
	if err := x.fill(ctx, v, t, counted); err != nil {
		v.State, v.Reason, v.ChangedAt = messages.JobDiscarded, interrupt, time.Now()
		return nil, errors.Join(err, x.save(context.WithoutCancel(ctx), v))
	}
	return v, nil
}

// earlier returns the job of an earlier upload with the same key; otherwise nil and the id for a new job.
func earlier(ctx context.Context, jobs *messages.Jobs, f File, now time.Time) (id string, made *View, err error) {
	id = carillon.NewID(now)
	if f.Key == "" {
		return id, nil, nil
	}
	sum := sha256.Sum256([]byte(f.CompanyID + "\x00" + f.Author + "\x00" + f.Key))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80 // a UUIDv8 (RFC 9562, section 5.8)
	h := hex.EncodeToString(sum[:16])
	named := h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
	j, err := jobs.Find(ctx, f.CompanyID, named)
	switch {
	case err != nil:
		return "", nil, err
	case j == nil:
		return named, nil, nil
	case j.State == messages.JobDiscarded:
		return id, nil, nil
	case j.State == messages.JobUploading:
		return "", nil, messages.JobUnderway()
	}
	made, err = viewOf(j)
	return "", made, err
}

// fill stores the rows of a file.
func (x *Jobs) fill(ctx context.Context, v *View, t *sheet.Table, counted *counter) error {
	for _, name := range t.Names {
		v.Settings.Columns = append(v.Settings.Columns, Column{Name: name, Samples: []string{}})
	}
	var batch []cells
	var waiting []string
	written := 0
	flush := func() error {
		err := x.o.Store.Bulk.Append(ctx, v.ID, written, waiting)
		written, waiting = written+len(waiting), waiting[:0]
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
		if v.Total++; v.Total > MaxRows {
			return carillon.Invalid("file", fmt.Sprintf("The file has more than %d rows: divide it", MaxRows))
		}
		if v.Total <= maxSamples {
			for i := range v.Settings.Columns {
				v.Settings.Columns[i].Samples = append(v.Settings.Columns[i].Samples, carillon.Shorten(r.Cells[i]))
			}
		}
		if batch = append(batch, stored(r)); len(batch) == BatchRows {
			waiting, batch = append(waiting, write(batch)), batch[:0]
		}
		if len(waiting) == writeBatches {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if v.Total == 0 {
		return carillon.Invalid("file", "The file has no rows below the names of its columns")
	}
	if len(batch) > 0 {
		waiting = append(waiting, write(batch))
	}
	if len(waiting) > 0 {
		if err := flush(); err != nil {
			return err
		}
	}
	v.Settings.Encoding = t.Encoding()
	v.Settings.mapColumns()
	v.State, v.Bytes, v.ChangedAt = messages.JobDraft, max(counted.n, 1), time.Now()
	return x.save(ctx, v)
}

// counter counts the bytes read.
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
