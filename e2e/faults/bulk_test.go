package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"
)

// bulkSite is a site with a person who sends to the recipients of a file.
type bulkSite struct {
	*flowSite
	token string
}

// ask sends a panel request to the nodes in turn until one responds.
func (s *bulkSite) ask(method, path, contentType string, body []byte) map[string]any {
	s.t.Helper()
	var last error
	for i := 0; i < 400 && s.t.Context().Err() == nil; i++ {
		r, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.nodes[i%len(s.nodes)].addr+path, bytes.NewReader(body))
		if err != nil {
			s.t.Fatal(err)
		}
		r.Header.Set("Content-Type", contentType)
		if s.token != "" {
			r.Header.Set("Authorization", "Bearer "+s.token)
		}
		got := map[string]any{}
		x, err := http.DefaultClient.Do(r)
		if err == nil {
			text, readErr := io.ReadAll(x.Body)
			err = errors.Join(readErr, x.Body.Close(), json.Unmarshal(text, &got))
			if err == nil && x.StatusCode >= 400 && x.StatusCode < 500 {
				s.t.Fatalf("%s %s: %s", method, path, text)
			}
			if err == nil && x.StatusCode < 300 {
				return got
			}
		}
		last = err
		time.Sleep(50 * time.Millisecond)
	}
	s.t.Fatalf("%s %s: no node responds: %v", method, path, last)
	return nil
}

const jsonType = "application/json"

// job uploads a file with that many rows and starts its check.
func (s *bulkSite) job(rows int) (path string) {
	s.t.Helper()
	s.token, _ = s.ask("POST", "/functions/v1/auth?grant_type=password", jsonType,
		fmt.Appendf(nil, `{"email":%q,"password":%q}`, operator, password))["access_token"].(string)
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "people.csv")
	if err != nil {
		s.t.Fatal(err)
	}
	fmt.Fprintln(part, "phone,name")
	for i := range rows {
		fmt.Fprintf(part, "3460%07d,Ana\n", i)
	}
	if err := form.Close(); err != nil {
		s.t.Fatal(err)
	}
	id, _ := s.ask("POST", "/panel/v1/send/jobs", form.FormDataContentType(), body.Bytes())["id"].(string)
	path = "/panel/v1/send/jobs/" + id
	s.ask("PATCH", path, jsonType, []byte(`{"version":0,"template":"plain","language":"en","sender":"main","campaign":"bulk",`+
		`"type":"utility","fields":{"name":1}}`))
	s.ask("POST", path+"/check", jsonType, nil)
	s.until(path, "checked")
	return path
}

func (s *bulkSite) until(path, state string) map[string]any {
	s.t.Helper()
	var got map[string]any
	if !await(s.t.Context(), 2*time.Minute, func() bool { got = s.ask("GET", path, jsonType, nil); return got["state"] == state }) {
		s.t.Fatalf("the job is %v, not %s", got, state)
	}
	return got
}

// Nodes are killed at random while a file is sent. The remaining ones send to all remaining recipients, and to none
// twice.
func TestFaultsAFileIsSentOverKills(t *testing.T) {
	long(t)
	for engine, nodes := range map[string]int{"sqlite": 1, "postgres": 2} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			s := &bulkSite{flowSite: newFlowSite(t, engine, nodes)}
			const rows, kills = 20_000, 10
			path := s.job(rows)
			s.ask("POST", path+"/send", jsonType, fmt.Appendf(nil, `{"recipients":%d}`, rows))
			d := newDice(t, "bulk "+engine)
			for range kills {
				time.Sleep(time.Duration(20+d.IntN(250)) * time.Millisecond)
				n := s.nodes[d.IntN(nodes)]
				n.kill()
				n.start()
			}
			result, _ := s.until(path, "done")["result"].(map[string]any)
			if result["accepted"] != float64(rows) {
				t.Errorf("the job says %v", result)
			}
			for _, n := range s.nodes {
				n.stop(hung)
			}
			var all, numbers, skipped int
			if err := s.db.QueryRow("SELECT COUNT(*), COUNT(DISTINCT number), SUM(CASE WHEN reason = 'duplicate' THEN 1 ELSE 0 END) "+
				"FROM message").Scan(&all, &numbers, &skipped); err != nil {
				t.Fatal(err)
			}
			if all != rows || numbers != rows || skipped != 0 {
				t.Errorf("%d messages to %d numbers, of which %d repeat another: want %d", all, numbers, skipped, rows)
			}
			twice := 0
			for ref, posts := range s.graph.All() {
				accepted := 0
				for _, p := range posts {
					if p.Accepted && !strings.HasPrefix(ref, "reply.") {
						accepted++
					}
				}
				if accepted > 1 {
					twice++
				}
			}
			t.Logf("%d rows over %d kills; %d attempts repeated at the channel", rows, kills, twice)
			if twice > 0 {
				t.Errorf("%d attempts were posted twice", twice)
			}
		})
	}
}
