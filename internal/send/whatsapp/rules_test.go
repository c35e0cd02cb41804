package whatsapp

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/send/whatsapp/graphtest"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// verdictCase is a row of the channel's documented table of error codes.
type verdictCase struct {
	codes  []int
	status int
	want   provider.Verdict
	reason carillon.Reason
	after  time.Duration // after the first attempt
	tries  int
}

const (
	exhausted = carillon.ReasonAttemptsExhausted
	refused   = carillon.ReasonProviderRefused
	rejected  = carillon.ReasonTemplateRejected
	limited   = carillon.ReasonChannelLimited
)

func verdictCases() []verdictCase {
	return []verdictCase{
		{[]int{0}, 401, provider.PauseSender, refused, 0, 0},
		{[]int{1}, 400, provider.RetryLater, exhausted, 0, 3},
		{[]int{1}, 500, provider.RetryLater, exhausted, 0, 3},
		{[]int{2}, 503, provider.RetryLater, exhausted, 0, 0},
		{[]int{3, 10, 200, 250, 299}, 403, provider.PauseSender, refused, 0, 0},
		{[]int{4}, 400, provider.RetryLater, exhausted, 2 * time.Minute, 0},
		{[]int{33}, 400, provider.PauseSender, refused, 0, 0},
		{[]int{100}, 400, provider.Refused, refused, 0, 0},
		{[]int{190}, 401, provider.PauseSender, refused, 0, 0},
		{[]int{368}, 403, provider.PauseSender, refused, 0, 0},
		{[]int{80007, 80008}, 400, provider.RetryLater, exhausted, 5 * time.Minute, 0},
		{[]int{130429}, 429, provider.RetryLater, exhausted, time.Second, 0},
		{[]int{130472}, 400, provider.Refused, limited, 0, 0},
		{[]int{130497}, 403, provider.Refused, refused, 0, 0},
		{[]int{131000}, 500, provider.RetryLater, exhausted, 0, 0},
		{[]int{131005}, 403, provider.PauseSender, refused, 0, 0},
		{[]int{131008, 131009}, 400, provider.Refused, refused, 0, 0},
		{[]int{131016}, 500, provider.RetryLater, exhausted, 0, 0},
		{[]int{131016}, 503, provider.RetryLater, exhausted, 0, 0},
		{[]int{131021}, 400, provider.Refused, refused, 0, 0},
		{[]int{131026}, 400, provider.Refused, carillon.ReasonUndeliverable, 0, 0},
		{[]int{131030}, 400, provider.Refused, refused, 0, 0},
		{[]int{131031}, 403, provider.PauseSender, refused, 0, 0},
		{[]int{131037, 131042}, 400, provider.PauseSender, refused, 0, 0},
		{[]int{131045}, 500, provider.PauseSender, refused, 0, 0},
		{[]int{131047}, 400, provider.Refused, provider.ReasonWindowClosed, 0, 0},
		{[]int{131048}, 400, provider.PauseSender, limited, 2 * time.Hour, 0},
		{[]int{131049}, 400, provider.Refused, limited, 0, 0},
		{[]int{131050}, 400, provider.Refused, carillon.ReasonRecipientOptedOut, 0, 0},
		{[]int{131051}, 400, provider.Refused, refused, 0, 0},
		{[]int{131052, 131053}, 400, provider.RetryLater, carillon.ReasonMediaRejected, 0, 2},
		{[]int{131052, 131053}, 500, provider.RetryLater, carillon.ReasonMediaRejected, 0, 2},
		{[]int{131056}, 400, provider.RetryLater, limited, 4 * time.Second, 0},
		{[]int{131056}, 429, provider.RetryLater, limited, 4 * time.Second, 0},
		{[]int{131057}, 500, provider.RetryLater, exhausted, 2 * time.Minute, 0},
		{[]int{131062}, 400, provider.Refused, carillon.ReasonNumberRequired, 0, 0},
		{[]int{131063}, 400, provider.Refused, rejected, 0, 0},
		{[]int{131064}, 400, provider.PauseSender, refused, 0, 0},
		{[]int{132000}, 400, provider.Refused, rejected, 0, 0},
		{[]int{132001}, 404, provider.Refused, rejected, 0, 0},
		{[]int{132005, 132007, 132008, 132012, 132018}, 400, provider.Refused, refused, 0, 0},
		{[]int{132015, 132016}, 400, provider.PauseTemplate, rejected, 0, 0},
		{[]int{132068}, 400, provider.Refused, refused, 0, 0},
		{[]int{132069}, 400, provider.RetryLater, exhausted, time.Hour, 0},
		{[]int{133004}, 503, provider.RetryLater, exhausted, 0, 0},
		{[]int{133000, 133005, 133010, 133015}, 400, provider.PauseSender, refused, 0, 0},
		{[]int{133016}, 400, provider.PauseSender, refused, 72 * time.Hour, 0},
		{[]int{135000, 136025, 137000}, 400, provider.Refused, refused, 0, 0},
		{[]int{131044, 138000, 138006, 138013, 138015, 138017, 138018}, 400, provider.Refused, refused, 0, 0},
		{[]int{138009, 138012}, 400, provider.Refused, limited, 0, 0},
		{[]int{138001, 138999, 139000, 139999, 131200, 131299}, 400, provider.Refused, refused, 0, 0},
		{[]int{2388019, 2388040, 2388047, 2388072, 2388073, 2388293, 2388299}, 400, provider.Refused, refused, 0, 0},
		// Without a row, the status decides.
		{[]int{777777}, 400, provider.Refused, refused, 0, 0},
		{[]int{777777}, 429, provider.RetryLater, exhausted, 0, 3},
		{[]int{777777}, 500, provider.Unknown, carillon.ReasonOutcomeUnknown, 0, 0},
	}
}

