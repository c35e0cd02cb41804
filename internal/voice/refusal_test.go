package voice

import "testing"

func TestARefusalOfTheRecordingIsHeardInASentence(t *testing.T) {
	type heard struct{ refused, alone bool }
	const alone, more = "alone", "more"
	for text, want := range map[string]string{
		"Don't record.": alone, "Please don't record this call.": alone, "No, do not record me": alone, "Stop recording, please": alone,
		"I don't want to be recorded, thank you.": alone, "Hello, I'd rather not be recorded": alone,
		"Don't record this. When do you open on Sundays?": more, "I do not agree to the recording, but tell me the price of the tour": more,
		"No grabe": alone, "No, por favor, no grabe la llamada": alone, "¡No me graben!": alone, "No quiero que se grabe": alone,
		"Deje de grabar": alone, "No autorizo la grabación": alone, "No grabe, quiero hablar con una persona": more,
		"Não grave": alone, "Não grave a ligação, por favor": alone, "Não quero ser gravada": alone, "Pare de gravar": alone,
		"Não autorizo a gravação": alone, "Não grava, não": alone, "Não grave, eu quero saber o preço": more,

		"No": "", "No.": "", "No, thanks": "", "I don't agree": "", "No estoy de acuerdo": "", "Não concordo": "", "Não": "",
		"Is this call recorded?": "", "You may record it": "", "I don't record my expenses": "", "Why don't you record it?": "",
		"My camera won't stop recording": "", "It does not record": "", "I want a recording of the talk": "",
		"La cámara no graba": "", "Es para que no grabe de noche": "", "¿Se graba la llamada?": "", "Puede grabar": "",
		"A câmera não grava": "", "O problema não é grave": "", "É um problema não grave": "", "Pode gravar": "",
	} {
		refused, isAlone := refuses(text)
		if got := (heard{refused, isAlone}); got != (heard{want != "", want == alone}) {
			t.Errorf("%q: %+v, want %q", text, got, want)
		}
	}
}
