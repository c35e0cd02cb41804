package clients

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	"carillon/client"
)

// given are the arguments of an operation.
type given []any

// text returns argument i as a string, or "" if it is missing.
func (g given) text(i int) string {
	if i >= len(g) {
		return ""
	}
	s, _ := g[i].(string)
	return s
}

// as converts argument i to the client's type.
func as[T any](g given, i int) (x T) {
	if i < len(g) {
		text, _ := json.Marshal(g[i])
		_ = json.Unmarshal(text, &x)
	}
	return x
}

func collect[T any](all iter.Seq2[T, error]) (any, error) {
	rows := []T{}
	for row, err := range all {
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// sent returns the result of a send together with the client's own fields.
func sent(a *client.Accepted, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	m := plain(a).(map[string]any)
	m["replayed"], m["success"] = a.Replayed, true
	return m, nil
}

type operation func(ctx context.Context, c *client.Client, g given) (any, error)

// operations returns the client's methods by their names in the table.
func operations() map[string]operation {
	return map[string]operation{
		"send": func(ctx context.Context, c *client.Client, g given) (any, error) {
			m := as[client.Message](g, 0)
			m.IdempotencyKey = g.text(1)
			return sent(c.Send(ctx, m))
		},
		"call": func(ctx context.Context, c *client.Client, g given) (any, error) {
			return sent(c.Call(ctx, as[client.VoiceCall](g, 0)))
		},
		"answer": func(ctx context.Context, c *client.Client, g given) (any, error) {
			m := as[client.Answer](g, 0)
			m.IdempotencyKey = g.text(1)
			return client.AnswersOf(c).Send(ctx, m)
		},
		"answerState": func(ctx context.Context, c *client.Client, g given) (any, error) {
			return client.AnswersOf(c).State(ctx, g.text(0))
		},
		"markRead": func(ctx context.Context, c *client.Client, g given) (any, error) {
			return nil, client.AnswersOf(c).MarkRead(ctx, g.text(0), true)
		},
		"notification": func(ctx context.Context, c *client.Client, g given) (any, error) {
			return c.Notification(ctx, g.text(0))
		},
		"notifications": func(ctx context.Context, c *client.Client, g given) (any, error) {
			return collect(c.Notifications(ctx, as[client.Filter](g, 0)))
		},
		"cancel": func(ctx context.Context, c *client.Client, g given) (any, error) { return c.Cancel(ctx, g.text(0)) },
		"hangUp": func(ctx context.Context, c *client.Client, g given) (any, error) { return c.HangUp(ctx, g.text(0)) },
		"endCall": func(ctx context.Context, c *client.Client, g given) (any, error) {
			_, err := c.HangUp(ctx, g.text(0))
			if errors.Is(err, client.Conflict) { // already over
				err = nil
			}
			return nil, err
		},
		"move": func(ctx context.Context, c *client.Client, g given) (any, error) {
			at, err := c.Move(ctx, g.text(0), g.text(1), g.text(2))
			return map[string]any{"scheduled_time": at}, err
		},
		"callDetails": func(ctx context.Context, c *client.Client, g given) (any, error) {
			return c.CallDetails(ctx, g.text(0))
		},
		"recording": func(ctx context.Context, c *client.Client, g given) (any, error) {
			return recording(ctx, c, g.text(0), g.text(1))
		},
		"upload": func(ctx context.Context, c *client.Client, g given) (any, error) {
			return upload(ctx, c, g.text(0), g.text(1), as[int](g, 2))
		},
		"templates": func(ctx context.Context, c *client.Client, g given) (any, error) {
			return c.Templates().List(ctx, g.text(0))
		},
		"template": func(ctx context.Context, c *client.Client, g given) (any, error) {
			return c.Templates().Get(ctx, g.text(0))
		},
		"findTemplate": func(ctx context.Context, c *client.Client, g given) (any, error) {
			return c.Templates().Find(ctx, g.text(0), g.text(1))
		},
		"createTemplate": func(ctx context.Context, c *client.Client, g given) (any, error) {
			return c.Templates().Create(ctx, g.text(1), as[client.Draft](g, 0))
		},
		"editTemplate": func(ctx context.Context, c *client.Client, g given) (any, error) {
			return c.Templates().Edit(ctx, g.text(0), as[client.Draft](g, 1))
		},
		"submitTemplate": func(ctx context.Context, c *client.Client, g given) (any, error) {
			return c.Templates().Submit(ctx, g.text(0))
		},
		"deleteTemplate": func(ctx context.Context, c *client.Client, g given) (any, error) {
			return nil, c.Templates().Delete(ctx, g.text(0))
		},
		"usage": func(ctx context.Context, c *client.Client, _ given) (any, error) { return c.Usage(ctx) },
		"suppressions": func(ctx context.Context, c *client.Client, _ given) (any, error) {
			return collect(c.Suppressions().List(ctx))
		},
		"suppress": func(ctx context.Context, c *client.Client, g given) (any, error) {
			return c.Suppressions().Add(ctx, g.text(0), g.text(1))
		},
		"unsuppress": func(ctx context.Context, c *client.Client, g given) (any, error) {
			return nil, c.Suppressions().Remove(ctx, g.text(0))
		},
		"me":         func(ctx context.Context, c *client.Client, _ given) (any, error) { return c.Users().Me(ctx) },
		"accessKeys": func(ctx context.Context, c *client.Client, _ given) (any, error) { return c.Users().AccessKeys(ctx) },
		"signOut":    func(ctx context.Context, c *client.Client, _ given) (any, error) { return nil, c.Users().SignOut(ctx) },
		"webhooks": func(ctx context.Context, c *client.Client, _ given) (any, error) {
			return collect(c.Webhooks().List(ctx))
		},
		"addWebhook": func(ctx context.Context, c *client.Client, g given) (any, error) {
			return c.Webhooks().Add(ctx, as[client.Webhook](g, 0))
		},
		"webhook": func(ctx context.Context, c *client.Client, g given) (any, error) {
			return c.Webhooks().Get(ctx, g.text(0))
		},
		"replaceWebhook": func(ctx context.Context, c *client.Client, g given) (any, error) {
			return c.Webhooks().Replace(ctx, g.text(0), as[client.Webhook](g, 1))
		},
		"deleteWebhook": func(ctx context.Context, c *client.Client, g given) (any, error) {
			return nil, c.Webhooks().Delete(ctx, g.text(0))
		},
		"webhookStatus": func(ctx context.Context, c *client.Client, g given) (any, error) {
			return c.Webhooks().Status(ctx, g.text(0))
		},
		"deliveries": func(ctx context.Context, c *client.Client, g given) (any, error) {
			return collect(c.Webhooks().Deliveries(ctx, g.text(0), as[bool](g, 1)))
		},
		"testWebhook": func(ctx context.Context, c *client.Client, g given) (any, error) {
			return c.Webhooks().Test(ctx, g.text(0), g.text(1))
		},
		"rotateSecret": func(ctx context.Context, c *client.Client, g given) (any, error) {
			return c.Webhooks().RotateSecret(ctx, g.text(0), as[int](g, 1))
		},
		"enableWebhook": func(ctx context.Context, c *client.Client, g given) (any, error) {
			return c.Webhooks().Enable(ctx, g.text(0), as[bool](g, 1))
		},
		"replay": func(ctx context.Context, c *client.Client, g given) (any, error) {
			which := as[struct{ Failed bool }](g, 1)
			return c.Webhooks().Replay(ctx, g.text(0), client.Replay{Failed: which.Failed})
		},
		"pullEvents": func(ctx context.Context, c *client.Client, g given) (any, error) {
			return c.Events().Pull(ctx, as[client.Pull](g, 0))
		},
		"firstEvent": func(ctx context.Context, c *client.Client, g given) (any, error) {
			for e, err := range c.Events().Follow(ctx, as[client.Pull](g, 0)) {
				if err != nil {
					return nil, err
				}
				d, err := e.Common()
				if err != nil {
					return nil, err
				}
				if d.NotificationID == g.text(1) {
					return e.Event, nil
				}
			}
			return nil, errors.New("the events ended")
		},
		"verify": func(_ context.Context, _ *client.Client, g given) (any, error) { return verify(g) },
	}
}

// recording downloads a call's recording and compares it with a download without the client.
func recording(ctx context.Context, c *client.Client, id, key string) (any, error) {
	var to bytes.Buffer
	if err := c.Recording(ctx, id, &to); err != nil {
		return nil, err
	}
	want, _, err := load(ctx, c.Base()+client.Prefix+"calls/"+id+"/recording?access_key="+key)
	return map[string]any{
		"type": string(to.Next(4)), "long": to.Len() > 10_000, "same": err == nil && bytes.Equal(to.Bytes(), want[4:]),
	}, err
}

// upload uploads a file with the given beginning and random content, and downloads it from its address.
func upload(ctx context.Context, c *client.Client, name, begin string, size int) (any, error) {
	file := make([]byte, size)
	_, _ = rand.Read(file)
	for i, letter := range []rune(begin) { // each letter of the table is one byte
		file[i] = byte(letter)
	}
	kept, err := c.Upload(ctx, name, bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	_, path, _ := strings.Cut(kept.URL, client.Prefix)
	got, kind, err := load(ctx, c.Base()+client.Prefix+path)
	m := plain(kept).(map[string]any)
	m["same"], m["loaded"] = bytes.Equal(got, file), kind
	return m, err
}

// load downloads an address without the client.
func load(ctx context.Context, address string) (body []byte, kind string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, "", err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err = io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%d %s", resp.StatusCode, body)
	}
	return body, resp.Header.Get("Content-Type"), err
}

// verify signs an event, modifies the request as the table says, and lets the client verify it.
func verify(g given) (any, error) {
	how := as[struct {
		Signed, Secrets []string
		Body, ID        string
		Age, Shift      int64
	}](g, 0)
	const body = `{"id":"evt_1","type":"message.delivered","timestamp":"2026-11-24T09:30:00Z","version":1,"sequence":87,` +
		`"data":{"previous_status":"sent","status":"delivered"}}`
	at := time.Now().Unix() - how.Age
	signatures := []string{}
	for _, secret := range how.Signed {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil {
			return nil, err
		}
		mac := hmac.New(sha256.New, key)
		_, _ = fmt.Fprintf(mac, "evt_1.%d.%s", at, body)
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	h := http.Header{}
	h.Set("webhook-id", "evt_1")
	h.Set("webhook-timestamp", strconv.FormatInt(at+how.Shift, 10))
	h.Set("webhook-signature", strings.Join(signatures, " "))
	received := body
	if how.Body != "" {
		received = how.Body
	}
	if how.ID != "" {
		h.Set("webhook-id", how.ID)
	}
	return client.VerifyWebhook(h, []byte(received), how.Secrets...)
}
