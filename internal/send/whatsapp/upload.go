package whatsapp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/egress"
)

const maxSample = 16 << 20 // bytes of a sample file

// sampleTypes are the types of files that the channel reviews as samples.
func sampleTypes() []string {
	return []string{"image/jpeg", "image/png", "video/mp4", "application/pdf"}
}

// uploadSamples replaces the addresses of sample files by handles of uploads, which the channel requires. An address that
// the channel lists for a sample is one too: an edit must upload its file again.
func (c *Client) uploadSamples(ctx context.Context, a *account, parts []carillon.Component, field string) error {
	for i := range parts {
		p := &parts[i]
		if strings.EqualFold(p.Type, content.TypeHeader) && p.Example != nil && len(p.Example.HeaderHandle) > 0 &&
			isAddress(p.Example.HeaderHandle[0]) {
			handle, err := c.uploadSample(ctx, a, p.Example.HeaderHandle[0], field+".header.example")
			if err != nil {
				return err
			}
			p.Example = &carillon.ComponentExample{HeaderHandle: []string{handle}}
		}
		for k := range p.Cards {
			if err := c.uploadSamples(ctx, a, p.Cards[k].Components, field+".carousel.cards."+strconv.Itoa(k)); err != nil {
				return err
			}
		}
	}
	return nil
}

func isAddress(handle string) bool { return strings.Contains(handle, "://") }

// uploadSample uploads the file at an address, and returns its handle.
func (c *Client) uploadSample(ctx context.Context, a *account, address, field string) (string, error) {
	file, err := c.sample(ctx, address, field)
	if err != nil {
		return "", err
	}
	app, err := c.application(ctx, a)
	if err != nil {
		return "", err
	}
	var session struct {
		ID string `json:"id"`
	}
	query := url.Values{"file_length": {strconv.Itoa(len(file))}, "file_type": {http.DetectContentType(file)}, "file_name": {"sample"}}
	begin := request{method: http.MethodPost, path: app + "/uploads", query: query, body: struct{}{}}
	if err := c.manage(ctx, a, begin, &session); err != nil {
		return "", ofAccount(err)
	}
	if !strings.HasPrefix(session.ID, "upload:") {
		return "", unavailable(errors.New("response to an upload without a session"), 0)
	}
	u, err := url.Parse(a.address(session.ID))
	if err != nil {
		return "", unavailable(fmt.Errorf("session of an upload: %w", err), 0)
	}
	own := *a
	own.header = a.header.Clone()
	own.header.Set("Authorization", "OAuth "+a.accessToken)
	own.header.Set("Content-Type", "application/octet-stream")
	own.header.Set("File_offset", "0")
	got, err := c.exchange(ctx, &own, http.MethodPost, u, file)
	if err != nil {
		return "", unavailable(err, 0)
	}
	var done struct {
		Handle string `json:"h"`
	}
	if err := judgeManagement(got, &done); err != nil {
		return "", ofAccount(err)
	}
	if done.Handle == "" {
		return "", unavailable(errors.New("response to an upload without a handle"), 0)
	}
	return done.Handle, nil
}

// sample downloads a sample file.
func (c *Client) sample(ctx context.Context, address, field string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, carillon.Invalid(field, "header_handle is neither a handle nor a valid address")
	}
	resp, err := c.egress.Do(req)
	var denied *egress.DeniedError
	switch {
	case errors.As(err, &denied):
		return nil, carillon.Invalid(field, "The address of the sample file must be an https address of the public internet")
	case err != nil:
		return nil, carillon.Invalid(field, "The sample file cannot be downloaded from its address")
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end, or abandoned
	file, err := io.ReadAll(io.LimitReader(resp.Body, maxSample+1))
	switch {
	case err != nil || resp.StatusCode != http.StatusOK:
		return nil, carillon.Invalid(field, "The sample file cannot be downloaded from its address")
	case len(file) > maxSample:
		return nil, carillon.Invalid(field, "The sample file has more than 16 MB")
	case !slices.Contains(sampleTypes(), http.DetectContentType(file)):
		return nil, carillon.Invalid(field, "The sample file must be a JPEG, PNG, MP4 or PDF file")
	}
	return file, nil
}

// application returns the id of the token's application, to which files are uploaded. The channel takes the token to
// inspect only in the query, which is sent to the channel alone.
func (c *Client) application(ctx context.Context, a *account) (string, error) {
	var x struct {
		Data struct {
			AppID nodeID `json:"app_id"`
		} `json:"data"`
	}
	err := c.manage(ctx, a, request{method: http.MethodGet, path: "debug_token", query: url.Values{"input_token": {a.accessToken}}}, &x)
	if err != nil {
		return "", ofAccount(err)
	}
	if !idForm.MatchString(string(x.Data.AppID)) {
		return "", unavailable(errors.New("the token names no application"), 0)
	}
	return string(x.Data.AppID), nil
}
