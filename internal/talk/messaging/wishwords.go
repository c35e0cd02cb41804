package messaging

import (
	"regexp"
	"strings"
)

// form is the wording of a wish in a language. Sentences match regardless of case, accents, punctuation and polite
// words.
type form struct {
	wish     wish
	language string
	answer   bool // the words are also ordinary answers
	words    *regexp.Regexp
}

// parts are shared by several sentences.
var parts = strings.NewReplacer( //nolint:gochecknoglobals // read only
	"{want}", `(?:(?:i (?:want|wish|would like|d like|need)(?: to)?|i wanna|can you|could you|would you|can i) )?`,
	"{messages}", `(?:(?:any|all|these|this|those|the|your|such|more|of|marketing|promotional|further) )*(?:messages?|texts?|sms`+
		`|spam|ads|advertising|promotions?|offers?|notifications?|newsletters?|marketing)`,
	"{list}", `(?:(?:all|this|these|the|your|any|that|mailing|marketing|contact) )*(?:lists?|messages?|texts?|notifications?`+
		`|newsletters?|database|promotions?|marketing|everything)`,
	"{again}", `(?: (?:again|any ?more|ever|at all|any longer|from you))*`,

	"{quiero}", `(?:(?:de|(?:yo )?(?:quiero|quisiera|deseo|necesito|me gustaria|solicito|pido|puede|pueden|podria|podrian)(?: que)?) )?`,
	"{mensajes}", `(?:(?:mas|sus|estos|esos|los|las|de|este|tipo|ningun|ninguna|tantos|su|la|recibir) )*(?:mensajes?|sms|publicidad`+
		`|promociones|spam|notificaciones|ofertas|anuncios|propaganda|comunicaciones)`,
	"{lista}", `(?:del? (?:(?:esta|la|su|sus|estas|las|los|estos|el|este|todos|todas) )*(?:listas?|mensajes?|suscripcion|boletin`+
		`|notificaciones|promociones|publicidad|base de datos|contactos))`,

	"{quero}", `(?:(?:eu )?(?:quero|queria|gostaria de|desejo|preciso|pode|podem) )?`,
	"{mensagens}", `(?:(?:mais|suas|estas|essas|as|de|esse|este|tipo|nenhuma|tantas|sua|a|os) )*(?:mensage(?:m|ns)|sms|publicidade`+
		`|promocoes|spam|notificacoes|ofertas|anuncios|propagandas?)`,
	"{dalista}", `(?:(?:d[aeo]s?|desta|dessa) (?:(?:sua|suas|esta|todas|as) )*(?:listas?(?: de (?:mensagens|transmissao|contatos`+
		`|envio))?|mensagens|promocoes|notificacoes|contatos|base de dados))`,
)

// worded returns the form of a wish with the given sentences.
func worded(w wish, language string, answer bool, sentences ...string) form {
	return form{w, language, answer, regexp.MustCompile("^(?:" + parts.Replace(strings.Join(sentences, "|")) + ")$")}
}

