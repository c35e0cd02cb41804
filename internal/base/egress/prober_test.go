package egress_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/base/egress"
)

// movie returns an MP4 with a duration and an amount of media data, with moov before or after the data.
func movie(seconds uint32, data int, atEnd bool) []byte {
	box := func(kind string, content []byte) []byte {
		b := binary.BigEndian.AppendUint32(nil, uint32(8+len(content)))
		return append(append(b, kind...), content...)
	}
	header := make([]byte, 100)
	binary.BigEndian.PutUint32(header[12:], 1000)
	binary.BigEndian.PutUint32(header[16:], seconds*1000)
	ftyp, moov, mdat := box("ftyp", []byte("isom\x00\x00\x02\x00")), box("moov", box("mvhd", header)), box("mdat", make([]byte, data))
	if atEnd {
		return bytes.Join([][]byte{ftyp, mdat, moov}, nil)
	}
	return bytes.Join([][]byte{ftyp, moov, mdat}, nil)
}

// disk serves a file as a web server would: HEAD and ranges.
func disk(kind string, content []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if kind != "" {
			w.Header().Set("Content-Type", kind)
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}
}

// stubborn supports neither HEAD nor ranges and sends no lengths.
func stubborn(kind string, content []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", kind)
		w.(http.Flusher).Flush()
		for block := range slices.Chunk(content, 64<<10) {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}
}

