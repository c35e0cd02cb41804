package resource

import (
	"strings"
	"testing"
)

// house is a resource with up to three secrets.
type house struct {
	ID, Front, Back, Safe    string
	FrontLock, BackLock      string
	noBack, onlyTheFirstOnes bool
}

func (h *house) Key() (id, name *string) { return &h.ID, &h.ID }
func (h *house) Validate() error         { return nil }
func (h *house) Secrets() []Secret {
	all := []Secret{{Value: &h.Front, Use: h.FrontLock}}
	if h.onlyTheFirstOnes {
		return all
	}
	if !h.noBack {
		all = append(all, Secret{Name: "back", Value: &h.Back, Use: h.BackLock})
	}
	return append(all, Secret{Name: "safe", Value: &h.Safe})
}

func TestSecretsSurviveBeingPacked(t *testing.T) {
	for _, h := range []house{{}, {Front: "f"}, {Back: "b"}, {Front: "f", Safe: "s\x00"}, {Front: "{}", Back: "b", Safe: "s"}} {
		text, err := PackSecrets(&h)
		if err != nil {
			t.Fatal(err)
		}
		var got house
		if err := UnpackSecrets(&got, text); err != nil || got != h {
			t.Errorf("%+v is %+v, %v", h, got, err)
		}
	}
}

// Rows from the time when resources had one secret contain it as is, whatever it looks like.
func TestASecretThatWasStoredAloneIsRead(t *testing.T) {
	for _, stored := range []string{"sk-1", `{"back":"x"}`, "\x00{"} {
		got := house{onlyTheFirstOnes: true}
		if err := UnpackSecrets(&got, stored); err != nil || got.Front != stored {
			t.Errorf("%q is %+v, %v", stored, got, err)
		}
		if text, err := PackSecrets(&got); err != nil || text != stored {
			t.Errorf("%q is packed as %q, %v", stored, text, err)
		}
	}
	got := house{}
	if err := UnpackSecrets(&got, "sk-1"); err != nil || got.Front != "sk-1" || got.Back != "" {
		t.Errorf("%+v, %v", got, err)
	}
	if err := UnpackSecrets(&got, "\x00{"); err == nil {
		t.Error("a damaged text is read")
	}
}

func TestSecretsAreKeptForTheSameUseAlone(t *testing.T) {
	stored := house{Front: "f", Back: "b", Safe: "s", FrontLock: "1", BackLock: "2"}
	x := house{Back: "new", FrontLock: "1", BackLock: "2"}
	KeepSecrets(&x, &stored)
	if x.Front != "f" || x.Back != "new" || x.Safe != "s" {
		t.Errorf("%+v", x)
	}
	x = house{FrontLock: "another", BackLock: "2"}
	KeepSecrets(&x, &stored)
	if x.Front != "" || x.Back != "b" {
		t.Errorf("of another use: %+v", x)
	}
	stored.noBack = true
	x = house{FrontLock: "1", BackLock: "2"}
	KeepSecrets(&x, &stored)
	if x.Back != "" {
		t.Errorf("of a part that was not there: %+v", x)
	}
}

func TestHiddenSecretsComeBack(t *testing.T) {
	h := house{Front: "f", Back: "b"}
	restore := HideSecrets(&h)
	if h.Front+h.Back+h.Safe != "" {
		t.Errorf("%+v", h)
	}
	restore()
	if strings.Join([]string{h.Front, h.Back, h.Safe}, ",") != "f,b," {
		t.Errorf("%+v", h)
	}
}