// forms are the wordings of all wishes. The English ones include those of 47 CFR 64.1200(a)(10).
var forms = []form{ //nolint:gochecknoglobals // read only
	worded(stop, "en", false,
		`(?:no |i said )?stop(?: (?:all|everything|spamming|texting|messaging|{messages}))?`, `stopall`, `end all`,
		`{want}(?:unsubscribe|unsub|opt ?out)(?: me| us)?(?: (?:from|of) (?:all|{list}))?`, `{want}opt (?:me|us) out(?: of {list})?`,
		`{want}(?:remove|delete) (?:me|my number|my phone number|this number)(?: (?:off|from) {list})?`,
		`{want}take (?:me|my number) (?:off|from) {list}`,
		`{want}be (?:removed|deleted|unsubscribed|taken off|opted out)(?: (?:from|off|of)? ?{list})?`,
		`{want}(?:(?:get|take|keep|leave|let) me )?out of {list}`,
		`{want}(?:lose|forget|erase) my (?:phone )?number`,
		`{want}(?:stop|quit|cease) (?:sending|messaging|texting|writing|contacting|spamming|bothering|harassing)(?: to)?(?: me| us)?`+
			`(?: {messages}|(?: these| this| anything)(?: crap| stuff| junk)?)?{again}`,
		`(?:do not|don t|never) (?:ever )?(?:message|text|contact|spam|write to) (?:me|us){again}`,
		`(?:do not|don t|never) send (?:me|us) (?:{messages}|anything){again}`,
		`no more {messages}{again}`, `i (?:do not|don t|no longer) (?:want|wish|need)(?: to (?:receive|get|see))? {messages}{again}`,
		`i revoke(?: my)? consent`, `leave me alone`,
	),
	worded(stop, "en", true, `quit`, `end`, `cancel`, `revoke`, `remove`, `i want out`, `(?:get|let) me out`),
	worded(stop, "es", false,
		`baja`, `{quiero}(?:darme|dame|deme|denme|me den|me de|dadme|dar|darse|solicitar|solicito|pedir|pido)(?: (?:de|la`+
			`|mi))? baja(?: {lista})?`,
		`{quiero}(?:desuscribirme|desuscribir|desuscribeme|desuscribanme)(?: {lista})?`,
		`{quiero}(?:cancelar|cancelen|anular) (?:la |mi )?suscripcion`,
		`stop {mensajes}`, `{quiero}dejar de recibir(?: {mensajes})?`,
		`no (?:vuelvan?|volver) a (?:escribir|enviar|mandar|contactar)(?:me|nos)?(?: {mensajes})?`,
		`no (?:enviar|mandar)(?:me|nos)? {mensajes}`, `no mas {mensajes}`,
		`no (?:quiero|deseo|queremos|necesito)(?: recibir)? {mensajes}(?: de ustedes| mas)*`,
		`no quiero que me (?:escriban|contacten|molesten)(?: mas)?`,
		`no me (?:escriban?|escribas|contacten?|molesten?)(?: mas| nunca| nada)*`,
		`no me (?:envien?|envies|manden?|mandes)(?: mas)?(?: nada| {mensajes})(?: mas)?`,
		`(?:dejen?|deja|paren?|para|basta) de (?:escribir|enviar|mandar|molestar|contactar)(?:me|nos)?(?: {mensajes})?`,
		`basta de {mensajes}`,
		`{quiero}(?:borr|elimin|quit|saqu|sac)(?:en|e|a|ar)(?:me|nos)? {lista}`,
		`{quiero}(?:borr|elimin|quit|saqu|sac)(?:en|e|a|ar) (?:mi numero|mi telefono|mi contacto)(?: {lista})?`,
		`{quiero}ser (?:eliminad|borrad|removid|quitad|sacad|dad)[oa](?: de baja)?(?: {lista})?`,
		`{quiero}me (?:borren|eliminen|quiten|saquen) {lista}`, `{quiero}(?:olviden|borren|pierdan) mi numero`,
		`(?:dejenme|dejeme|dejame) (?:en paz|tranquil[oa])`,
		`detener (?:promociones|mensajes)`,
	),
	worded(stop, "es", true, `alto`, `parar`, `detener`, `cancelar`, `basta`),
	worded(stop, "pt", false,
		`{quero}sair(?: {dalista})?`, `parar {mensagens}`,
		`{quero}(?:pare|parem|para|parar|deixe|deixem) de (?:me |nos )?(?:enviar|mandar|escrever|incomodar|perturbar`+
			`|contatar)(?: {mensagens})?`,
		`{quero}(?:parar|deixar) de receber(?: {mensagens})?`, `{quero}cancelar (?:o )?(?:recebimento|envio) {mensagens}`,
		`nao (?:quero|desejo|queremos)(?: mais)? receber(?: mais)?(?: nada)?`,
		`nao (?:enviar|mandar) (?:mais|{mensagens})`,
		`nao (?:quero|desejo|queremos)(?: mais)?(?: receber)? {mensagens}(?: mais| de voces)*`,
		`nao me (?:mandem?|enviem?)(?: mais)?(?: nada| {mensagens})(?: mais)?`,
		`nao me (?:escrevam?|contatem?|incomodem?|perturbem?)(?: mais)?`, `chega de {mensagens}`,
		`{quero}(?:me )?(?:descadastrar|descadastre|descadastrem|desinscrever|desinscreva)(?: me| (?:o )?meu (?:numero|contato`+
			`|telefone))?(?: {dalista})?`,
		`{quero}(?:cancelar|cancele|cancelem) (?:a |minha |meu )?(?:inscricao|cadastro)`,
		`(?:me )?(?:remov|tir|retir|exclu|apagu)(?:a|am|e|em)(?: me)? {dalista}`,
		`(?:remov|tir|retir|exclu|apagu)(?:a|am|e|em) (?:o )?meu (?:numero|contato|telefone)(?: {dalista})?`,
		`{quero}(?:ser |que me )(?:removid[oa]|retirad[oa]|excluid[oa]|descadastrad[oa]|tirem|removam|excluam)(?: {dalista})?`,
		`{quero}(?:esquecam|apaguem|percam) (?:o )?meu numero`, `(?:me )?deix(?:em|e|a)(?: me)? em paz`,
		`interromper (?:promocoes|mensagens)`,
	),
	worded(stop, "pt", true, `pare`, `parem`, `parar`, `cancelar`, `remover`, `interromper`, `basta`),
	worded(start, "en", false,
		`start(?: (?:again|messages|me))?`, `unstop`, `{want}(?:subscribe|resubscribe|opt ?in)(?: me)?(?: again)?`,
		`resume(?: promotions| messages)?`,
		`{want}start (?:sending|messaging|texting)(?: me)?(?: {messages})?(?: again)?`, `{want}(?:receive|get) {messages}(?: again)?`,
	),
	worded(start, "es", false,
		`alta`, `{quiero}(?:darme|dame|deme|denme) de alta`, `iniciar`, `{quiero}suscribirme(?: otra vez| de nuevo)?`,
		`reanudar(?: promociones| mensajes)?`,
		`{quiero}recibir {mensajes}(?: otra vez| de nuevo)?`,
	),
	worded(start, "pt", false,
		`voltar`, `{quero}(?:voltar a )?receber {mensagens}(?: de novo)?`, `{quero}(?:me )?(?:inscrever|inscreva|reinscrever)(?: me)?`,
		`iniciar mensagens`, `retomar(?: promocoes| mensagens)?`,
	),
}