// unsized supports ranges, sends at most `most` bytes per response, and does not report the size of the file.
func unsized(kind string, content []byte, most int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var from, to int
		if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to); err != nil || from >= len(content) || to < from {
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
			return
		}
		to = min(to, from+most-1, len(content)-1)
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/*", from, to))
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(content[from : to+1])
	}
}

// endless sends a body that never ends.
func endless(kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		for block := make([]byte, 64<<10); r.Method == http.MethodGet && r.Context().Err() == nil; {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func check(t *testing.T, h http.HandlerFunc, kind egress.Kind) error {
	t.Helper()
	s, o := serve(t, h)
	o.Resolver = names{"example.com": {"127.0.0.1"}, "other.test": {"127.0.0.1"}}
	o.Timeout = time.Minute
	p := egress.NewProber(o, nil)
	t.Cleanup(p.Close)
	return p.Check(t.Context(), "acme", kind, named(t, s, "/file?token=hush"))
}

func TestCheckAcceptsWhatFits(t *testing.T) {
	png, pdf := []byte("\x89PNG\r\n\x1a\n rest"), []byte("%PDF-1.7 rest")
	docx := append([]byte("PK\x03\x04"), append(make([]byte, 26), "[Content_Types].xml"...)...)
	for name, c := range map[string]struct {
		h    http.HandlerFunc
		kind egress.Kind
	}{
		"image by type":          {disk("image/png; charset=binary", png), egress.Image},
		"image by its bytes":     {disk("application/octet-stream", png), egress.Image},
		"image, stubborn server": {stubborn("image/gif", []byte("GIF89a")), egress.Image},
		"image of 5 MB":          {disk("image/jpeg", make([]byte, 5<<20)), egress.Image},
		"document":               {disk("application/pdf", pdf), egress.Document},
		"document, vague type":   {stubborn("binary/octet-stream", pdf), egress.Document},
		"DOCX as ZIP":            {disk("application/zip", docx), egress.Document},
		"DOC":                    {disk("application/octet-stream", []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1")), egress.Document},
		"image in parts":         {unsized("image/jpeg", make([]byte, 5<<20), 1<<20), egress.Image},
		"video, moov in front":   {disk("video/mp4", movie(30, 1<<20, false)), egress.Video},
		"video, moov at the end": {disk("video/quicktime", movie(30, 15<<20, true)), egress.Video},
		"video, stubborn server": {stubborn("video/mp4", movie(30, 3<<20, true)), egress.Video},
		"video without a length": {disk("video/mp4", movie(0, 100, false)), egress.Video},
	} {
		t.Run(name, func(t *testing.T) {
			if err := check(t, c.h, c.kind); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCheckRejectsWhatDoesNotFit(t *testing.T) {
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
	}
	for name, c := range map[string]struct {
		h      http.HandlerFunc
		kind   egress.Kind
		reason string
	}{
		"page for an image": {disk("text/html", []byte("<html>")), egress.Image, "no image of type JPG, PNG or GIF"},
		"WebP for an image": {disk("image/webp", []byte("RIFF____WEBP")), egress.Image, "no image"},
		"page without a type": {
			disk("application/octet-stream", []byte("<html>")), egress.Document, "no document of type PDF",
		},
		"plain ZIP for a document": {
			disk("application/zip", append([]byte("PK\x03\x04"), make([]byte, 60)...)), egress.Document, "no document",
		},
		"page called a video": {
			disk("video/mp4", []byte("<html><body>sign in</body></html>")), egress.Video, "no video of type MP4",
		},
		"image over 5 MB":               {disk("image/png", make([]byte, 5<<20+1)), egress.Image, "larger than the 5 MB"},
		"image over 5 MB, size unknown": {stubborn("image/png", make([]byte, 5<<20+1)), egress.Image, "larger than the 5 MB"},
		"image over 5 MB, in parts":     {unsized("image/png", make([]byte, 6<<20), 1<<20), egress.Image, "larger than the 5 MB"},
		"video over 16 MB, in parts": {
			unsized("video/mp4", movie(5, 16<<20-100, true), 1<<20), egress.Video, "larger than the 16 MB",
		},
		"image that never ends":             {endless("image/png"), egress.Image, "larger than the 5 MB"},
		"video over 16 MB":                  {disk("video/mp4", movie(5, 16<<20, false)), egress.Video, "larger than the 16 MB"},
		"video of 31 s":                     {disk("video/mp4", movie(31, 1<<20, true)), egress.Video, "longer than 30 s"},
		"video of 31 s, no ranges":          {stubborn("video/mp4", movie(31, 1<<20, true)), egress.Video, "longer than 30 s"},
		"empty file":                        {disk("image/png", nil), egress.Image, "empty"},
		"gone":                              {status(404), egress.Image, "responds with 404"},
		"behind a sign-in":                  {status(401), egress.Image, "responds with 401"},
		"redirect inside":                   {redirect("https://10.0.0.1/a.png"), egress.Image, "private"},
		"redirect to plain HTTP":            {redirect("http://127.0.0.1/a.png"), egress.Image, "not HTTPS"},
		"redirect in a ring":                {redirect("/file"), egress.Image, "redirects"},
		"redirect to no such host":          {redirect("https://nowhere.test/a.png"), egress.Image, "does not exist"},
		"redirect to a foreign certificate": {redirectToIP, egress.Image, "certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			err := check(t, c.h, c.kind)
			var rejected *egress.MediaError
			if !errors.As(err, &rejected) || !strings.Contains(rejected.Reason, c.reason) {
				t.Fatalf("got %v; want a rejection that says %q", err, c.reason)
			}
			if strings.Contains(err.Error(), "hush") {
				t.Errorf("the reason contains the query: %v", err)
			}
		})
	}
}

// redirectToIP redirects to the same server under a name that its certificate does not cover.
func redirectToIP(w http.ResponseWriter, r *http.Request) {
	_, port, _ := net.SplitHostPort(r.Host)
	http.Redirect(w, r, "https://other.test:"+port+"/", http.StatusFound)
}

func TestCheckRejectsAddressesUnasked(t *testing.T) {
	p := egress.NewProber(egress.Options{Resolver: names{}}, nil)
	for address, reason := range map[string]string{
		"http://example.com/a.png":                         "not HTTPS",
		"https://user:pass@example.com/a.png":              "credentials",
		"https:///a.png":                                   "cannot be read",
		"https://exa mple.com/":                            "cannot be read",
		"https://example.com/" + strings.Repeat("a", 9000): "cannot be read",
		"https://nowhere.test/a.png":                       "does not exist",
		"https://127.0.0.1/a.png":                          "private",
	} {
		err := p.Check(t.Context(), "acme", egress.Image, address)
		var rejected *egress.MediaError
		if !errors.As(err, &rejected) || !strings.Contains(rejected.Reason, reason) {
			t.Errorf("%.40s: got %v; want %q", address, err, reason)
		}
	}
}

func TestCheckTellsPassingFaultsFromRejections(t *testing.T) {
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	drip := func(w http.ResponseWriter, r *http.Request) { // a length is promised, but no bytes follow
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Length", "1000")
		if r.Method == http.MethodGet {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}
	cut := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, "\x89PNG\r\n\x1a\n")
	}
	for name, h := range map[string]http.HandlerFunc{
		"500": status(500), "503": status(503), "429": status(429), "silent": hang, "slow body": drip, "cut short": cut,
		"another range": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/octet-stream")
			w.Header().Set("Content-Range", "bytes 5-12/13")
			w.WriteHeader(http.StatusPartialContent)
			_, _ = io.WriteString(w, "\x89PNG\r\n\x1a\n12345")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, o := serve(t, h)
			o.Timeout = 300 * time.Millisecond
			p := egress.NewProber(o, nil)
			defer p.Close()
			err := p.Check(t.Context(), "acme", egress.Image, named(t, s, "/?token=hush"))
			var rejected *egress.MediaError
			if err == nil || errors.As(err, &rejected) || strings.Contains(err.Error(), "hush") {
				t.Errorf("got %v; want a passing fault without the query", err)
			}
		})
	}
}

func TestCheckSkipsPicturesWithRanges(t *testing.T) {
	content := movie(20, 15<<20, true)
	var sent atomic.Int64
	s, o := serve(t, func(w http.ResponseWriter, r *http.Request) {
		disk("video/mp4", content)(&meter{w, &sent}, r)
	})
	p := egress.NewProber(o, nil)
	defer p.Close()
	if err := p.Check(t.Context(), "acme", egress.Video, named(t, s, "/")); err != nil {
		t.Fatal(err)
	}
	if sent.Load() > 256<<10 {
		t.Errorf("%d bytes were fetched to learn a length", sent.Load())
	}
}

// A server that does not send the size causes no long downloads. The channel checks a large file itself.
func TestCheckReadsLittleOfAFileOfUnknownSize(t *testing.T) {
	pdf := append([]byte("%PDF-1.7\n"), make([]byte, 64<<20)...)
	for name, c := range map[string]struct {
		h    http.HandlerFunc
		kind egress.Kind
	}{
		"document":          {stubborn("application/pdf", pdf), egress.Document},
		"endless document":  {endless("application/pdf"), egress.Document},
		"video, header end": {stubborn("video/mp4", movie(5, 60<<20, true)), egress.Video},
	} {
		var sent atomic.Int64
		s, o := serve(t, func(w http.ResponseWriter, r *http.Request) { c.h(&meter{w, &sent}, r) })
		p := egress.NewProber(o, nil)
		for range 3 { // the verdict is cached
			if err := p.Check(t.Context(), "acme", c.kind, named(t, s, "/")); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		p.Close()
		if n := sent.Load(); n > 40<<20 { // 8 MiB are read; the rest was in flight
			t.Errorf("%s: %d bytes were sent", name, n)
		}
	}
}

func TestChecksOfOneCompanyAtOnceAreFew(t *testing.T) {
	var under, most atomic.Int64
	release := make(chan struct{})
	image := disk("image/png", []byte("\x89PNG\r\n\x1a\n"))
	s, o := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/slow") {
			n := under.Add(1)
			defer under.Add(-1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			<-release
		}
		image(w, r)
	})
	p := egress.NewProber(o, nil)
	defer p.Close()
	checked := make(chan error, 20)
	for i := range cap(checked) {
		go func() {
			checked <- p.Check(t.Context(), "hostile", egress.Image, named(t, s, "/slow"+strconv.Itoa(i)))
		}()
	}
	for under.Load() < 4 {
		runtime.Gosched()
	}
	if err := p.Check(t.Context(), "acme", egress.Image, named(t, s, "/quick")); err != nil {
		t.Error("another company's:", err)
	}
	close(release)
	for range cap(checked) {
		if err := <-checked; err != nil {
			t.Error(err)
		}
	}
	if most.Load() != 4 {
		t.Errorf("%d checks of a company were in flight", most.Load())
	}
}

type meter struct {
	http.ResponseWriter
	sent *atomic.Int64
}

func (m *meter) Flush() { m.ResponseWriter.(http.Flusher).Flush() }

func (m *meter) Write(p []byte) (int, error) {
	n, err := m.ResponseWriter.Write(p)
	m.sent.Add(int64(n))
	return n, err
}

func TestCheckBoundsTheRangesOfOneFile(t *testing.T) {
	var asked atomic.Int64
	s, o := serve(t, func(w http.ResponseWriter, r *http.Request) { // one byte per range, whatever is requested
		asked.Add(1)
		from, _, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Range"), "bytes="), "-")
		w.Header().Set("Content-Range", "bytes "+from+"-"+from+"/"+strconv.Itoa(1<<20))
		w.WriteHeader(http.StatusPartialContent)
		_, _ = io.WriteString(w, "x")
	})
	p := egress.NewProber(o, nil)
	defer p.Close()
	var rejected *egress.MediaError
	if err := p.Check(t.Context(), "acme", egress.Video, named(t, s, "/")); !errors.As(err, &rejected) {
		t.Errorf("got %v", err)
	}
	if asked.Load() > 20 {
		t.Errorf("asked %d times", asked.Load())
	}
}

func TestCheckAsksOncePerAddress(t *testing.T) {
	var asked atomic.Int32
	release := make(chan struct{})
	s, o := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		<-release
		disk("image/png", []byte("\x89PNG\r\n\x1a\n"))(w, r)
	})
	p := egress.NewProber(o, nil)
	defer p.Close()
	address := named(t, s, "/")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if err := p.Check(t.Context(), "acme", egress.Image, address); err != nil {
				t.Error(err)
			}
		})
	}
	if err := p.Check(gone, "acme", egress.Image, address); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who left got %v", err)
	}
	close(release)
	wg.Wait()
	if err := p.Check(t.Context(), "acme", egress.Image, address); err != nil {
		t.Error(err)
	}
	if asked.Load() != 1 {
		t.Errorf("the server was asked %d times", asked.Load())
	}
	if err := p.Check(t.Context(), "acme", egress.Document, address); err == nil {
		t.Error("the answer for another kind was taken")
	}
}