func TestEveryErrorCodeHasItsVerdict(t *testing.T) {
	s, sender := graph(t, graphtest.Options{Templates: templates()})
	c := client(t, Options{})
	for _, tc := range verdictCases() {
		for _, code := range tc.codes {
			t.Run(fmt.Sprintf("%d with %d", code, tc.status), func(t *testing.T) {
				s.Fail(1, graphtest.Code(tc.status, code))
				got := c.Send(t.Context(), sender, kinds0())
				if !strings.HasPrefix(got.Detail, fmt.Sprint(code, " ")) || !strings.HasSuffix(got.Detail, "(trace AbCdEf123)") {
					t.Errorf("detail %q", got.Detail)
				}
				got.Detail, got.Fault = "", "" // the class of the fault has its own test
				want := provider.Outcome{Verdict: tc.want, Reason: tc.reason, RetryAfter: tc.after, MaxTries: tc.tries}
				if got != want {
					t.Errorf("got %+v\nwant %+v", got, want)
				}
			})
		}
	}
}

// A rule without a case would be untested.
func TestEveryRuleIsNamedByACase(t *testing.T) {
	for _, r := range rules {
		named := false
		for _, tc := range verdictCases() {
			for _, code := range tc.codes {
				named = named || r.from <= code && code <= r.to
			}
		}
		if !named {
			t.Errorf("no case for %d to %d", r.from, r.to)
		}
	}
}

func TestWaitsGrowWithAttempts(t *testing.T) {
	for _, tc := range []struct {
		wait    func(int) time.Duration
		attempt int
		want    time.Duration
	}{
		{linear, 0, time.Second},
		{linear, 3, 3 * time.Second},
		{linear, 5, 5 * time.Second},
		{linear, 99, 5 * time.Second},
		{fourfold, 0, 4 * time.Second},
		{fourfold, 2, 16 * time.Second},
		{fourfold, 3, 64 * time.Second},
		{fourfold, 99, 1024 * time.Second},
	} {
		if got := tc.wait(tc.attempt); got != tc.want {
			t.Errorf("attempt %d waits %v, want %v", tc.attempt, got, tc.want)
		}
	}
}

