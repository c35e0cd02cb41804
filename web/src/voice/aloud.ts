// The browser's own voice, for an installation that cannot speak.

export class Aloud {
  constructor(
    private readonly language: string,
    private readonly speech: SpeechSynthesis | undefined = typeof speechSynthesis === "undefined"
      ? undefined
      : speechSynthesis,
  ) {
    speech?.getVoices(); // some browsers load them only then
  }

  private voice(): SpeechSynthesisVoice | undefined {
    const own = (this.speech?.getVoices() ?? []).filter(
      (v) => v.lang.slice(0, 2).toLowerCase() === this.language.slice(0, 2).toLowerCase(),
    );
    return own.find((v) => v.localService) ?? own[0];
  }

  /** say speaks, and reports whether the browser has a voice of the language. */
  say(text: string, spoken: (characters: number) => void, done: () => void): boolean {
    const voice = this.voice();
    if (!voice || !this.speech) return false;
    const u = new SpeechSynthesisUtterance(text);
    u.voice = voice;
    u.lang = voice.lang;
    u.onboundary = (e) => spoken(e.charIndex + (e.charLength ?? 0));
    u.onend = u.onerror = done;
    this.speech.speak(u);
    return true;
  }

  stop(): void {
    this.speech?.cancel();
  }
}
