package messaging

import (
	"slices"
	"strings"
	"testing"
)

// judged holds texts by language: clear ones, and ones that even a person would have to read twice.
type judged map[string]struct{ plain, hard []string }

// asking are texts of people who want no more messages.
var asking = judged{
	"en": {
		plain: []string{
			"STOP", "stop.", "Stop!!! 🛑", "“stop”", "ＳＴＯＰ", "Stop please", "please stop", "Stop, thanks", "STOP ALL", "unsubscribe",
			"unsubscribe me", "Unsubscribe me please", "opt-out", "I want to opt out",
			"quit", "End", "cancel", "REVOKE", "Remove me from your list please", "take me off your list", "stop messaging me",
			"Please stop sending me messages", "stop texting me", "no more messages please",
			"STOP\n\nJuan Pérez\nAcme S.A.\n+34 600 111 222", "Stop\n\nSent from my iPhone",
			"STOP\n> Get 20% off today!\n> Reply STOP to end",
			"I want out", "STOP\nJohn", "STOP\nJuan Pérez", "Stop. Regards, Ana de la Cruz", "stop?", "STOP?",
		},
		hard: []string{
			"Hi, can you please stop sending me these messages? Thank you", "I don't want any more messages from you",
			"I no longer wish to receive these texts.", "Do not contact me anymore", "Stop. This is spam!", "S T O P", "st\u200bop",
			"stop stop stop", "Please stop sending this", "𝗦𝗧𝗢𝗣", "Yes, unsubscribe", "Stop sending me this crap", "no thanks stop",
			"Opt me out", "unsubscribe from all", "Stop all messages", "STOP MARKETING", "stop bothering me", "I said stop",
			"kindly remove my number from your database",
			"pls stop texting me", "Take me off your list", "no more messages thanks", "Quit sending me this", "opt me out please",
			"Remove my number", "stop sending these, wrong number", "Hi, please unsubscribe me from all messages. Thanks, Mary",
			"I'd like to be removed", "STOP\n\nSent from my iPhone", "Leave me alone", "do not contact me again",
			"Stop\nJuan Pérez\n+34 600 111 222", "Unsubscribe please. Thank you, John Smith", "STOP\n\nThanks\nMary",
			"cease texting me", "Please get me out of your list", "I wish to be unsubscribed", "lose my number",
			"let me out of this list",
		},
	},
	"es": {
		plain: []string{
			"BAJA", "Baja, por favor", "darme de baja", "Quiero darme de baja", "quiero darme de baja de esta lista por favor",
			"Deseo darme de baja", "dame de baja", "ALTO", "parar", "detener", "cancelar",
			"Cancelar suscripción", "cancelar la suscripcion", "no más mensajes", "No quiero más mensajes",
			"No quiero recibir más mensajes", "¡Dejen de escribirme!", "deje de enviarme mensajes", "Stop por favor", "desuscribirme",
			"BAJA\n--\nMaría López\nVentas",
			"Basta", "¡Basta!", "BAJA\nMaría López",
		},
		hard: []string{
			"Hola, buenos días, ya no quiero recibir sus mensajes, gracias", "no me escriban más",
			"Por favor no me manden más publicidad", "bórrenme de la lista", "Elimine mi número de su lista", "ＢＡＪＡ",
			"no me interesa, denme de baja", "por favor eliminar de la lista", "no enviar más mensajes", "stop promociones",
			"quiero dejar de recibir mensajes", "no vuelvan a escribirme", "sácame de la lista",
			"no quiero recibir más mensajes", "BAJA por favor", "dejen de escribirme", "Darme de baja",
			"Quiten mi número de su lista", "ya no me manden nada", "No me escriban más", "sáquenme de esta lista",
			"No más mensajes", "no me interesa, no me escriban", "Por favor dejen de enviarme publicidad", "Baja, gracias. José",
			"Quiero que me borren de su lista", "quiero ser eliminada de la lista", "Déjenme en paz", "ya basta",
			"olviden mi número", "Quiero que me quiten de la lista",
		},
	},
	"pt": {
		plain: []string{
			"SAIR", "sair!", "PARE", "pare por favor", "parar mensagens", "Pare de me enviar mensagens",
			"parem de me mandar mensagens", "Não quero mais receber mensagens", "descadastrar", "me descadastre por favor",
			"quero me descadastrar", "cancelar inscrição", "remover", "Quero sair da lista", "não me mande mais mensagens",
			"chega de mensagens", "interromper", "Descadastrar\n\nEnviado do meu iPhone",
			"SAIR\nAna Paula", "Basta!",
		},
		hard: []string{
			"Oi, bom dia! Não quero receber mais mensagens, obrigada", "tirem meu número da lista",
			"me remova da sua lista, por favor", "Cancele meu cadastro", "não tenho interesse, pode parar de enviar",
			"não quero receber", "para de me mandar mensagem", "quero descadastrar meu número", "quero parar de receber mensagens",
			"por favor me retire da lista",
			"Parem de me mandar mensagem", "não quero mais receber", "me tira dessa lista", "Cancelar inscrição por favor", "Pare!",
			"por favor não me mande mais nada", "parar", "Quero me descadastrar", "para de mandar mensagem", "remova meu número",
			"STOP\nAna Paula", "Quero ser removido da lista", "me deixem em paz", "Sair\nJoão da Silva",
			"Parem de me enviar mensagens, obrigada, Ana", "quero que me tirem da lista", "esqueçam meu número",
		},
	},
}

