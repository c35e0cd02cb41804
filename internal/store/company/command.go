package company

import (
	"context"
	"fmt"
	"time"
)

// Verb is a command about companies.
type Verb string

// The verbs.
const (
	DoList   Verb = "list"
	DoExport Verb = "export"
	DoImport Verb = "import"
	DoMoved  Verb = "moved"
	DoResume Verb = "resume"
	DoRemove Verb = "remove"
)

// Request is a command about companies, as a running program receives it.
type Request struct {
	Do         Verb          `json:"do"`
	ID         string        `json:"id,omitempty"`
	File       string        `json:"file,omitempty"` // absolute
	Key        string        `json:"key,omitempty"`  // file with the key of an import, absolute
	Code       string        `json:"code,omitempty"`
	Name       string        `json:"name,omitempty"` // confirms a removal
	SourceGone bool          `json:"source_gone,omitempty"`
	Wait       time.Duration `json:"wait,omitempty"` // of an export
}

// Reply is the result of a Request.
type Reply struct {
	Companies []State `json:"companies,omitempty"`
	Done      *Done   `json:"done,omitempty"`
	Code      string  `json:"code,omitempty"`
}

// Do runs a command.
func (m *Mover) Do(ctx context.Context, r Request, report func(Progress)) (reply Reply, err error) {
	if r.Do == DoList {
		reply.Companies, err = m.List(ctx)
		return reply, err
	}
	release, err := m.alone(ctx, maxBusy)
	if err != nil {
		return reply, err
	}
	defer release()
	switch r.Do {
	case DoExport:
		var d Done
		d, err = m.Export(ctx, r.ID, ExportOptions{To: r.File, Wait: r.Wait, Report: report})
		reply.Done = &d
	case DoImport:
		var d Done
		d, err = m.Import(ctx, ImportOptions{From: r.File, Key: r.Key, Report: report})
		reply.Done = &d
	case DoMoved:
		reply.Code, err = m.Finish(ctx, r.ID)
	case DoResume:
		err = m.Resume(ctx, r.ID, r.Code, r.SourceGone)
	case DoRemove:
		err = m.Remove(ctx, r.ID, r.Name, report)
	default:
		err = fmt.Errorf("this version does not know the command %q", r.Do)
	}
	return reply, err
}
