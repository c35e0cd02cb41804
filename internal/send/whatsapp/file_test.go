package whatsapp_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/send/whatsapp"
	"carillon/internal/send/whatsapp/graphtest"
)

// A file is either returned complete, or there is a specific error. No error contains a URL or a secret, and none
// takes longer than the request timeout.
func TestFilesOfPeople(t *testing.T) {
	g, err := graphtest.New(graphtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	patient := whatsapp.New(whatsapp.Options{RequestTimeout: 2 * time.Minute})
	impatient := whatsapp.New(whatsapp.Options{RequestTimeout: 100 * time.Millisecond})
	t.Cleanup(patient.CloseIdleConnections)
	t.Cleanup(impatient.CloseIdleConnections)
	s := &carillon.Sender{ID: "main", Provider: "whatsapp", Settings: g.Settings()}
	data := bytes.Repeat([]byte("x"), 1000)
	some := errors.New("another error")
	for id, x := range map[string]struct {
		file *graphtest.File
		want error
	}{
		"whole":      {&graphtest.File{Data: data}, nil},
		"expires":    {&graphtest.File{Data: data, Expired: 1}, nil},
		"expired":    {&graphtest.File{Data: data, Expired: -1}, provider.ErrNoFile},
		"none":       {nil, provider.ErrNoFile},
		"../message": {nil, provider.ErrNoFile},
		"announced":  {&graphtest.File{Data: data, Size: 1001}, provider.ErrFileTooLarge},
		"larger":     {&graphtest.File{Data: append(data, 'x'), Size: 1}, provider.ErrFileTooLarge},
		"limited":    {&graphtest.File{Data: data, LookUp: 400, LookUps: -1}, some},
		"down":       {&graphtest.File{Data: data, LookUp: 503, LookUps: -1}, some},
		"breaks":     {&graphtest.File{Data: data, Broken: -1}, some},
		"hangs":      {&graphtest.File{Data: data, Hangs: true}, some},
		"foreign":    {&graphtest.File{Data: data, Foreign: "https://media.evil.test/files/media-token"}, some},
		"insecure":   {&graphtest.File{Data: data, Foreign: "http://lookaside.fbcdn.net/files/media-token"}, some},
		"likely":     {&graphtest.File{Data: data, Foreign: "https://evilfbcdn.net/files/media-token"}, some},
		"no address": {&graphtest.File{Data: data, Foreign: ":"}, some},
	} {
		if x.file != nil {
			g.PutFile(id, *x.file)
		}
		c := patient
		if x.file != nil && x.file.Hangs { // the channel never responds
			c = impatient
		}
		got, _, err := c.File(t.Context(), s, id, 1000)
		switch {
		case x.want == nil:
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("%s: %d bytes, %v", id, len(got), err)
			}
			continue
		case err == nil, !errors.Is(x.want, some) && !errors.Is(err, x.want),
			errors.Is(x.want, some) && (errors.Is(err, provider.ErrNoFile) || errors.Is(err, provider.ErrFileTooLarge)):
			t.Errorf("%s: %v, not %v", id, err, x.want)
		case strings.Contains(err.Error(), "token"), strings.Contains(err.Error(), "http"), strings.Contains(err.Error(), "/files"):
			t.Errorf("%s: the error says %v", id, err)
		}
	}
}
