package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// extent is the extent of a full installation and of its load.
type extent struct {
	companies, senders, hooks int // senders and hooks are those of a company
	streams, calls            int
	rate                      float64 // requests a second
}

// whole is the extent of the measurement; -quick takes a tenth.
func (b *bench) whole() extent {
	x := extent{companies: 500, senders: 40, hooks: 4, streams: 2000, calls: 200, rate: 300}
	if b.quick {
		x.companies, x.streams, x.calls, x.rate = x.companies/10, x.streams/10, x.calls/10, x.rate/10
	}
	return x
}

func (x extent) String() string {
	return fmt.Sprintf("%d companies, %d senders, %d webhooks, %d streams, %d calls, %.0f requests a second",
		x.companies, x.companies*x.senders, x.companies*x.hooks, x.streams, x.calls, x.rate)
}

const (
	companiesInFile = 50 // a set-up's file is bounded
	password        = "correct-horse-battery"
)

func fullKey(company int) string   { return fmt.Sprintf("ck_full_%d", company) }
func fullOwner(company int) string { return fmt.Sprintf("owner%d@full.test", company) }
func fullChat(company int) string  { return fmt.Sprintf("2c2d3e4f-5a6b-4c7d-8e9f-%012d", company) }

// setUp writes the set-up of a full installation, and returns its files with commas between them.
func (b *bench) setUp(x extent, provider, receiver string) string {
	var files []string
	var text strings.Builder
	for c := range x.companies {
		if text.Len() == 0 {
			text.WriteString("companies:\n")
		}
		writeCompany(&text, x, c, provider, receiver)
		if c%companiesInFile == companiesInFile-1 || c == x.companies-1 {
			b.seq++
			file := filepath.Join(b.dir, fmt.Sprintf("full%d.yaml", b.seq))
			check(os.WriteFile(file, []byte(text.String()), 0o600))
			files = append(files, file)
			text.Reset()
		}
	}
	return strings.Join(files, ",")
}

func writeCompany(to *strings.Builder, x extent, c int, provider, receiver string) {
	fmt.Fprintf(to, `  - id: 6f0c1d9e-2b7a-4c51-9f0e-%012d
    name: Company %d
    limits: {sends_per_minute: 0, lists_per_minute: 0, daily_recipients: 0, daily_bytes: 0, widget_calls_per_minute: 0}
    keys: [{key: %s}]
    users: [{email: %s, password: %s, role: owner}]
    widgets: [{id: %s, kind: chat, name: Chat, language: es}]
    webhooks:
`, c, c, fullKey(c), fullOwner(c), password, fullChat(c))
	for h := range x.hooks {
		fmt.Fprintf(to, "      - {url: \"http://%s/%d/%d\"}\n", receiver, c, h)
	}
	to.WriteString("    senders:\n")
	for s := range x.senders {
		fmt.Fprintf(to, `      - {id: s%d, number: "1555%07d", channel: messaging, provider: whatsapp, default: %t, media_check: syntax,
         per_recipient_interval: 0s, settings: {base_url: "%s", version: v23.0, phone_number_id: "1000001", waba_id: "2000001",
         access_token: provider-token, app_secret: provider-app-secret, verify_token: provider-verify-token}}
`, s, 5600000+c*x.senders+s, s == 0, provider)
	}
	to.WriteString("    templates:\n")
	for s := range x.senders {
		fmt.Fprintf(to, "      - {sender: s%d, name: order_update, language: es_ES, category: UTILITY, "+
			"body: \"Hola {{1}}, tu pedido {{2}} llega el {{3}}.\", examples: {body: [Ana, A-1, lunes]}}\n", s)
	}
}
