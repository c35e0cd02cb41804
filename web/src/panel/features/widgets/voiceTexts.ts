import { dictionary } from "../../i18n";

/** Texts of voice widgets alone. */
export const voiceTexts = dictionary({
  chatHelp: "Visitors write; an agent or a teammate answers.", voiceHelp: "Visitors talk aloud with an agent, in the browser, or write to it.",
  welcomeHelp: "Spoken when the conversation begins, and shown before it", nameHelp: "Visitors hear it where a screen reader reads the button out, unless Words has another", colourHelp: "Of the button, and of what moves while somebody talks",
  animation: "Animation of the button", animationHelp: "Visitors who asked their system for less motion do not see it.", none: "None", pulse: "Pulse",
  agentNeeded: "Without an agent nobody answers a visitor who talks.", elsewhere: "This agent talks through ElevenLabs: what it says and hears goes there, and teammates cannot take over.", deaf: "This agent does not understand speech: visitors type or tap, and it answers aloud.", change: "Change the agent’s voice",
  textInput: "Let visitors write too", textInputHelp: "Beside talking; and for those without a microphone, who otherwise cannot say anything.", transcript: "Show what is said", transcriptHelp: "Captions of both sides. People who do not hear well need them.",
  terms: "Consent", termsHelp: "Visitors agree to this text before they talk, for example to a recording. Empty: nothing is asked.", person: "Offer a person", personHelp: "Visitors can ask for a teammate, who answers aloud or in writing.",
  overrides: "What the page may change", overridesHelp: "By the page that embeds the widget, or the program that connects to it.", language: "Language", text_only: "Writing only", first_message: "First words", voice: "Voice and speed",
  tagHelp: "Put this tag before the end of the body, on each page that shows the button. The attribute language-lovi names the language; without it, the browser’s is used.",
  policy: "If your pages have a content security policy, allow this:", frames: "A page that frames yours has to let the microphone through: allow=\"microphone; autoplay\". Browsers give a microphone only to pages with https, and to localhost.",
  copyPolicy: "Copy the policy", previewTitle: "How the voice widget looks", screen: "What it shows", before: "Before", during: "Talking", after: "After", buttonName: "What the button is called", try: "Try it on an empty page", tryHelp: "Opens a page of its own with this tag.", tryKey: "Make a key first: the page needs one.",
}, {
  chatHelp: "Los visitantes escriben; responde un agente o una persona.", voiceHelp: "Los visitantes hablan en voz alta con un agente, en el navegador, o le escriben.",
  welcomeHelp: "Se dice al empezar la conversación, y se muestra antes", nameHelp: "Los visitantes la oyen si un lector de pantalla lee el botón, salvo que en Textos haya otro", colourHelp: "Del botón y de lo que se mueve mientras alguien habla",
  animation: "Animación del botón", animationHelp: "Quien ha pedido menos movimiento a su sistema no la ve.", none: "Ninguna", pulse: "Pulso",
  agentNeeded: "Sin un agente nadie responde a un visitante que habla.", elsewhere: "Este agente habla a través de ElevenLabs: lo que dice y oye pasa por allí, y nadie del equipo puede tomar el relevo.", deaf: "Este agente no entiende el habla: los visitantes escriben o tocan, y él responde en voz alta.", change: "Cambiar la voz del agente",
  textInput: "Permitir también escribir", textInputHelp: "Además de hablar; y para quien no tiene micrófono, que si no, no puede decir nada.", transcript: "Mostrar lo que se dice", transcriptHelp: "Subtítulos de ambos lados. Los necesitan quienes no oyen bien.",
  terms: "Consentimiento", termsHelp: "Los visitantes aceptan este texto antes de hablar, por ejemplo una grabación. Vacío: no se pregunta nada.", person: "Ofrecer una persona", personHelp: "Los visitantes pueden pedir una persona, que responde de viva voz o por escrito.",
  overrides: "Lo que la página puede cambiar", overridesHelp: "La página que inserta el widget, o el programa que se conecta a él.", language: "Idioma", text_only: "Solo texto", first_message: "Primeras palabras", voice: "Voz y velocidad",
  tagHelp: "Ponga esta etiqueta antes del final del body, en cada página que muestre el botón. El atributo language-lovi indica el idioma; sin él, se usa el del navegador.",
  policy: "Si sus páginas tienen una política de seguridad de contenido, permita esto:", frames: "Una página que enmarca la suya tiene que dejar pasar el micrófono: allow=\"microphone; autoplay\". Los navegadores solo dan micrófono a páginas con https, y a localhost.",
  copyPolicy: "Copiar la política", previewTitle: "Cómo se ve el widget de voz", screen: "Lo que muestra", before: "Antes", during: "Hablando", after: "Después", buttonName: "Cómo se llama el botón", try: "Probarlo en una página vacía", tryHelp: "Abre una página propia con esta etiqueta.", tryKey: "Cree antes una clave: la página la necesita.",
}, {
  chatHelp: "Os visitantes escrevem; responde um agente ou uma pessoa.", voiceHelp: "Os visitantes falam em voz alta com um agente, no navegador, ou escrevem-lhe.",
  welcomeHelp: "Dita ao começar a conversa, e mostrada antes", nameHelp: "Os visitantes ouvem-no se um leitor de ecrã lê o botão, salvo se em Textos houver outro", colourHelp: "Do botão e do que se move enquanto alguém fala",
  animation: "Animação do botão", animationHelp: "Quem pediu menos movimento ao sistema não a vê.", none: "Nenhuma", pulse: "Pulsação",
  agentNeeded: "Sem um agente ninguém responde a um visitante que fala.", elsewhere: "Este agente fala através da ElevenLabs: o que diz e ouve passa por lá, e ninguém da equipa pode assumir.", deaf: "Este agente não entende a fala: os visitantes escrevem ou tocam, e ele responde em voz alta.", change: "Mudar a voz do agente",
  textInput: "Permitir também escrever", textInputHelp: "Além de falar; e para quem não tem microfone, que de outro modo não pode dizer nada.", transcript: "Mostrar o que se diz", transcriptHelp: "Legendas dos dois lados. Quem não ouve bem precisa delas.",
  terms: "Consentimento", termsHelp: "Os visitantes aceitam este texto antes de falar, por exemplo uma gravação. Vazio: nada é perguntado.", person: "Oferecer uma pessoa", personHelp: "Os visitantes podem pedir uma pessoa, que responde de viva voz ou por escrito.",
  overrides: "O que a página pode mudar", overridesHelp: "A página que insere o widget, ou o programa que se liga a ele.", language: "Idioma", text_only: "Só texto", first_message: "Primeiras palavras", voice: "Voz e velocidade",
  tagHelp: "Ponha esta etiqueta antes do fim do body, em cada página que mostre o botão. O atributo language-lovi indica o idioma; sem ele, usa-se o do navegador.",
  policy: "Se as suas páginas têm uma política de segurança de conteúdo, permita isto:", frames: "Uma página que emoldura a sua tem de deixar passar o microfone: allow=\"microphone; autoplay\". Os navegadores só dão microfone a páginas com https, e a localhost.",
  copyPolicy: "Copiar a política", previewTitle: "Como se vê o widget de voz", screen: "O que mostra", before: "Antes", during: "A falar", after: "Depois", buttonName: "Como se chama o botão", try: "Experimentar numa página vazia", tryHelp: "Abre uma página própria com esta etiqueta.", tryKey: "Crie primeiro uma chave: a página precisa dela.",
});
