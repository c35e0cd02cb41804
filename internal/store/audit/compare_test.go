package audit

import (
	"strings"
	"testing"
)

func fieldsOf(t *testing.T, before, after string) []Field {
	t.Helper()
	fields, err := compare(Decoded{"text": before}, Decoded{"text": after})
	if err != nil {
		t.Fatal(err)
	}
	return fields
}

func TestSecretsInLongTextsAreNotRecorded(t *testing.T) {
	token := "ck_" + strings.Repeat("k", 40)
	for _, at := range []int{0, 100, maxValue - 50, maxValue - 20, maxValue - 1, maxRead - 10} {
		text := strings.Repeat(".", at) + " " + token + " " + strings.Repeat("x", 5000)
		fields := fieldsOf(t, "before", text)
		if len(fields) != 1 || !fields[0].Cut || strings.Contains(string(fields[0].After), "kkk") || len(fields[0].After) > maxValue+10 {
			t.Errorf("at %d: %v", at, fields)
		}
	}
}

func TestWhatDiffersBeyondWhatIsRecordedIsAChange(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	if fields := fieldsOf(t, long+"a", long+"b"); len(fields) != 1 || !fields[0].Cut {
		t.Errorf("%d fields", len(fields))
	}
	if fields := fieldsOf(t, "the key ck_123456789", "the key ck_987654321"); len(fields) != 0 {
		t.Errorf("of another key alone: %v", fields)
	}
	if fields := fieldsOf(t, "a", "a"); len(fields) != 0 {
		t.Error(fields)
	}
}
