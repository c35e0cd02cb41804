package whatsapp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"carillon"
	"carillon/internal/base/provider"
)

// SendReply posts one reply to the channel, once, and judges the result.
func (c *Client) SendReply(ctx context.Context, s *carillon.Sender, m *provider.Reply) provider.Outcome {
	a, err := c.account(s)
	if err != nil {
		return provider.Outcome{
			Verdict: provider.PauseSender, Reason: carillon.ReasonProviderRefused, Detail: carillon.Shorten(err.Error()),
			Fault: provider.FaultAccount,
		}
	}
	body, err := json.Marshal(replyMessage(m))
	if err != nil {
		return provider.Outcome{Verdict: provider.Refused, Reason: carillon.ReasonProviderRefused, Detail: carillon.Shorten(err.Error())}
	}
	if m.Message != nil && m.Message.Type == provider.MessageCallPermission {
		if refused := c.mayNotAsk(ctx, s, m.To, m.UserID); refused != nil {
			return *refused
		}
	}
	got, err := c.exchange(ctx, a, http.MethodPost, a.messages, body)
	if err != nil {
		return judgeError(err)
	}
	return judge(got, m.Ref.Attempt)
}

// MarkRead reports to the channel that a person's message was read and, if typing is true, that a reply is being written.
func (c *Client) MarkRead(ctx context.Context, s *carillon.Sender, id string, typing bool) error {
	a, err := c.account(s)
	if err != nil {
		return err
	}
	b := map[string]any{"messaging_product": "whatsapp", "status": "read", "message_id": id}
	if typing {
		b["typing_indicator"] = map[string]any{"type": "text"}
	}
	body, err := json.Marshal(b)
	if err != nil {
		return err
	}
	got, err := c.exchange(ctx, a, http.MethodPost, a.messages, body)
	if err != nil {
		return errors.New("mark a message read: no whole response")
	}
	if got.status/100 != 2 {
		return fmt.Errorf("mark a message read: response %d", got.status)
	}
	return nil
}

// errExpired means that the URL of a file has expired, which happens after some minutes.
var errExpired = errors.New("the address of the file has expired")

// File reads a file that a person sent, of at most `most` bytes. Errors: provider.ErrNoFile, provider.ErrFileTooLarge.
// No error contains a URL.
func (c *Client) File(ctx context.Context, s *carillon.Sender, id string, most int64) ([]byte, string, error) {
	a, err := c.account(s)
	if err != nil {
		return nil, "", err
	}
	content, mime, err := c.file(ctx, a, id, most)
	if errors.Is(err, errExpired) {
		content, mime, err = c.file(ctx, a, id, most)
	}
	if errors.Is(err, errExpired) {
		err = provider.ErrNoFile
	}
	return content, mime, err
}

// file looks up a file's URL and reads it. Errors: those of File, and errExpired.
func (c *Client) file(ctx context.Context, a *account, id string, most int64) ([]byte, string, error) {
	u, err := url.Parse(a.address(url.PathEscape(id)))
	if err != nil {
		return nil, "", provider.ErrNoFile
	}
	got, err := c.exchange(ctx, a, http.MethodGet, u, nil)
	if err != nil {
		return nil, "", errors.New("look up a file: no whole response")
	}
	var found struct {
		URL      string `json:"url"`
		MimeType string `json:"mime_type"`
		Size     int64  `json:"file_size"`
	}
	switch {
	case got.status == http.StatusNotFound, got.status == http.StatusBadRequest && noObject(got.body):
		return nil, "", provider.ErrNoFile
	case got.status/100 != 2 || decode(got.body, &found) != nil:
		return nil, "", fmt.Errorf("look up a file: response %d", got.status)
	case found.Size > most:
		return nil, "", provider.ErrFileTooLarge
	}
	return c.download(ctx, a, found.URL, found.MimeType, most)
}

// noObject reports whether the channel does not have the object. Other faults, such as too many requests, are also bad
// requests.
func noObject(body []byte) bool {
	var b graphBody
	return decode(body, &b) == nil && b.Error != nil && b.Error.Code != nil && *b.Error.Code == 100
}

// download reads a file from a URL that the channel returned. The host must belong to the channel, because the request
// carries the access token.
func (c *Client) download(ctx context.Context, a *account, address, mime string, most int64) ([]byte, string, error) {
	u, err := url.Parse(address)
	if err != nil || !ownHost(u, a.messages) {
		return nil, "", errors.New("the channel names a file at a foreign address")
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("Authorization", a.header.Get("Authorization"))
	resp, err := c.to(a).RoundTrip(req)
	if err != nil {
		return nil, "", errors.New("read a file: no whole response")
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end, or abandoned
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusGone:
		return nil, "", errExpired
	default:
		return nil, "", fmt.Errorf("read a file: response %d", resp.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	switch {
	case err != nil:
		return nil, "", errors.New("read a file: no whole response")
	case int64(len(text)) > most:
		return nil, "", provider.ErrFileTooLarge
	}
	return text, mime, nil
}

// fileHosts are the hosts on which the channel stores files, in addition to the API host.
var fileHosts = []string{".whatsapp.net", ".fbcdn.net", ".facebook.com"} //nolint:gochecknoglobals // read-only

func ownHost(u, base *url.URL) bool {
	if u.Scheme == base.Scheme && u.Host == base.Host {
		return true
	}
	if u.Scheme != "https" {
		return false
	}
	for _, h := range fileHosts {
		if strings.HasSuffix("."+u.Hostname(), h) {
			return true
		}
	}
	return false
}
