package content

import (
	"testing"
)

func TestMediaFault(t *testing.T) {
	for _, c := range []struct {
		place place
		url   string
		ok    bool
	}{
		{headerImage, "https://a.test/a.jpg", true},
		{headerImage, "https://a.test/a.JPEG", true},
		{headerImage, "https://a.test/a.gif?sig=x.exe#y", true},
		{headerImage, "https://a.test", true},
		{headerImage, "https://a.test/", true},
		{headerImage, "https://a.test/v1.2/photo", true},
		{headerImage, "HTTPS://a.test/a.png", true},
		{headerImage, "https://a.test:8443/a.png", true},
		{headerImage, "https://a.test:65536/a.png", false},
		{headerImage, "https://a.test:0/a.png", false},
		{headerImage, "https://203.0.113.9/a.png", true},
		{headerImage, "https://[2001:db8::1]/a.png", true},
		{headerImage, "https://a.test/a.webp", false},
		{headerImage, "https://a.test/a.mp4", false},
		{headerVideo, "https://a.test/a.mp4", true},
		{headerVideo, "https://a.test/a.avi", true},
		{headerVideo, "https://a.test/a.mov", true},
		{headerVideo, "https://a.test/a.mkv", false},
		{headerDocument, "https://a.test/a.docx", true},
		{headerDocument, "https://a.test/a.xlsx", true},
		{headerDocument, "https://a.test/a.pptx", true},
		{headerDocument, "https://a.test/a.pdf", true},
		{headerDocument, "https://a.test/a.doc", true},
		{headerDocument, "https://a.test/a.xls", true},
		{headerDocument, "https://a.test/a.ppt", true},
		{headerDocument, "https://a.test/a.txt", false},
		{headerImage, "http://a.test/a.png", false},
		{headerImage, "ftp://a.test/a.png", false},
		{headerImage, "//a.test/a.png", false},
		{headerImage, "a.png", false},
		{headerImage, "https:a.png", false},
		{headerImage, "https:///a.png", false},
		{headerImage, "https://a.test/%zz", false},
		{headerImage, "https://user:pw@a.test/a.png", false},
		{headerImage, "https://localhost/a.png", false},
		{headerImage, "https://LocalHost./a.png", false},
		{headerImage, "https://x.localhost/a.png", false},
		{headerImage, "https://127.0.0.1/a.png", false},
		{headerImage, "https://127.9.9.9:1/a.png", false},
		{headerImage, "https://10.0.0.1/a.png", false},
		{headerImage, "https://172.16.0.1/", false},
		{headerImage, "https://192.168.1.1/", false},
		{headerImage, "https://169.254.169.254/latest", false},
		{headerImage, "https://0.0.0.0/", false},
		{headerImage, "https://[::1]/", false},
		{headerImage, "https://[::]/", false},
		{headerImage, "https://[fe80::1]/", false},
		{headerImage, "https://[fe80::1%25eth0]/", false},
		{headerImage, "https://[fd00::1]/", false},
		{headerImage, "https://[::ffff:10.0.0.1]/", false},
		{headerImage, "https://127.1/", false},
		{headerImage, "https://2130706433/", false},
		{headerImage, "https://0x7f000001/", false},
		{headerImage, "https://0177.0.0.1/", false},
		{headerImage, "https://127.0.0.1./", false},
		{headerImage, "https://224.0.0.1/", false},
		{headerImage, " https://a.test/a.png", false},
	} {
		if reason := checkMediaURL(c.place, c.url); (reason == "") != c.ok {
			t.Errorf("%s: %q", c.url, reason)
		}
	}
}
