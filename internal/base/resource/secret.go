package resource

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Secretive is a resource with secrets, which are stored encrypted and never returned by the API. An empty secret
// keeps the stored value.
type Secretive interface {
	// Secrets returns the fields that contain secrets; absent parts have none.
	Secrets() []Secret
}

// Secret is a field that contains a secret.
type Secret struct {
	// Name is the path of the field. It is empty for the secret that resources of the kind had before they had
	// several.
	Name  string
	Value *string
	// Use identifies what the secret is used for, such as a server. If it differs from the stored use, the stored
	// secret is not kept: a user who may change the use must not obtain the secret that way.
	Use string
	// Required is the field to report if the secret is missing. Empty: the secret is optional.
	Required string
}

// SecretsOf returns a resource's secrets.
func SecretsOf(x Resource) []Secret {
	if holder, ok := x.(Secretive); ok {
		return holder.Secrets()
	}
	return nil
}

// KeepSecrets fills in the secrets that x lacks from the stored resource.
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

// HideSecrets empties the secrets of x. restore puts them back.
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

// several begins a text of several secrets, which is JSON by name. A single secret without a name is stored as is.
const several = "\x00"

// PackSecrets returns the text to encrypt: all secrets of x, or "" if there are none.
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

// UnpackSecrets restores the secrets in a text of PackSecrets into x, which must have the same fields as before.
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
