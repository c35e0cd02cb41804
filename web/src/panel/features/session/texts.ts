import { dictionary } from "../../i18n";

export const texts = dictionary({
  signIn: "Sign in", about: "Administration of your company", email: "E-mail", password: "Password", wrong: "E-mail or password is wrong", limited: "Too many attempts. Try again in {n} seconds.",
  setUp: "Set up Carillon", setUpAbout: "Nobody can sign in yet. Make the first owner with the one-time token that the program printed when it started.",
  token: "One-time token", tokenHelp: "It begins with first_. Each start without an owner prints another one.", tokenBad: "This token is not valid any more. Start Carillon again to get another one.",
  company: "Company", name: "Your name", newPassword: "A password of your own", newHelp: "At least 12 characters. A few words are easy to remember.", make: "Make the owner and sign in",
  short: "At least 12 characters", emailBad: "Check the e-mail address", already: "Carillon is set up already.", toSignIn: "Go to the sign-in", show: "Show or hide the password",
}, {
  signIn: "Iniciar sesión", about: "Administración de su empresa", email: "Correo electrónico", password: "Contraseña", wrong: "El correo o la contraseña no son correctos", limited: "Demasiados intentos. Vuelva a intentarlo en {n} segundos.",
  setUp: "Configurar Carillon", setUpAbout: "Todavía no puede entrar nadie. Cree el primer propietario con el código de un solo uso que el programa mostró al iniciarse.",
  token: "Código de un solo uso", tokenHelp: "Empieza por first_. Cada inicio sin propietario muestra otro.", tokenBad: "Este código ya no vale. Inicie Carillon otra vez para obtener otro.",
  company: "Empresa", name: "Su nombre", newPassword: "Una contraseña propia", newHelp: "Al menos 12 caracteres. Unas pocas palabras se recuerdan bien.", make: "Crear el propietario y entrar",
  short: "Al menos 12 caracteres", emailBad: "Revise el correo electrónico", already: "Carillon ya está configurado.", toSignIn: "Ir al inicio de sesión", show: "Mostrar u ocultar la contraseña",
}, {
  signIn: "Entrar", about: "Administração da sua empresa", email: "E-mail", password: "Senha", wrong: "O e-mail ou a senha não estão certos", limited: "Tentativas demais. Tente de novo dentro de {n} segundos.",
  setUp: "Configurar o Carillon", setUpAbout: "Ainda ninguém pode entrar. Crie o primeiro proprietário com o código de uso único que o programa mostrou ao iniciar.",
  token: "Código de uso único", tokenHelp: "Começa por first_. Cada início sem proprietário mostra outro.", tokenBad: "Este código não é mais válido. Inicie o Carillon de novo para obter outro.",
  company: "Empresa", name: "Seu nome", newPassword: "Uma senha sua", newHelp: "Pelo menos 12 caracteres. Algumas palavras são fáceis de lembrar.", make: "Criar o proprietário e entrar",
  short: "Pelo menos 12 caracteres", emailBad: "Verifique o e-mail", already: "O Carillon já está configurado.", toSignIn: "Ir para o login", show: "Mostrar ou ocultar a senha",
});
