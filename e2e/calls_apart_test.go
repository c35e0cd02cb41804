package e2e

import (
	"bufio"
	"net/http"
	"strings"
	"sync"
	"testing"

	"carillon/internal/app"
)

// stream is the text received by a screen.
type stream struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *stream) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// follow opens a stream of events from its beginning.
func (c *companies) follow(t *testing.T, path, bearer string) *stream {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", bearer)
	r.Header.Set("Last-Event-ID", "0")
	resp, err := c.bare.Do(r)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	s := &stream{}
	go func() {
		for in := bufio.NewScanner(resp.Body); in.Scan(); {
			s.mu.Lock()
			s.text.WriteString(in.Text() + "\n")
			s.mu.Unlock()
		}
	}()
	return s
}

// A company's screens show its own calls and their conversations, and no others. The same holds for recordings.
func TestCallsAreSeenByTheirCompanyAlone(t *testing.T) {
	for _, engine := range engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := startCompanies(t, engine, app.Options{}, nil)
			const alphaAgent, betaAgent = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa2", "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbb2"
			alpha, beta := "Bearer "+c.signIn(t, "owner@alpha.test", "alpha-horse-battery"),
				"Bearer "+c.signIn(t, "owner@beta.test", "beta-horse-battery")
			paths := []string{"/panel/v1/events", "/panel/v1/inbox/events"}
			var alphas, betas []*stream
			for _, path := range paths {
				alphas, betas = append(alphas, c.follow(t, path, alpha)), append(betas, c.follow(t, path, beta))
			}
			call := func(key, line, agent, number string) string {
				t.Helper()
				id := c.field(t, "notification_id", "POST", withKey("/functions/v1/notify/voice", key),
					`{"contact":{"number":"`+number+`"},"recipient_id":"`+line+
						`","agent_id":"`+agent+`","notification_type":"transactional","campaign_name":"apart"}`)
				until(t, func() bool {
					return c.field(t, "state", "GET", withKey("/functions/v1/calls/"+id, key), "") == "completed"
				})
				return id
			}
			const alphaNumber, betaNumber = "34611220021", "34622330021"
			of := map[string]string{
				"alpha": call("ck_alpha_live", "alpha_line", alphaAgent, alphaNumber),
				"beta":  call("ck_beta_live", "beta_line", betaAgent, betaNumber),
			}
			talk := func(company string) string {
				return c.column(t, "SELECT conversation_id FROM call WHERE number = $1",
					map[string]string{"alpha": alphaNumber, "beta": betaNumber}[company])[0]
			}
			shown := map[string][]string{"alpha": {of["alpha"], talk("alpha")}, "beta": {of["beta"], talk("beta")}}
			for i, path := range paths {
				until(t, func() bool {
					return strings.Contains(alphas[i].all(), shown["alpha"][i]) && strings.Contains(betas[i].all(), shown["beta"][i])
				})
				for _, foreign := range append(shown["alpha"], alphaNumber) {
					if strings.Contains(betas[i].all(), foreign) {
						t.Errorf("%s shows %s, of the other company", path, foreign)
					}
				}
			}
			until(t, func() bool { // the recording is stored after the call's end
				status, _ := c.ask(t, "GET", withKey("/functions/v1/calls/"+of["alpha"]+"/recording", "ck_alpha_live"), "")
				return status == 200
			})
			for _, x := range []struct {
				by, target string
				header     []string
				want       int
			}{
				{"Alpha's key", withKey("/functions/v1/calls/"+of["alpha"]+"/recording", "ck_alpha_live"), nil, 200},
				{"Alpha's owner", "/panel/v1/calls/" + of["alpha"] + "/recording", []string{"Authorization", alpha}, 200},
				{"Beta's key", withKey("/functions/v1/calls/"+of["alpha"]+"/recording", "ck_beta_live"), nil, 404},
				{"Beta's owner", "/panel/v1/calls/" + of["alpha"] + "/recording", []string{"Authorization", beta}, 404},
				{"nobody", "/functions/v1/calls/" + of["alpha"] + "/recording", nil, 401},
				{"nobody", "/panel/v1/calls/" + of["alpha"] + "/recording", nil, 401},
			} {
				if status, text := c.ask(t, "GET", x.target, "", x.header...); status != x.want {
					t.Errorf("%s gets the recording: %d, %.100q", x.by, status, text)
				}
			}
		})
	}
}
