package app

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"

	"carillon"
	"carillon/internal/api"
	"carillon/internal/egress"
	"carillon/internal/notify"
	"carillon/internal/whatsapp"
)

// What joins two parts that must not know each other.

// sender tells the queue about a lane's sender; that of a suspended company rests.
func (a *App) sender(ctx context.Context, uid int64) (*carillon.Sender, bool, error) {
	s, err := a.store.Sender(ctx, uid)
	if err != nil {
		return nil, false, err
	}
	c, err := a.store.Company(ctx, s.CompanyID)
	if err != nil {
		return nil, false, err
	}
	return s, !c.Suspended, nil
}

// sandboxReceipts hands the sandbox's receipts on, which are all of one sender.
func (a *App) sandboxReceipts(ctx context.Context, rs []carillon.Receipt) error {
	if len(rs) == 0 {
		return nil
	}
	s, err := a.store.Sender(ctx, rs[0].SenderUID)
	if err != nil {
		return err
	}
	return a.notify.Receive(ctx, s, rs)
}

// pretended places the calls of lines whose provider this version does not speak: by the sandbox, and with a word of
// warning, once a line, for whoever reads the log.
type pretended struct {
	to   notify.Sender
	log  *slog.Logger
	told sync.Map // sender uid
}

// Send implements notify.Sender.
func (p *pretended) Send(ctx context.Context, s *carillon.Sender, m *carillon.Outgoing) carillon.Outcome {
	if _, again := p.told.LoadOrStore(s.UID, true); !again {
		p.log.WarnContext(ctx, "calls of this line are pretended by the sandbox: this version places no real ones",
			"sender", s.UID, "provider", s.Provider)
	}
	return p.to.Send(ctx, s, m)
}

func (a *App) catalogEvent(ctx context.Context, e carillon.TemplateEvent) error {
	return a.catalog.Apply(ctx, []carillon.TemplateEvent{e})
}

func (a *App) release(ctx context.Context, t *carillon.Template) error {
	return a.notify.Release(ctx, t)
}

func (a *App) pauseTemplate(ctx context.Context, t *carillon.Template, reason string) error {
	return a.catalog.Pause(ctx, t.SenderUID, t.ID, reason)
}

// checkMedia tells a file that is at fault from a network that is.
func (a *App) checkMedia(ctx context.Context, format, url string) (rejected bool, err error) {
	kind, ok := egress.KindOf(format)
	if !ok {
		return false, nil
	}
	err = a.media.Check(ctx, kind, url)
	var bad *egress.MediaError
	return errors.As(err, &bad), err
}

// callbacks wires each provider's own reading of its callbacks.
func callbacks() map[string]api.Callback {
	return map[string]api.Callback{"whatsapp": {
		Handshake: whatsapp.Handshake,
		Verify: func(settings json.RawMessage, header http.Header, body []byte) bool {
			return whatsapp.Verify(settings, header.Get("X-Hub-Signature-256"), body)
		},
		Parse: func(body []byte, s *carillon.Sender) (api.CallbackEvents, error) {
			c, err := whatsapp.ParseCallback(body, s.UID)
			if len(c.PhoneNumberIDs) > 0 && !slices.Contains(c.PhoneNumberIDs, whatsapp.PhoneNumberID(s.Settings)) {
				c.Receipts = nil
			}
			return api.CallbackEvents{Receipts: c.Receipts, Templates: c.Templates, Ignored: c.Ignored}, err
		},
	}}
}
