package whatsapp

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"testing"

	"carillon"
	"carillon/internal/base/egress"
	"carillon/internal/send/whatsapp/graphtest"
)

// samplesAt serves sample files.
func samplesAt(t *testing.T) string {
	t.Helper()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/tour.png":
			_, _ = w.Write(picture.Bytes())
		case "/doc.pdf":
			_, _ = w.Write([]byte("%PDF-1.7\n"))
		case "/page":
			_, _ = w.Write([]byte("<!doctype html><p>Hello"))
		case "/long":
			_, _ = w.Write(append(picture.Bytes(), make([]byte, maxSample)...))
		default:
			w.WriteHeader(http.StatusGone)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// withSamples returns a template of a kind with the addresses of its sample files.
func withSamples(t *testing.T, name, address string) carillon.Template {
	t.Helper()
	all := slices.Concat(kinds(), newerKinds())
	tpl := all[slices.IndexFunc(all, func(k kind) bool { return k.template.Name == name })].template
	var replace func(parts []carillon.Component) []carillon.Component
	replace = func(parts []carillon.Component) []carillon.Component {
		out := slices.Clone(parts)
		for i := range out {
			if out[i].Type == "HEADER" && out[i].Format != "TEXT" {
				out[i].Example = &carillon.ComponentExample{HeaderHandle: []string{address}}
			}
			out[i].Cards = slices.Clone(out[i].Cards)
			for k := range out[i].Cards {
				out[i].Cards[k].Components = replace(out[i].Cards[k].Components)
			}
		}
		return out
	}
	tpl.Components = replace(tpl.Components)
	return tpl
}

func TestSamplesAreUploadedForEachReview(t *testing.T) {
	s, sender := graph(t, graphtest.Options{AutoApprove: true})
	here := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	c := client(t, Options{Egress: egress.New(egress.Options{AllowPrivate: here, MaxBody: -1})})
	files := samplesAt(t)
	tpl := withSamples(t, "visit_reminder", files+"/tour.png")
	id, _, err := c.Submit(t.Context(), sender, &tpl)
	if err != nil {
		t.Fatal(err)
	}
	if tpl.Components[0].Example.HeaderHandle[0] != files+"/tour.png" {
		t.Error("the template's own address is replaced, and would be lost for the next edit")
	}
	tpl.ProviderID = id
	if _, _, err := c.Submit(t.Context(), sender, &tpl); err != nil { // an edit of the approved template
		t.Fatal(err)
	}
	cards := withSamples(t, "media_carousel", files+"/tour.png")
	if _, _, err := c.Submit(t.Context(), sender, &cards); err != nil {
		t.Fatal(err)
	}
	if got, want := s.Uploaded(), slices.Repeat([]string{"image/png"}, 2+len(cards.Components[1].Cards)); !slices.Equal(got, want) {
		t.Errorf("%v are uploaded, not %v", got, want)
	}
	for address, want := range map[string]string{
		files + "/gone":       "The sample file cannot be downloaded from its address",
		files + "/page":       "The sample file must be a JPEG, PNG, MP4 or PDF file",
		files + "/long":       "The sample file has more than 16 MB",
		"http://192.168.1.1/": "The address of the sample file must be an https address of the public internet",
		"https://%zz/a.png":   "header_handle is neither a handle nor a valid address",
	} {
		wrong := withSamples(t, "visit_reminder", address)
		_, _, err := c.Submit(t.Context(), sender, &wrong)
		e, ok := errors.AsType[*carillon.Error](err)
		if !ok || e.Code != carillon.ValidationFailed || !slices.Contains(e.Details, carillon.Detail{Key: "reason", Value: want}) {
			t.Errorf("%s: %v", address, err)
		}
	}
}
