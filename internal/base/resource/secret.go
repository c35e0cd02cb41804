package resource

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Secretive is a resource with secrets, which are sealed and never read back by the API. An empty one keeps what is stored.
type Secretive interface {
	// Secrets are the fields that hold them, those of parts that are there.
	Secrets() []Secret
}

// Secret is a field that holds a secret.
type Secret struct {
	// Name is its path, or empty for the one that resources of the kind had before they had several.
	Name  string
	Value *string
	// Use is what the secret is good for, such as one server. Where another use is stored than the resource has now, the stored
	// secret is not kept: whoever may change the use must not get the secret by it.
	Use string
	// Required is the field to name where there is no secret; empty: there need be none.
	Required string
}

// SecretsOf are a resource's secrets.
func SecretsOf(x Resource) []Secret {
	if holder, ok := x.(Secretive); ok {
		return holder.Secrets()
	}
	return nil
}

// KeepSecrets fills the secrets that x lacks with those of what is stored of it.
func KeepSecrets(x, stored Resource) {
	kept := map[string]Secret{}
	for _, s := range SecretsOf(stored) {
		kept[s.Name] = s
	}
	for _, s := range SecretsOf(x) {
		if before, ok := kept[s.Name]; ok && *s.Value == "" && before.Use == s.Use {
			*s.Value = *before.Value
		}
	}
}

// HideSecrets empties the secrets of x; restore puts them back.
func HideSecrets(x Resource) (restore func()) {
	all := SecretsOf(x)
	values := make([]string, len(all))
	for i, s := range all {
		values[i], *s.Value = *s.Value, ""
	}
	return func() {
		for i, s := range all {
			*s.Value = values[i]
		}
	}
}

// several begins the text of several secrets: JSON by name. The one without a name stands for itself where it is alone.
const several = "\x00"

// PackSecrets is the text that is sealed: all secrets of x, empty for none.
func PackSecrets(x Resource) (string, error) {
	values, named := map[string]string{}, false
	for _, s := range SecretsOf(x) {
		if *s.Value != "" {
			values[s.Name] = *s.Value
			named = named || s.Name != ""
		}
	}
	if !named {
		return values[""], nil
	}
	text, err := json.Marshal(values)
	return several + string(text), err
}

// UnpackSecrets puts the secrets of a text of PackSecrets into x, which has the fields that it had then.
func UnpackSecrets(x Resource, text string) error {
	all := SecretsOf(x)
	values := map[string]string{"": text}
	if packed, ok := strings.CutPrefix(text, several); ok && named(all) {
		values = nil
		if err := json.Unmarshal([]byte(packed), &values); err != nil {
			return fmt.Errorf("read secrets: %w", err)
		}
	}
	for _, s := range all {
		*s.Value = values[s.Name]
	}
	return nil
}

func named(all []Secret) bool {
	for _, s := range all {
		if s.Name != "" {
			return true
		}
	}
	return false
}
