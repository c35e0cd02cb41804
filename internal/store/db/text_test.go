package db

import (
	"fmt"
	"testing"
)

func TestTheEscapeOfNULIsReplacedAndNoOther(t *testing.T) {
	for text, want := range map[string]string{
		`"a\u0000b"`: `"a\ufffdb"`, `"\\u0000"`: `"\\u0000"`, `"\\\u0000"`: `"\\\ufffd"`, `"\u0001\"\u0000"`: `"\u0001\"\ufffd"`,
		`["\u0000","\u0000"]`: `["\ufffd","\ufffd"]`,
	} {
		if got := storableJSON(text); got != want {
			t.Errorf("%s becomes %s, want %s", text, got, want)
		}
	}
}

func TestTheCallersArgumentsStayAsTheyAre(t *testing.T) {
	texts := []string{"a", "b\x00"}
	args := []any{"\x00", texts, []byte("\x00"), int64(1)}
	got := storable(args)
	if args[0] != "\x00" || texts[1] != "b\x00" {
		t.Errorf("they became %q", args)
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", []any{"\uFFFD", []string{"a", "b\uFFFD"}, []byte("\x00"), int64(1)}) {
		t.Errorf("the statement gets %q", got)
	}
}