func TestTheChannelsOwnWaitIsHonoured(t *testing.T) {
	usage := `{"2000001":[{"type":"messaging","call_count":100,"estimated_time_to_regain_access":7}]}`
	for _, tc := range []struct {
		name   string
		code   int
		header http.Header
		want   time.Duration
	}{
		{"Retry-After", 130429, http.Header{"Retry-After": {"17"}}, 17 * time.Second},
		{"Retry-After with a pause", 131048, http.Header{"Retry-After": {"60"}}, time.Minute},
		{"Retry-After of a week", 130429, http.Header{"Retry-After": {"604800"}}, 24 * time.Hour},
		{"Retry-After that is none", 130429, http.Header{"Retry-After": {"soon"}}, time.Second},
		{"usage", 80007, http.Header{"X-Business-Use-Case-Usage": {usage}}, 7 * time.Minute},
		{"usage of calls, at a code about messages", 130429, http.Header{"X-Business-Use-Case-Usage": {usage}}, time.Second},
		{"Retry-After with a refusal", 131026, http.Header{"Retry-After": {"17"}}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			body := fmt.Appendf(nil, `{"error":{"code":%d}}`, tc.code)
			if got := judge(response{status: 400, header: tc.header, body: body}, 1); got.RetryAfter != tc.want {
				t.Errorf("waits %v, want %v", got.RetryAfter, tc.want)
			}
		})
	}
	date := time.Now().Add(time.Minute).UTC().Format(http.TimeFormat)
	got := judge(response{status: 429, header: http.Header{"Retry-After": {date}}, body: []byte("busy")}, 1)
	if got.Verdict != provider.RetryLater || got.RetryAfter <= 50*time.Second || got.RetryAfter > time.Minute {
		t.Errorf("a date gives %+v", got)
	}
}

func TestJudgeReadsTheAnswer(t *testing.T) {
	for _, tc := range []struct {
		name   string
		status int
		body   string
		want   provider.Outcome
	}{
		{
			"accepted", 200, `{"messages":[{"id":"wamid.1","message_status":"accepted"}]}`,
			provider.Outcome{Verdict: provider.Sent, ProviderID: "wamid.1"},
		},
		{"without a status", 200, `{"messages":[{"id":"wamid.1"}]}`, provider.Outcome{Verdict: provider.Sent, ProviderID: "wamid.1"}},
		{
			"held", 200, `{"messages":[{"id":"wamid.1","message_status":"held_for_quality_assessment"}]}`,
			provider.Outcome{Verdict: provider.Sent, ProviderID: "wamid.1", Detail: "held for quality assessment"},
		},
		{
			"paused", 200, `{"messages":[{"id":"wamid.1","message_status":"paused"}]}`,
			provider.Outcome{Verdict: provider.Sent, ProviderID: "wamid.1", Detail: "held: template paused"},
		},
		{
			"an error with 200", 200, `{"error":{"code":131026}}`,
			provider.Outcome{Verdict: provider.Refused, Reason: carillon.ReasonUndeliverable, Detail: "131026 undeliverable"},
		},
		{
			"an error object of strings", 400, `{"error":{"code":131026,"error_data":"x","error_subcode":"y"}}`,
			provider.Outcome{Verdict: provider.Refused, Reason: carillon.ReasonUndeliverable, Detail: "131026 undeliverable"},
		},
		{
			"a subcode", 400, `{"error":{"code":100,"error_subcode":33,"fbtrace_id":"A b"}}`,
			provider.Outcome{Verdict: provider.Refused, Reason: refused, Detail: "100/33 invalid parameter"},
		},
		{
			"a passing fault without a rule", 500, `{"error":{"code":777777,"is_transient":true}}`,
			provider.Outcome{
				Verdict: provider.RetryLater, Reason: exhausted, MaxTries: 3, Detail: "777777 code without a rule",
				Fault: provider.FaultProvider,
			},
		},
		{"an error without a code", 400, `{"error":{"message":"no"}}`, unknown("response 400 without the channel's JSON")},
		{"no id", 200, `{"messages":[{}]}`, unknown("response 200 without the channel's JSON")},
		{"nothing", 200, ``, unknown("response 200 without the channel's JSON")},
		{"an array", 200, `[]`, unknown("response 200 without the channel's JSON")},
		{"an id with 500", 500, `{"messages":[{"id":"wamid.1"}]}`, unknown("response 500 without the channel's JSON")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := judge(response{status: tc.status, body: []byte(tc.body)}, 1); got != tc.want {
				t.Errorf("got %+v\nwant %+v", got, tc.want)
			}
		})
	}
}

func TestDetailNeverRepeatsTheChannelsText(t *testing.T) {
	got := judge(response{
		status: 401, body: []byte(`{"error":{"code":190,"message":"Malformed access token EAAsecret","error_user_title":"EAAsecret"}}`),
	}, 1)
	if strings.Contains(got.Detail, "EAAsecret") {
		t.Error(got.Detail)
	}
}
