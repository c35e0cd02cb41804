package knowledge

// lights are the folded words of each language that say little about the subject of a question.
//
//nolint:gochecknoglobals // read-only
var lights = map[string]map[string]bool{
	"en": setOf(`time times day days week weeks thing things way ways kind sort still nearby near now today tonight tomorrow yesterday
		use used using work works working make makes made come comes coming bring put see look show gives three two one first
		new old good best better able another back around up down out off if bit early soon people person place name number part
		type turn try keep happen called call mean means start later always never ever usually normally really actually also own
		same different main while during between after before more most less than because through where's u ur whats whens
		wheres hows til dont cant arent im you're must since each other others such within per yet again else enough quite maybe
		perhaps sometimes often left right both few several long got gets going want wanted`),
	"es": setOf(`tiempo vez veces dia dias semana semanas cosa cosas forma manera tipo aun ahora hoy manana ayer usar uso usa usan vale
		bueno buena bien mejor nuevo nueva primer primera primero dos tres uno gente persona personas lugar sitio nombre numero
		parte poner ver mirar dar dan venir viene traer llevar lleva llevan salir sale quedar queda otro otra mismo misma
		distinto siempre nunca normalmente despues antes durante mientras segun dentro fuera cada alguna alguno algunos algunas
		cualquier aqui alli ahi tanto tan luego casi medio principal principales ocurre ocurrio llama llamaba existe hizo`),
	"pt": setOf(`tempo vez vezes dia dias semana semanas coisa coisas forma maneira tipo ainda agora hoje amanha ontem usar uso usa usam
		bem melhor novo nova primeiro primeira dois tres um gente pessoa pessoas lugar nome numero parte por ver olhar dar dao
		vir vem trazer levar leva sair sai ficar fica mesmo mesma diferente sempre nunca normalmente depois antes durante
		enquanto segundo dentro fora cada alguma algum alguns algumas qualquer aqui ali tanto tao logo quase meio principal
		principais ocorre ocorreu chama existe vcs vc pra pro tava ta ne queria consigo consegue da rola`),
}
