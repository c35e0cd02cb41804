package widget

import (
	"cmp"
	"strings"
)

// Launcher is the button on a customer's page. The embed scripts get its style from here, so that they stay small.
type Launcher struct {
	CSS   string `json:"css"`             // style sheet of the button and the frame
	Name  string `json:"name"`            // for screen readers
	Close string `json:"close"`           // name while the widget is open
	Label string `json:"label,omitempty"` // shown next to the icon
}

// Icons of the button, as paths of 24 by 24 pixels.
const (
	chatIcon  = "M3 4h18v13H10l-5 5v-5H3zM5 6v9h2v2l2-2h10V6z"
	voiceIcon = "M3 10h2v4h-2zm4-3h2v10h-2zm4-3h2v16h-2zm4 3h2v10h-2zm4 3h2v4h-2z"
	closeIcon = "M5.6 4.2L12 10.6l6.4-6.4 1.4 1.4L13.4 12l6.4 6.4-1.4 1.4L12 13.4l-6.4 6.4-1.4-1.4L10.6 12 4.2 5.6z"
)

// closing is the name of the button of an open widget, by language.
func closing(lang string) string {
	switch base, _, _ := strings.Cut(strings.ToLower(lang), "-"); base {
	case "es":
		return "Cerrar"
	case "pt":
		return "Fechar"
	}
	return "Close"
}

// launcher returns the button of a widget in a language.
func (f *companyWidget) launcher(lang, name string) *Launcher {
	texts := f.texts(lang)
	return &Launcher{
		CSS: f.Appearance.css(f.Kind), Name: name, Label: texts[launcherText], Close: cmp.Or(texts["close"], closing(lang)),
	}
}

// css returns the style sheet for the shadow root of the button. It contains nothing of the appearance but a checked color, its
// corner, and whether it moves.
//
// The icon is a border that is cut out: it needs no markup, which a page's policy may forbid to write (Trusted Types), and has
// the color of text where colors are forced. The classes of the host: o the frame is shown, x something of the button is open,
// l somebody talks, j the button of another widget stands for this one.
func (a *Appearance) css(kind string) string {
	color := defaultPrimary
	if colorForm.MatchString(a.PrimaryColor) {
		color = a.PrimaryColor
	}
	side, edge, icon, move := "right", "bottom", chatIcon, ""
	if strings.Contains(a.Position, "left") {
		side = "left"
	}
	if strings.Contains(a.Position, "top") {
		edge = "top"
	}
	if kind == "voice" {
		icon = voiceIcon
	}
	if a.Animation != "" && a.Animation != "none" {
		move = "@media not (prefers-reduced-motion){button{animation:a 2s 4}}@keyframes a{50%{scale:1.08}}"
	}
	return strings.NewReplacer(
		"{side}", side, "{edge}", edge, "{color}", color, "{on}", onColor(color), "{icon}", icon, "{close}", closeIcon,
	).Replace(launcherCSS) + move
}

const launcherCSS = `:host{all:initial;position:fixed;z-index:2000000000;{side}:20px;{edge}:20px}
button{height:56px;min-width:56px;max-width:calc(100vw - 40px);padding:0 16px;border:0;border-radius:28px;cursor:pointer;
background:{color};color:{on};box-shadow:0 4px 16px #0004;display:flex;align-items:center;gap:10px;font:600 15px/1.2 system-ui}
button:before{content:'';flex:none;border:12px solid;clip-path:path('{icon}')}
i{font-style:normal;overflow:hidden;white-space:nowrap;text-overflow:ellipsis}
i:empty,b:empty{display:none}
b{position:absolute;top:-3px;{side}:-3px;min-width:10px;padding:2px 5px;border-radius:10px;background:#b3261e;color:#fff;
font:600 12px/16px system-ui}
:focus-visible{outline:3px solid #1d4ed8;outline-offset:2px}
iframe{display:none;position:fixed;{side}:20px;{edge}:88px;width:380px;height:min(620px,100vh - 110px);border:0;border-radius:16px;
box-shadow:0 4px 16px #0004;background:#fff}
:host(.o){z-index:2000000001}
:host(.o) iframe{display:block}
:host(.x) button:before{clip-path:path('{close}')}
:host(.x) i,:host(.j) button{display:none}
:host(.l) button{box-shadow:0 0 0 5px {color}66}
@media(max-width:480px){:host(.o) iframe{inset:0;width:100%;height:100%;border-radius:0}:host(.x) button{display:none}}
`
