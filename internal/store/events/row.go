package events

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"carillon/internal/store/db"
)

// Most events share a commit with many others of their topic, and a row for each would cost more than the rest of the
// event. So a row holds several, at most maxRow, which is also about the number read at a time.
const (
	maxRow   = 100
	rowBytes = 64 << 10
)

// row is a row of the table. seq belongs to its last event; the kind and the subject of several events are in the
// payload.
type row struct {
	seq, events            int64
	kind, subject, payload string
	at                     int64 // of the latest event
}

// packed is one of several events in the payload of a row.
type packed struct {
	Kind    string          `json:"k"`
	Subject string          `json:"s"`
	At      int64           `json:"at"`
	Payload json.RawMessage `json:"p"`
}

// rowsOf packs events of a topic. The seq of a row is the position of its last event among them, from 1.
func rowsOf(events []*Event) (rows []row) {
	for n := 0; n < len(events); {
		r := row{}
		bytes := 0
		first := n
		for n < len(events) && n-first < maxRow && (n == first || bytes+len(events[n].Payload) <= rowBytes) {
			bytes += len(events[n].Payload)
			r.at = max(r.at, db.Millis(events[n].At))
			n++
		}
		r.seq, r.events = int64(n), int64(n-first)
		if r.events == 1 {
			e := events[first]
			r.kind, r.subject, r.payload = e.Kind, db.Storable(e.Subject), db.Storable(string(e.Payload))
		} else {
			r.payload = pack(events[first:n], bytes)
		}
		rows = append(rows, r)
	}
	return rows
}

// pack writes the payload of several events. Their own payloads are already JSON, and not parsed again.
func pack(events []*Event, bytes int) string {
	b := make([]byte, 0, bytes+120*len(events))
	for i, e := range events {
		b = append(b, "[,"[min(i, 1)])
		b = append(b, `{"k":`...)
		b = appendText(b, e.Kind)
		b = append(b, `,"s":`...)
		b = appendText(b, db.Storable(e.Subject))
		b = append(b, `,"at":`...)
		b = strconv.AppendInt(b, db.Millis(e.At), 10)
		b = append(b, `,"p":`...)
		if len(e.Payload) == 0 {
			b = append(b, "null"...)
		}
		b = append(b, e.Payload...)
		b = append(b, '}')
	}
	return string(append(b, ']'))
}

// unpack returns the events of a row.
func (r *row) unpack(companyID, topic string) ([]Event, error) {
	if r.events == 1 {
		return []Event{{
			CompanyID: companyID, Topic: topic, Seq: r.seq, Kind: r.kind, Subject: r.subject, Payload: json.RawMessage(r.payload),
			At: db.Instant(r.at),
		}}, nil
	}
	var all []packed
	if err := json.Unmarshal([]byte(r.payload), &all); err != nil {
		return nil, fmt.Errorf("read the events until %s/%d: %w", topic, r.seq, err)
	}
	if int64(len(all)) != r.events {
		return nil, fmt.Errorf("read the events until %s/%d: there are %d, not %d", topic, r.seq, len(all), r.events)
	}
	events := make([]Event, len(all))
	for i, e := range all {
		events[i] = Event{
			CompanyID: companyID, Topic: topic, Seq: r.seq - int64(len(all)-1-i), Kind: e.Kind, Subject: e.Subject,
			Payload: e.Payload, At: db.Instant(e.At),
		}
	}
	return events, nil
}

// read returns the events of the rows that match a condition, with the company and the topic as the first parameters.
func read(ctx context.Context, q db.Querier, companyID, topic, where string, args ...any) (events []Event, err error) {
	err = db.Each(ctx, q, func(scan db.Scan) error {
		var r row
		if err := scan(&r.seq, &r.events, &r.kind, &r.subject, &r.payload, &r.at); err != nil {
			return err
		}
		more, err := r.unpack(companyID, topic)
		events = append(events, more...)
		return err
	}, "SELECT seq, events, kind, subject, payload, created_at FROM event WHERE company_id = $1 AND topic = $2 AND "+where,
		append([]any{companyID, topic}, args...)...)
	return events, db.Wrap(err, "read events")
}

// After returns at most `most` events of a topic after seq, in order.
func After(ctx context.Context, q db.Querier, companyID, topic string, seq int64, most int) (events []Event, err error) {
	for len(events) < most {
		more, err := read(ctx, q, companyID, topic,
			"seq > $3 AND seq < "+beforeFirst+" + $5 AND seq - events < "+beforeFirst+" + $4 ORDER BY seq",
			seq, most-len(events), most-len(events)+maxRow+1)
		if err != nil {
			return nil, err
		}
		if len(more) == 0 {
			break
		}
		for more[0].Seq <= seq { // already read from the same row
			more = more[1:]
		}
		events = append(events, more...)
		seq = events[len(events)-1].Seq
	}
	return events[:min(most, len(events))], nil
}

// beforeFirst is the number before the first event of the next row after $3. Numbers may be missing before a row, and
// rarely between rows.
const beforeFirst = "(SELECT r.seq - r.events FROM event AS r WHERE r.company_id = $1 AND r.topic = $2 AND r.seq > $3 ORDER BY " +
	"r.seq LIMIT 1)"

// containing is the condition of the rows that may have the events whose numbers are in $3.
func containing(d *db.DB) string {
	return `seq IN (SELECT (SELECT MIN(r.seq) FROM event AS r
		WHERE r.company_id = $1 AND r.topic = $2 AND r.seq >= CAST(value AS BIGINT)) FROM ` + d.Elements(3) + ")"
}

// At returns a topic's events with the given numbers that are still stored, by number.
func At(ctx context.Context, d *db.DB, companyID, topic string, seqs []int64) (map[int64]Event, error) {
	found, err := read(ctx, d, companyID, topic, containing(d), db.JSON(seqs))
	if err != nil {
		return nil, err
	}
	wanted := make(map[int64]bool, len(seqs))
	for _, seq := range seqs {
		wanted[seq] = true
	}
	all := make(map[int64]Event, len(seqs))
	for i := range found {
		if e := &found[i]; wanted[e.Seq] {
			all[e.Seq] = *e
		}
	}
	return all, nil
}
