package app_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"carillon/internal/app"
	"carillon/internal/send/whatsapp/graphtest"
)

// A person's data from many uses of the program is in the export, and after an erasure in no byte of the stored data.
func TestAnErasedPersonLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			p := startReplies(t, engine)
			const dialled, reported = "525512345601", "5215512345601"
			marks := []string{dialled, reported, "Zorbina", "Quimbly", "zebracrossing", "xylophone", "kumquat", "marmalade", "walrus"}
			attempts := p.hooked()
			p.livesThrough(dialled, reported)
			bob := p.another("34600111333")
			bob.text("Bobs own words")
			app.Within(t, "Bob's words are taken", func() bool { return slices.Contains(bob.inbox(), "> Bobs own words") })
			bob.group("wamid.b", "Bobs words in a group")
			app.Within(t, "all deliveries are made", func() bool { return attempts() >= 8 })

			archive := p.archive(`{"number":"` + dialled + `"}`)
			for _, mark := range marks {
				if !strings.Contains(archive, mark) {
					t.Errorf("the archive lacks %s", mark)
				}
			}
			if strings.Contains(archive, "Bobs") || strings.Contains(archive, bob.number) {
				t.Error("the archive has something of somebody else")
			}
			p.erase(`{"number":"` + dialled + `"}`)
			stored := p.stored()
			for _, mark := range marks {
				if i := strings.Index(stored, mark); i >= 0 {
					t.Errorf("%s is still stored: …%q…", mark, stored[max(0, i-200):min(len(stored), i+100)])
				}
			}
			for _, mark := range []string{"Bobs own words", "Bobs words in a group", bob.number} {
				if !strings.Contains(stored, mark) {
					t.Errorf("%s is gone too", mark)
				}
			}

			// The person is now a stranger and may write again.
			p.number = reported
			p.text("menu")
			app.Within(t, "the person is answered", func() bool { return strings.Contains(strings.Join(p.gets(), "\n"), "What?") })
		})
	}
}

// livesThrough sends the person a message and a call and lets them write in many ways, until all work is done.
func (p *person) livesThrough(dialled, reported string) {
	p.t.Helper()
	p.number = dialled
	id := p.send("notify",
		fmt.Sprintf(
			`{"contact":{"number":%q,"first_name":"Zorbina","order":"A-7"},"recipient_id":"main","name_template":"plain",
				"language_template":"en",
		"notification_type":"utility","campaign_name":"c","name_event":"order-shipped",
			"components_push":{"body_text_0":"marmalade"}}`, dialled))
	if got := p.state(id); !strings.HasPrefix(got, "sent") && !strings.HasPrefix(got, "delivered") && !strings.HasPrefix(got, "read") {
		p.t.Fatal("the message is ", got)
	}
	later := fmt.Sprintf(
		`{"contact":{"number":%q,"first_name":"Zorbina"},"recipient_id":"main","name_template":"plain","language_template":"en",
			"datetime_sending":"2098-01-01T10:00:00",
		"timezone":"UTC","notification_type":"utility","campaign_name":"c","components_push":{"body_text_0":"walrus"}}`, dialled)
	p.send("notify", later)
	refused, err := http.Post(p.base+"/functions/v1/notify?access_key=ck_channel_test", "application/json",
		strings.NewReader(strings.Replace(later, "plain", "no_such_template", 1)))
	if err != nil || refused.StatusCode < 400 {
		p.t.Fatal(refused, err)
	}
	_ = refused.Body.Close()
	p.number = reported
	p.graph.PutFile("png", graphtest.File{Type: "image/png", Data: []byte("\x89PNG\r\n\x1a\nkumquat")})
	say := func(id, members string) { p.says("Zorbina Quimbly", "wamid.z."+id, members) }
	say("text", `{"type":"text","text":{"body":"A zebracrossing, please"}}`)
	say("file", `{"type":"image","image":{"id":"png","mime_type":"image/png","caption":"xylophone"}}`)
	say("group", `{"type":"text","text":{"body":"xylophone to all"},"group_id":"g"}`)
	say("photo", `{"type":"image","image":{"id":"png","mime_type":"image/png","caption":"kumquat"},"group_id":"g"}`)
	hasGot := func(text string) func() bool {
		return func() bool { return strings.Contains(strings.Join(p.gets(), "\n"), text) }
	}
	app.Within(p.t, "the person is asked", hasGot("¿recibió su pedido"))
	say("yes", `{"type":"text","text":{"body":"sí"}}`)
	app.Within(p.t, "the flow ends", hasGot("Hasta luego"))
	say("reach", `{"type":"text","text":{"body":"reach"}}`)
	app.Within(p.t, "the flow has placed its call", hasGot("done "))
	var conversation string
	app.Within(p.t, "there is a conversation", func() bool {
		for _, x := range p.office("GET", "/conversations?limit=100&search=Zorbina", "", http.StatusOK)["data"].([]any) {
			conversation, _ = x.(map[string]any)["id"].(string)
		}
		return conversation != ""
	})
	p.office("POST", "/conversations/"+conversation+"/notes", `{"client_id":"n","text":"Zorbina called from `+dialled+`"}`, http.StatusOK)
	say("stop", `{"type":"text","text":{"body":"STOP"}}`)
	app.Within(p.t, "the person is suppressed", func() bool { return p.suppressed()[dialled] || p.suppressed()[reported] })
	app.Within(p.t, "the files are stored", func() bool { return strings.Contains(p.stored(), "kumquat") })
	app.Within(p.t, "all calls are over", func() bool {
		for _, x := range p.office("GET", "/calls", "", http.StatusOK)["data"].([]any) {
			if state := x.(map[string]any)["state"]; state != "completed" && state != "failed" {
				return false
			}
		}
		return true
	})
}

