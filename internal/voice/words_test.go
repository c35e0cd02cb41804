package voice

import "testing"

func TestAWishForNoCallsIsHeardInASentence(t *testing.T) {
	for text, want := range map[string]bool{
		"Stop calling me!": true, "Please, don't call me again.": true, "Do not call this number": true,
		"Take me off your list, will you?": true, "I don't want any more calls from you": true,
		"Oh, it is you. Never call me, please, ever.": true, "Delete my number.": true, "No me vuelvan a llamar": true,
		"¡Dejen de llamarme!": true, "No quiero que me llamen más": true, "Quiten mi número de ahí": true,
		"Por favor, não me ligue mais": true, "Não quero que me liguem": true, "Parem de me ligar!": true, "Tirem meu número": true,
		"Me tirem da lista": true,

		"Don't call me before ten": false, "do not call me again until Monday": false, "No me llamen antes de las diez": false,
		"No me llame después de las ocho": false, "Não me ligue depois das seis": false,
		"Stop": false, "Stop, please, I did not hear that": false, "Call me tomorrow": false, "Is this the number to call?": false,
		"I want to unsubscribe from the newspaper": false, "Quiero darme de baja del seguro": false,
		"¿Me llama mañana?": false, "Pode me ligar amanhã?": false, "Quero cancelar o plano": false,
	} {
		if got := stops(text); got != want {
			t.Errorf("%q asks for no calls: %t", text, got)
		}
	}
}
