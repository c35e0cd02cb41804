package store_test

import (
	"errors"
	"testing"
	"time"

	"carillon/internal/store/purge"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/store/messages"
)

func sendingFiles() []sentence {
	return []sentence{
		{"a job is stored with its rows, and of two who change it one is refused", bulkLife},
		{"jobs are listed by company; those are due that nobody works at", bulkList},
		{"a restored database goes on with no job by itself", bulkRestored},
		{"jobs are deleted in steps, those that are being sent are not", bulkGone},
	}
}

// job stores a job of a company in a state, with two batches.
func (r *rig) job(t *testing.T, company string, state messages.JobState) *messages.Job {
	t.Helper()
	r.now = r.now.Add(time.Second)
	j := &messages.Job{
		ID: carillon.NewID(r.now), CompanyID: company, Author: "ana", State: messages.JobUploading, File: "people.csv", Bytes: 100,
		Settings: "{}", Result: "{}",
		CreatedAt: r.now, ChangedAt: r.now,
	}
	if err := r.Bulk.Begin(t.Context(), j, messages.JobRoom{Bytes: 1000, Jobs: 100}); err != nil {
		t.Fatal(err)
	}
	if err := r.Bulk.Append(t.Context(), j.ID, 0, []string{"a", "b"}); err != nil {
		t.Fatal(err)
	}
	j.State, j.Total = state, 200
	if err := r.Bulk.Save(t.Context(), j, messages.JobCheck{N: 0, Good: 99, Faulty: 1, Faults: "[]"},
		messages.JobCheck{N: 1, Good: 100}); err != nil {
		t.Fatal(err)
	}
	return j
}

func bulkLife(t *testing.T, r *rig) {
	s := r.Bulk
	j := r.job(t, ours, messages.JobDraft)
	got, err := s.Find(t.Context(), ours, j.ID)
	if d := cmp.Diff(j, got); d != "" || err != nil {
		t.Error(d, err)
	}
	got.State, got.Owner, got.LeaseUntil, got.Done, got.BegunAt = messages.JobSending, "node", r.now.Add(time.Minute), 1, r.now
	if err := s.Save(t.Context(), got, messages.JobCheck{N: 0, Good: 98, Faulty: 2, Faults: "[1]", NotificationID: "n"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(t.Context(), j, messages.JobCheck{N: 1}); !errors.Is(err, messages.ErrOvertaken) {
		t.Error("what was read before is written:", err)
	}
	checks, err := s.Checks(t.Context(), ours, j.ID, 0, 10)
	want := []messages.JobCheck{{N: 0, Good: 98, Faulty: 2, Faults: "[1]", NotificationID: "n"}, {N: 1, Good: 100}}
	if d := cmp.Diff(want, checks); d != "" || err != nil {
		t.Error(d, err)
	}
	if checks, err := s.Checks(t.Context(), ours, j.ID, 1, 10); len(checks) != 1 || err != nil {
		t.Error(checks, err)
	}
	for n, want := range []string{"a", "b", ""} {
		if text, err := s.Cells(t.Context(), ours, j.ID, n); text != want || err != nil {
			t.Error(n, text, err)
		}
	}
	if j, err := s.Find(t.Context(), theirs, j.ID); j != nil || err != nil {
		t.Error("another company finds it:", j, err)
	}
	if text, err := s.Cells(t.Context(), theirs, j.ID, 0); text != "" || err != nil {
		t.Error("another company reads its rows:", text, err)
	}
	if checks, err := s.Checks(t.Context(), theirs, j.ID, 0, 10); len(checks) > 0 || err != nil {
		t.Error("another company reads its checks:", checks, err)
	}
	if err := s.Begin(t.Context(), &messages.Job{ID: "big", CompanyID: ours, State: messages.JobUploading, Bytes: 901, CreatedAt: r.now},
		messages.JobRoom{Bytes: 1000, Jobs: 100}); !carillon.IsCode(err, carillon.LimitExceeded) {
		t.Error("a file for which there is no room:", err)
	}
	if err := s.Begin(t.Context(), &messages.Job{ID: "many", CompanyID: ours, State: messages.JobUploading, Bytes: 1, CreatedAt: r.now},
		messages.JobRoom{Bytes: 1000, Jobs: 1}); !carillon.IsCode(err, carillon.LimitExceeded) {
		t.Error("a job more than a company may have:", err)
	}
}

func bulkList(t *testing.T, r *rig) {
	s := r.Bulk
	first, second, third := r.job(t, ours, messages.JobDraft), r.job(t, ours, messages.JobChecking), r.job(t, ours, messages.JobSending)
	r.job(t, ours, messages.JobDiscarded)
	r.job(t, ours, messages.JobUploading)
	r.job(t, theirs, messages.JobDone)
	ids := func(all []*messages.Job, err error) (ids []string) {
		if err != nil {
			t.Error(err)
		}
		for _, j := range all {
			ids = append(ids, j.ID)
		}
		return ids
	}
	if d := cmp.Diff([]string{third.ID, second.ID}, ids(s.List(t.Context(), ours, nil, 2))); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{first.ID}, ids(s.List(t.Context(), ours, &messages.JobPage{CreatedAt: second.CreatedAt, ID: second.ID},
		10))); d != "" {
		t.Error(d)
	}
	if got, err := s.Running(t.Context()); err != nil || len(got) != 2 || got[messages.JobChecking] != 1 || got[messages.JobSending] != 1 {
		t.Error("running are", got, err)
	}
	third.LeaseUntil = r.now.Add(time.Minute)
	if err := s.Save(t.Context(), third); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string(nil), ids(s.Due(t.Context(), r.now, 10, []string{second.CompanyID}))); d != "" {
		t.Error("without their company:", d)
	}
	if d := cmp.Diff([]string{second.ID}, ids(s.Due(t.Context(), r.now, 10, nil))); d != "" {
		t.Error(d)
	}
	if err := s.Release(t.Context(), r.now); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{second.ID, third.ID}, ids(s.Due(t.Context(), r.now, 10, nil))); d != "" {
		t.Error(d)
	}
	spoilt, err := s.Find(t.Context(), ours, second.ID)
	if err != nil {
		t.Fatal(err)
	}
	before := *spoilt
	spoilt.Done, spoilt.State = 99, messages.JobDone
	if err := s.Yield(t.Context(), spoilt, r.now.Add(time.Minute), "busy"); err != nil {
		t.Fatal(err)
	}
	before.Rev, before.Owner, before.LeaseUntil, before.Reason = before.Rev+1, "", r.now.Add(time.Minute), "busy"
	after, err := s.Find(t.Context(), ours, second.ID)
	if d := cmp.Diff(&before, after); err != nil || d != "" {
		t.Error("what was not saved is stored:", err, d)
	}
	if err := s.Yield(t.Context(), spoilt, r.now, ""); !errors.Is(err, messages.ErrOvertaken) {
		t.Error("of an earlier revision:", err)
	}
}

