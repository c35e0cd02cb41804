//go:build measure

package sending_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store/configure"
)

// lineCounter counts the written lines and discards them.
type lineCounter struct {
	http.ResponseWriter
	n atomic.Int64
}

func (w *lineCounter) Write(p []byte) (int, error) {
	for _, c := range p {
		if c == '\n' {
			w.n.Add(1)
		}
	}
	return len(p), nil
}

// TestACampaignOfAMillion measures the pages, reasons and export of campaigns with a million recipients, in
// notifications of one hundred and of one recipient. An export must keep only a part of them in memory. `make measure`
// runs it.
func TestACampaignOfAMillion(t *testing.T) {
	o := newOffice(t)
	for i, name := range []string{"hundreds", "singles"} {
		const total = 1_000_000
		each := []int{100, 1}[i]
		o.million(t, name, total/each, each, time.Now().Add(time.Duration(8*i-48)*time.Hour)) // each newer than the search table
		for more := true; more; {
			var err error
			if more, err = o.Store.Search.Fill(t.Context(), time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		for _, path := range []string{
			"recipients?limit=50", "recipients?limit=50&state=failed", "recipients?limit=50&state=canceled", "reasons?",
		} {
			o.pages(t, name, path)
		}
		runtime.GC()
		var before runtime.MemStats
		runtime.ReadMemStats(&before)
		peak, stop := uint64(0), make(chan struct{})
		watched := make(chan struct{})
		go func() {
			defer close(watched)
			for {
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond):
				}
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc)
			}
		}()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/panel/v1/campaigns/export?name="+name, nil)
		r.Header.Set("Authorization", o.owner)
		w, begin := &lineCounter{ResponseWriter: httptest.NewRecorder()}, time.Now()
		o.Router.ServeHTTP(w, r)
		close(stop)
		<-watched
		grown := (int64(peak) - int64(before.HeapAlloc)) >> 20
		t.Logf("%s: %d lines in %s, %d MiB more at most", name, w.n.Load(), time.Since(begin).Round(time.Millisecond), grown)
		if w.n.Load() != total+1 || grown > 64 {
			t.Errorf("%s: %d lines, %d MiB more", name, w.n.Load(), grown)
		}
	}
}

// million stores the notifications of a campaign, in which some messages failed.
func (o *office) million(t *testing.T, name string, notifications, each int, begin time.Time) {
	t.Helper()
	for from := 0; from < notifications; from += 2000 {
		if err := o.Store.Config.Update(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
			for i := from; i < min(from+2000, notifications); i++ {
				at := begin.Add(time.Duration(i) * 100 * time.Millisecond)
				id := carillon.NewID(at)
				if _, err := tx.Exec(ctx,
					`INSERT INTO notification (seq, id, company_id, channel, sender, template_id, class, campaign, flat, total,
						open, scheduled, created_at, due_at, done_at, notes, body)
					VALUES ($1, $2, $3, 'messaging', $4, '77', 1, $5, FALSE, $6, 0, FALSE, $7, $7, $7, '', '')`,
					int64(carillon.SeqOf(id)), id, o.company.ID, o.sender.UID, name, each, at.UnixMilli()); err != nil {
					return err
				}
				if _, err := tx.Exec(ctx,
					`WITH RECURSIVE s (value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM s
						WHERE value < $5) INSERT INTO message (id, shard, sender, class, number, q, rank, due_at, attempt,
							provider_id, reason, sent_at, delivered_at, ended_at)
					SELECT $1 + value, 0, $2, 1, CAST(34600000000 + $3 + value AS TEXT), 0,
						CASE WHEN ($3 + value) % 50 = 0 THEN 50 ELSE 60 END, $4, 1, 'wamid.x',
							CASE WHEN ($3 + value) % 50 = 0 THEN 'undeliverable' END, $4, $4, $4
					FROM s`, int64(carillon.SeqOf(id).Message(0)), o.sender.UID, i*each, at.UnixMilli(), each-1); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// pages measures the response times of consecutive pages.
func (o *office) pages(t *testing.T, name, path string) {
	t.Helper()
	var took []time.Duration
	rows := 0
	for cursor := ""; len(took) < 100; {
		begin := time.Now()
		page := o.Want("GET", "/panel/v1/campaigns/"+path+"&name="+name+"&cursor="+url.QueryEscape(cursor), o.owner, "", 200, "", "")
		took = append(took, time.Since(begin))
		if data, ok := page["data"].([]any); ok {
			rows += len(data)
		}
		next, more := page["next_cursor"].(string)
		if !more {
			break
		}
		cursor = next
	}
	slices.Sort(took)
	t.Log(
		name, path,
		fmt.Sprintf(
			"%d pages, %d rows, median %s, p99 %s", len(took), rows, took[len(took)/2].Round(time.Millisecond),
			took[len(took)*99/100].Round(time.Millisecond),
		),
	)
}
