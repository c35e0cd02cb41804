package carillon

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestNewIDIsARisingUUIDv7(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	last := ""
	for i := range 10_000 {
		id := NewID(at.Add(time.Duration(i) * time.Microsecond))
		if !form.MatchString(id) || !ValidUUID(id) {
			t.Fatalf("%s is no UUIDv7", id)
		}
		if id <= last {
			t.Fatalf("%s does not come after %s", id, last)
		}
		last = id
	}
	if one, other := NewID(at), NewID(at); one == other {
		t.Error("two ids of one instant are the same")
	}
	if id := NewID(time.UnixMilli(0x0123456789ab)); !strings.HasPrefix(id, "01234567-89ab-7000-") {
		t.Errorf("the id begins with the milliseconds: %s", id)
	}
}

func TestTemplateIDsHaveNineteenDigitsAndDiffer(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	prefix, seen := strconv.FormatInt(now.UnixMilli(), 10), map[string]bool{}
	for range 20 {
		id := NewTemplateID(now)
		if !strings.HasPrefix(id, prefix) || !regexp.MustCompile(`^\d{19}$`).MatchString(id) {
			t.Fatalf("%s is not %s and six digits", id, prefix)
		}
		seen[id] = true
	}
	if len(seen) < 15 {
		t.Errorf("%d ids of 20 of one instant differ", len(seen))
	}
}

func TestValidUUID(t *testing.T) {
	for s, want := range map[string]bool{
		"5f0c1d9e-2b7a-4c51-9f0e-3a2b1c0d9e01": true, "5F0C1D9E-2B7A-4C51-9F0E-3A2B1C0D9E01": true,
		"": false, "5f0c1d9e2b7a4c519f0e3a2b1c0d9e01": false, "5f0c1d9e-2b7a-4c51-9f0e-3a2b1c0d9e0g": false,
		"5f0c1d9e-2b7a-4c51-9f0e-3a2b1c0d9e011": false, "5f0c1d9e_2b7a-4c51-9f0e-3a2b1c0d9e01": false,
		"5f0c1d9e-2b7a-4c51-9f0e03a2b1c0d9e01": false,
	} {
		if got := ValidUUID(s); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}

func TestRequestIDsHaveTheirFormAndDiffer(t *testing.T) {
	form := regexp.MustCompile(`^req_[A-Za-z0-9_-]{20,26}$`)
	seen := map[string]bool{}
	for range 1000 {
		id := NewRequestID()
		if !form.MatchString(id) || seen[id] {
			t.Fatalf("%s", id)
		}
		seen[id] = true
	}
}