// others are texts of people who want something else.
var others = judged{
	"en": {
		plain: []string{
			"don't stop", "Do not stop sending me offers", "stop by the shop", "I'll stop by tomorrow", "where is the bus stop?",
			"the stop is closed", "can't stop laughing", "Is it a non-stop flight?", "cancel my order",
			"please cancel order 123", "I want to cancel my appointment", "end of the month?", "the end", "When does the tour end?",
			"I quit my job", "remove the onions please", "the payment did not stop", "How do I start?",
			"I want to opt out of the tour", "unstoppable",
		},
		hard: []string{
			"stop sending me the wrong bill", "Stop sending the parcel to my old address", "stop calling me Mike",
			"Don't unsubscribe me", "I did not unsubscribe!", "no more tickets?", "take me off the waiting list", "Stop it, you are funny",
			"stop, the car is here", "st op", "stopp", "no messages arrive any more", "end?",
			"stop the subscription to the magazine", "I'd like to stop my order", "no more spam filters",
			"I don't want notifications for order 5", "stop texting me in English",
			"unsubscribe button is broken", "take me off the hook", "leave me alone with him", "Stop\nthe car",
			"Don't stop, I like these", "Which stop should I get off at?", "I want out of the 9am slot, can I move to 10?",
			"Can you stop by tomorrow?", "My card stopped working", "Please cancel my order 4471", "Where is the bus stop\nThanks",
			"The noise won't stop", "Please end the call at 5, I have a meeting", "Did my brother unsubscribe?",
			"STOP sign on Main Street is gone", "stop\nat the corner please", "Out of stock?", "I want out-of-network cover",
			"When does the sale end?", "Stop\nTomorrow", "Get me out of here", "keep me out of the sun", "I want out of the tour",
			"Quit sending the parcel to John", "Can it be removed?", "Cancel\nGolden Gate Tour",
			"Did you lose my number?", "I'm out", "I want out?", "Stop by later. Thanks, John", "enough",
		},
	},
	"es": {
		plain: []string{
			"no pares", "no me des de baja", "baja la música", "baja de peso", "¿Está en la planta baja?", "estoy de baja médica",
			"es muy alto", "Cancelar mi pedido", "quiero cancelar la cita", "¿Puede parar mañana?",
			"para mañana", "alta costura", "¿Dónde para el autobús?", "detener el pago", "no quiero más azúcar", "no cancelen mi cita",
		},
		hard: []string{
			"Quiero dar de baja la línea", "quiero dar de baja mi seguro", "no me llegan más mensajes", "no recibo más mensajes",
			"ya no quiero la reserva", "no quiero que sea el alto", "Cancelar\nPedido 123", "me doy de baja del gimnasio",
			"no quiero ofertas de trabajo", "no me escriban en inglés", "no me envíen el paquete", "para ya el coche",
			"Basta con enviar el DNI?", "¿Dónde está la parada?", "Quiero dar de baja la línea de internet de mi madre",
			"baja el precio y lo compro", "No puedo parar de reír", "la planta baja por favor", "quiero cancelar mi cita del martes",
			"Estoy de baja médica", "No dejen de avisarme", "Ya basta con eso, mándame la factura", "Alto ahí, ¿cuánto cuesta?",
			"Parar\nen la esquina", "quiero salir a las 5", "Con eso basta", "Basta ya de promesas, ¿cuándo llega?", "Baja\nMúsica",
			"¿Basta?", "Basta de azúcar", "quiero ser socia", "quiero que me quiten la cebolla", "Cancelar\nReserva Hotel Sol",
			"me borren el pedido", "Con eso basta, gracias. Ana",
		},
	},
	"pt": {
		plain: []string{
			"não pare", "parar de chover", "Vai parar de chover?", "quero sair amanhã", "pare aqui por favor", "pare o carro",
			"quero sair do hotel às 10", "posso sair mais tarde?", "cancelar meu pedido", "Quero cancelar a reserva",
			"remover um item do pedido", "não quero mais o produto", "a que horas vai sair?", "sair de férias",
		},
		hard: []string{
			"não recebi mais mensagens", "interromper o tratamento?", "descadastrar meu cartão",
			"não quero sair da lista de espera", "cancele meu cadastro de cartão", "chega de açúcar", "quero sair mais cedo",
			"remova a cebola", "cancelar envio", "não quero mais",
			"Pode parar na frente do portão", "Vou sair agora, chego às 8", "quero cancelar o pedido", "O remédio fez parar a dor",
			"Chega amanhã?", "Não quero mais o azul, quero o vermelho", "A que horas vocês param?", "sair às 7 ou às 8?",
			"quando chega o pacote", "não parem de mandar as ofertas", "Pare\nna esquina", "Sair pela porta 3", "Não chega?",
			"para quando?", "quero sair do plano básico para o premium", "Sair\nAmanhã", "Chega, obrigado",
			"quero ser avisado", "quero que me tirem uma dúvida", "Parar\nSão Paulo", "me deixem na porta",
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
	for _, text := range []string{
		strings.Repeat("stop ", 200), "stop\n" + strings.Repeat("Ana\n", 200), strings.Repeat("\u0301", 100_000), "",
	} {
		if got := wishOf(text); got.wish != "" {
			t.Errorf("a text of %d bytes asks for %q", len(text), got.wish)
		}
	}
}
