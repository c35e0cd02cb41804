package sip

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"
)

// invite sends an INVITE, and stores the values that requests within the call need.
func invite(headers ...string) []string {
	b := "INVITE sip:[service]@[remote_ip]:[remote_port] SIP/2.0\r\nVia: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]\r\n" +
		"From: <sip:peer@[local_ip]>;tag=[pid]x[call_number]\r\nTo: <sip:[service]@[remote_ip]>\r\nCall-ID: [call_id]\r\nCSeq: 1 " +
		"INVITE\r\n" +
		"Contact: <sip:peer@[local_ip]:[local_port]>\r\nMax-Forwards: 70\r\n" + strings.Join(append(headers, ""), "\r\n")
	return []string{
		strings.Replace(send(b, true), "<send>", `<send retrans="500">`, 1),
		`<recv response="100" optional="true"/><recv response="180" optional="true"/>`,
		`<recv response="200" rrs="true"><action><ereg regexp=".*" search_in="hdr" header="To:" assign_to="them"/>` +
			`<assignstr assign_to="us" value=" &lt;sip:peer@[local_ip]&gt;"/></action></recv>`,
		acknowledge(1),
	}
}

func TestPeersCall(t *testing.T) {
	t.Parallel()
	const second = time.Millisecond
	const expires = "Session-Expires: 1800;refresher="
	refreshed := []string{recv("INVITE"), within("200 OK", true, expires+"uac"), recv("ACK")}
	bye := []string{pause(300 * second), ask("BYE", 9, false), recv("200")}
	refresh := func(method string, number int) []string {
		return []string{pause(900 * second), ask(method, number, method == "INVITE", "Supported: timer", expires+"uac"), recv("200")}
	}
	info := func(contentType, body string) string {
		return strings.Replace(ask("INFO", 2, false, "Content-Type: "+contentType), "\r\n\r\n", "\r\n\r\n"+body+"\r\n", 1)
	}
	for _, c := range []struct {
		name   string
		steps  [][]string
		least  time.Duration
		by     By
		digits string
	}{
		{
			"with a key by INFO", [][]string{invite(), {info("application/dtmf-relay", "Signal=5\r\nDuration=160"), recv("200")}, bye},
			300 * second, Them, "5",
		},
		{"with a bare key by INFO", [][]string{invite(), {info("application/dtmf", "7"), recv("200")}, bye}, 300 * second, Them, "7"},
		{"with an event by INFO", [][]string{invite(), {info("audio/telephone-event", "10"), recv("200")}, bye}, 300 * second, Them, "*"},
		{"we refresh", [][]string{invite("Supported: timer", expires+"uas"), refreshed, refreshed, bye}, 2000 * second, Them, ""},
		{
			"the peer refreshes", [][]string{
				invite("Supported: timer", expires+"uac"), refresh("UPDATE", 2), refresh("INVITE", 3), {acknowledge(3)}, bye,
			}, 2000 * second, Them, "",
		},
		{"the peer knows no timers", [][]string{invite(expires + "uac"), refreshed, bye}, 1100 * second, Them, ""},
		{
			"the peer has gone", [][]string{
				invite("Supported: timer", expires+"uac"), {recv("BYE"), within("200 OK", false)},
			}, 1700 * second, System, "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			withPeers(t, func(t *testing.T, n Network) {
				calls := make(chan *Call, 1)
				e := engine(t, Options{Network: n, Second: second, OnCall: func(in *Incoming) {
					go func() {
						_ = in.Progress(180, "Ringing")
						call, err := in.Answer(context.Background(), nil)
						if err != nil || in.To != "15555550100" || in.From != "peer" {
							t.Errorf("%s calls %s: %v", in.From, in.To, err)
						}
						calls <- call
					}()
				}})
				s := caller(t, n, e, slices.Concat(c.steps...)...)
				select {
				case call := <-calls:
					begin := time.Now()
					cause := ended(t, call)
					if took := time.Since(begin); cause.By != c.by || n != nil && (took < c.least || took > c.least+200*second) {
						t.Errorf("%+v after %v", cause, took)
					}
					if c.digits != "" && (len(call.Digits()) != 1 || string(<-call.Digits()) != c.digits) {
						t.Error("the key was not heard")
					}
				case <-time.After(hung):
					t.Error("nobody calls")
				}
				s.done()
			})
		})
	}
}
