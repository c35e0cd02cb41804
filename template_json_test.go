package carillon_test

import (
	"encoding/json"
	"testing"

	"carillon"
)

func TestComponentsOfTheChannelKeepWhatIsUnknown(t *testing.T) {
	for _, text := range []string{
		`{"type":"HOLOGRAM","depth":3,"parts":[{"a":"<b>&c"}]}`,
		`{"type":"BODY","text":"a & b","mood":{"kind":"calm"}}`,
		`{"type":"BODY","text":"{{1}}","example":{"body_text":[["Ana"]],"tone":"warm"}}`,
		`{"type":"BUTTONS","buttons":[{"type":"WARP","text":"Go","speed":9},{"type":"FLOW","text":"Open","flow_id":12}]}`,
		`{"type":"CAROUSEL","cards":[{"components":[{"type":"HEADER","format":"IMAGE","glow":true}]}]}`,
		`{"type":7}`,
	} {
		var c carillon.Component
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			t.Fatal(err)
		}
		b, err := c.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var want, got any
		if json.Unmarshal([]byte(text), &want) != nil || json.Unmarshal(b, &got) != nil || !equal(want, got) {
			t.Errorf("%s came back as %s", text, b)
		}
	}
}

// equal reports whether everything in want is in got. got may have empty texts more.
func equal(want, got any) bool {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		for k, v := range w {
			ok = ok && equal(v, g[k])
		}
		for k, v := range g {
			ok = ok && (w[k] != nil || v == "")
		}
		return ok
	case []any:
		g, ok := got.([]any)
		for i, v := range w {
			ok = ok && len(g) == len(w) && equal(v, g[i])
		}
		return ok
	}
	return want == got
}

func TestSamplesComeInEitherForm(t *testing.T) {
	var c carillon.Component
	text := `{"type":"BODY","text":"{{1}}","example":{"body_text":["Ana"],"header_handle":"h"},` +
		`"buttons":[{"type":"COPY_CODE","example":"250FF"}]}`
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	if c.Example.BodyText[0][0] != "Ana" || c.Example.HeaderHandle[0] != "h" || c.Buttons[0].Example[0] != "250FF" || c.Rest != nil {
		t.Errorf("got %+v", c)
	}
}
