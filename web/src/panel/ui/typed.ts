import { useEffect, useRef, useState } from "react";

/**
 * useTyped is the text of a field whose value the address holds: it follows when the typing pauses. Until then, and while the address is
 * behind, the text is the field's own: nothing that is typed is taken away. of is what the address gets; undefined: nothing yet.
 */
export function useTyped(
  value: string,
  change: (to: string) => void,
  pause: number,
  of: (text: string) => string | undefined = (s) => s.trim(),
) {
  const [text, setText] = useState(value);
  const given = useRef([value]); // what the field has asked for, the last of it still to come
  const changes = useRef(change);
  changes.current = change;
  useEffect(() => {
    const at = given.current.indexOf(value);
    if (at >= 0) {
      given.current = given.current.slice(at);
      return;
    }
    given.current = [value]; // somebody else changed it: a link, a button, the way back
    setText(value);
  }, [value]);
  const wanted = of(text);
  useEffect(() => {
    if (wanted === undefined || wanted === given.current.at(-1)) return;
    const timer = setTimeout(() => {
      given.current.push(wanted);
      changes.current(wanted);
    }, pause);
    return () => clearTimeout(timer);
  }, [wanted, pause]);
  return [text, setText] as const;
}
