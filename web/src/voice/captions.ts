// How much of a text has been spoken when so many milliseconds of its sound have been played. Nothing says where in the sound a
// word is: it goes by the pace of the voice, which is learnt from what has been spoken whole.

const first = 14.5; // characters a second
const ahead = 250; // milliseconds: a word is shown as it begins

export class Captions {
  private pace = first;

  /** spoken returns how many characters of a text have been spoken; whole words. */
  spoken(text: string, ms: number): number {
    if (ms <= 0) return 0;
    const at = ((ms + ahead) / 1000) * this.pace;
    if (at >= text.length) return text.length;
    const end = text.slice(Math.ceil(at)).search(/\s/);
    return end < 0 ? text.length : Math.ceil(at) + end;
  }

  /** learn takes in that a text took so long. */
  learn(text: string, ms: number): void {
    if (text.length < 20 || ms < 1000) return;
    const pace = text.length / (ms / 1000);
    if (pace > 6 && pace < 40) this.pace = 0.5 * this.pace + 0.5 * pace;
  }
}
