package messaging

import (
	"slices"
	"strings"
	"testing"
)

// texts by language, those that leave no doubt apart from those that a person would have to read twice.
type judged map[string]struct{ plain, hard []string }

// asking are texts of people who want no more messages.
var asking = judged{
	"en": {
		plain: []string{
			"STOP", "stop.", "Stop!!! 🛑", "“stop”", "ＳＴＯＰ", "Stop please", "please stop", "Stop, thanks", "STOP ALL", "unsubscribe", "unsubscribe me", "Unsubscribe me please", "opt-out", "I want to opt out",
			"quit", "End", "cancel", "REVOKE", "Remove me from your list please", "take me off your list", "stop messaging me", "Please stop sending me messages", "stop texting me", "no more messages please",
			"STOP\n\nJuan Pérez\nAcme S.A.\n+34 600 111 222", "Stop\n\nSent from my iPhone", "STOP\n> Get 20% off today!\n> Reply STOP to end",
		},
		hard: []string{
			"Hi, can you please stop sending me these messages? Thank you", "I don't want any more messages from you", "I no longer wish to receive these texts.", "Do not contact me anymore", "Stop. This is spam!", "S T O P", "st\u200bop",
			"stop stop stop", "Please stop sending this", "𝗦𝗧𝗢𝗣", "Yes, unsubscribe", "Stop sending me this crap", "no thanks stop", "Opt me out", "unsubscribe from all", "Stop all messages", "STOP MARKETING", "stop bothering me", "I said stop",
			"kindly remove my number from your database",
		},
	},
	"es": {
		plain: []string{
			"BAJA", "Baja, por favor", "darme de baja", "Quiero darme de baja", "quiero darme de baja de esta lista por favor", "Deseo darme de baja", "dame de baja", "ALTO", "parar", "detener", "cancelar",
			"Cancelar suscripción", "cancelar la suscripcion", "no más mensajes", "No quiero más mensajes", "No quiero recibir más mensajes", "¡Dejen de escribirme!", "deje de enviarme mensajes", "Stop por favor", "desuscribirme",
			"BAJA\n--\nMaría López\nVentas",
		},
		hard: []string{
			"Hola, buenos días, ya no quiero recibir sus mensajes, gracias", "no me escriban más", "Por favor no me manden más publicidad", "bórrenme de la lista", "Elimine mi número de su lista", "ＢＡＪＡ", "no me interesa, denme de baja", "por favor eliminar de la lista", "no enviar más mensajes", "stop promociones", "quiero dejar de recibir mensajes", "no vuelvan a escribirme", "sácame de la lista",
		},
	},
	"pt": {
		plain: []string{
			"SAIR", "sair!", "PARE", "pare por favor", "parar mensagens", "Pare de me enviar mensagens", "parem de me mandar mensagens", "Não quero mais receber mensagens", "descadastrar", "me descadastre por favor",
			"quero me descadastrar", "cancelar inscrição", "remover", "Quero sair da lista", "não me mande mais mensagens", "chega de mensagens", "interromper", "Descadastrar\n\nEnviado do meu iPhone",
		},
		hard: []string{
			"Oi, bom dia! Não quero receber mais mensagens, obrigada", "tirem meu número da lista", "me remova da sua lista, por favor", "Cancele meu cadastro", "não tenho interesse, pode parar de enviar", "não quero receber", "para de me mandar mensagem", "quero descadastrar meu número", "quero parar de receber mensagens", "por favor me retire da lista",
		},
	},
}

// others are texts of people who want something else.
var others = judged{
	"en": {
		plain: []string{
			"don't stop", "Do not stop sending me offers", "stop by the shop", "I'll stop by tomorrow", "where is the bus stop?", "the stop is closed", "can't stop laughing", "Is it a non-stop flight?", "cancel my order",
			"please cancel order 123", "I want to cancel my appointment", "end of the month?", "the end", "When does the tour end?", "I quit my job", "remove the onions please", "the payment did not stop", "How do I start?",
			"I want to opt out of the tour", "unstoppable",
		},
		hard: []string{
			"stop sending me the wrong bill", "Stop sending the parcel to my old address", "stop calling me Mike", "Don't unsubscribe me", "I did not unsubscribe!", "no more tickets?", "take me off the waiting list", "Stop it, you are funny",
			"stop, the car is here", "st op", "stopp", "no messages arrive any more", "end?", "stop the subscription to the magazine", "I'd like to stop my order", "no more spam filters", "I don't want notifications for order 5", "stop texting me in English",
			"unsubscribe button is broken", "take me off the hook", "leave me alone with him", "Stop\nthe car",
		},
	},
	"es": {
		plain: []string{
			"no pares", "no me des de baja", "baja la música", "baja de peso", "¿Está en la planta baja?", "estoy de baja médica", "es muy alto", "Cancelar mi pedido", "quiero cancelar la cita", "¿Puede parar mañana?",
			"para mañana", "alta costura", "¿Dónde para el autobús?", "detener el pago", "no quiero más azúcar", "no cancelen mi cita",
		},
		hard: []string{
			"Quiero dar de baja la línea", "quiero dar de baja mi seguro", "no me llegan más mensajes", "no recibo más mensajes", "ya no quiero la reserva", "no quiero que sea el alto", "Cancelar\nPedido 123", "me doy de baja del gimnasio", "no quiero ofertas de trabajo", "no me escriban en inglés", "no me envíen el paquete", "para ya el coche",
		},
	},
	"pt": {
		plain: []string{
			"não pare", "parar de chover", "Vai parar de chover?", "quero sair amanhã", "pare aqui por favor", "pare o carro", "quero sair do hotel às 10", "posso sair mais tarde?", "cancelar meu pedido", "Quero cancelar a reserva",
			"remover um item do pedido", "não quero mais o produto", "a que horas vai sair?", "sair de férias",
		},
		hard: []string{
			"não recebi mais mensagens", "interromper o tratamento?", "descadastrar meu cartão", "não quero sair da lista de espera", "cancele meu cadastro de cartão", "chega de açúcar", "quero sair mais cedo", "remova a cebola", "cancelar envio", "não quero mais",
		},
	},
}

func TestAWishToStopIsKnownFromATextThatOnlyHoldsItsWords(t *testing.T) {
	count := func(table judged, want wish) {
		n, wrong := 0, []string{}
		for language, texts := range table {
			for _, text := range append(slices.Clone(texts.plain), texts.hard...) {
				n++
				if got := wishOf(text).wish; got != want {
					wrong = append(wrong, text)
					if slices.Contains(texts.plain, text) {
						t.Errorf("%s: %q asks for %q, not %q", language, text, got, want)
					}
				}
			}
		}
		if n < 60 || len(wrong) > 1 {
			t.Errorf("of %d texts that ask for %q %d are read wrong: %q", n, want, len(wrong), wrong)
		}
		t.Logf("%d texts, wrong: %q", n, wrong)
	}
	count(asking, stop)
	count(others, "")
}

func TestLongTextsAskForNothing(t *testing.T) {
	for _, text := range []string{strings.Repeat("stop ", 200), "stop\n" + strings.Repeat("Ana\n", 200), strings.Repeat("\u0301", 100_000), ""} {
		if got := wishOf(text); got.wish != "" {
			t.Errorf("a text of %d bytes asks for %q", len(text), got.wish)
		}
	}
}