func bulkRestored(t *testing.T, r *rig) {
	sending, checking := r.job(t, ours, messages.JobSending), r.job(t, ours, messages.JobChecking)
	draft, checked, paused, done := r.job(t, ours, messages.JobDraft), r.job(t, theirs, messages.JobChecked),
		r.job(t, ours, messages.JobPaused),
		r.job(t, ours, messages.JobDone)
	if _, err := r.Mark(t.Context(), r.now, func(int, int) {}); err != nil {
		t.Fatal(err)
	}
	for j, want := range map[*messages.Job]messages.JobState{
		sending: messages.JobPaused, checking: messages.JobChecking, draft: messages.JobDraft, checked: messages.JobChecked,
		paused: messages.JobPaused, done: messages.JobDone,
	} {
		got, err := r.Bulk.Find(t.Context(), j.CompanyID, j.ID)
		if err != nil || got.State != want || want == messages.JobPaused && got.Reason != "restored" ||
			got.RestoredAt.IsZero() != (want == messages.JobDone) {
			t.Errorf("%s is %+v, %v", j.State, got, err)
		}
	}
}

func bulkGone(t *testing.T, r *rig) {
	sending, old := r.job(t, ours, messages.JobSending), r.job(t, ours, messages.JobDone)
	discarded, broken := r.job(t, theirs, messages.JobDiscarded), r.job(t, theirs, messages.JobUploading)
	drop := func(step func() (purge.Purged, error)) {
		for more := true; more; {
			p, err := step()
			if more = p.More; err != nil {
				t.Fatal(err)
			}
		}
	}
	drop(func() (purge.Purged, error) { return r.Purges.DropGone(t.Context(), r.now.Add(-time.Minute), 20) })
	drop(func() (purge.Purged, error) { return r.Purges.DropBulk(t.Context(), ours, r.now.Add(time.Minute), 20) })
	for j, there := range map[*messages.Job]bool{sending: true, old: false, discarded: false, broken: true} {
		if got, err := r.Bulk.Find(t.Context(), j.CompanyID, j.ID); (got != nil) != there || err != nil {
			t.Errorf("%s is %v, %v", j.State, got, err)
		}
	}
	drop(func() (purge.Purged, error) { return r.Purges.DropGone(t.Context(), r.now.Add(time.Minute), 20) })
	first, err := r.Purges.Next(t.Context(), purge.Jobs, "")
	if first != ours || err != nil {
		t.Error(first, err)
	}
	if next, err := r.Purges.Next(t.Context(), purge.Jobs, ours); next != "" || err != nil {
		t.Error(next, err)
	}
}
