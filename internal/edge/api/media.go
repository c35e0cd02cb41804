package api

import (
	"net/http"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/account/limit"
	"carillon/internal/edge/attachment"
	"carillon/internal/edge/httpio"
	"carillon/internal/store/chats"
	"carillon/internal/talk/files"
)

// mediaUpload stores files for headers of notifications.
type mediaUpload struct {
	guard
	limits *limit.Limits
	files  *files.Files
	base   func() string // the installation's public address
}

func (m mediaUpload) routes() []httpio.Route {
	add := m.keyRoute("POST "+prefix+"/media", auth.NotifySend, m.add)
	add.MaxBody = files.MaxBody
	return []httpio.Route{add}
}

// keptMedia is a stored file and the expiry of its address.
type keptMedia struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Type      string `json:"type"`
	Size      int64  `json:"size"`
	URL       string `json:"url"`
	ExpiresAt string `json:"expires_at"`
}

func (m mediaUpload) add(w http.ResponseWriter, r *http.Request, p *auth.Principal) error {
	x, until, err := m.keep(w, r, p)
	if err != nil {
		return err
	}
	return httpio.JSON(w, http.StatusOK, keptMedia{x.ID, x.Name, x.Type, x.Size, x.URL, carillon.FormatTime(until)})
}

// keep stores the file. The channel downloads it from outside, so the installation needs a public address.
func (m mediaUpload) keep(w http.ResponseWriter, r *http.Request, p *auth.Principal) (*chats.File, time.Time, error) {
	base := m.base()
	if !strings.HasPrefix(base, "https://") {
		httpio.LeaveBody(r.Context())
		return nil, time.Time{}, carillon.InConflict("This installation has no public https address; its operator sets --base-url")
	}
	if _, err := m.limits.Allow(r.Context(), "media "+p.KeyID, p.Company.Limits.SendsPerMinute, 1); err != nil {
		httpio.LeaveBody(r.Context())
		return nil, time.Time{}, err
	}
	now := time.Now()
	x, err := attachment.ReceiveMedia(w, r, m.files, files.From{CompanyID: p.Company.ID, SentBy: p.KeyID})
	if err != nil {
		return nil, time.Time{}, err
	}
	return m.files.SignedMedia(r.Context(), p.Company.ID, x, base, now)
}