// says delivers a message of the person, with their name on the channel.
func (p *person) says(name, id, members string) {
	p.t.Helper()
	w := graphtest.Written{
		Sample: &graphtest.Sample{Members: members}, By: graphtest.Author{Number: p.number, Name: name}, ID: id, At: time.Now(),
	}
	body, err := graphtest.WrittenBody("1000001", "", &w)
	if err != nil {
		p.t.Fatal(err)
	}
	p.graph.Wrote(p.number, id, w.At)
	app.Within(p.t, "a callback is taken", func() bool {
		status, err := p.graph.Deliver(p.t.Context(), p.base+"/callbacks/whatsapp/main", body)
		return status == http.StatusOK && err == nil
	})
}

func (p *person) group(id, text string) {
	p.t.Helper()
	p.says("Bob", id, fmt.Sprintf(`{"type":"text","text":{"body":%q},"group_id":"g"}`, text))
}

// hooked sends all events to an endpoint that accepts them, and counts the deliveries.
func (p *person) hooked() (attempts func() int) {
	p.t.Helper()
	done := make(chan struct{}, 1000)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		done <- struct{}{}
	}))
	p.t.Cleanup(server.Close)
	p.office("POST", "/webhooks", `{"url":"`+server.URL+`/hook","events":["*"]}`, http.StatusCreated)
	return func() int { return len(done) }
}

// personal sends a request about a person's data.
func (p *person) personal(path, body string) []byte {
	p.t.Helper()
	resp, err := http.Post(p.base+"/functions/v1/people"+path+"?access_key=ck_channel_test", "application/json", strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		p.t.Fatalf("%s: %d %s %v", path, resp.StatusCode, b, err)
	}
	return b
}

// archive returns the text of all files of an export.
func (p *person) archive(who string) string {
	p.t.Helper()
	b := p.personal("/export", who)
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		p.t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			p.t.Fatal(err)
		}
		all.WriteString(f.Name + "\n")
		if _, err := io.Copy(&all, r); err != nil {
			p.t.Fatal(err)
		}
	}
	return all.String()
}

// erase erases a person once no work is in progress.
func (p *person) erase(who string) {
	p.t.Helper()
	app.Within(p.t, "nothing is under way", func() bool {
		resp, err := http.Post(p.base+"/functions/v1/people/erase?access_key=ck_channel_test", "application/json", strings.NewReader(who))
		if err != nil {
			p.t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusConflict {
			p.t.Fatalf("%d %s", resp.StatusCode, b)
		}
		return resp.StatusCode == http.StatusOK
	})
}

// stored returns every byte of the data folder, and with PostgreSQL every row.
func (p *person) stored() string {
	p.t.Helper()
	var all bytes.Buffer
	err := filepath.WalkDir(p.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		all.Write(b)
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	if p.database == "" {
		return all.String()
	}
	conn, err := pgx.Connect(p.t.Context(), p.database)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	rows, err := conn.Query(p.t.Context(), "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()")
	if err != nil {
		p.t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		p.t.Fatal(err)
	}
	for _, name := range names {
		text := "x::text"
		if name == "file_part" {
			text = "encode(bytes, 'escape')"
		}
		rows, err := conn.Query(p.t.Context(), "SELECT "+text+" FROM "+name+" AS x")
		if err != nil {
			p.t.Fatal(err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			p.t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s: %s\n", name, strings.Join(lines, "\n"))
	}
	return all.String()
}
