/** Characters that change the order of others, hide, or move the cursor: whoever writes them may pretend to be somebody else. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u115F\u1160\u3164\uFFA0]|\p{Cs}/gu;

/** A text from outside as it may be shown: what could not be seen stands there as `⟨U+202E⟩`, and it has at most `max` characters. */
export function shownText(text: string, max = 200): string {
  const cut = text.length <= max ? text : `${text.slice(0, max - 1)}…`;
  return cut.replace(UNSEEN, (sign) =>
    sign === '\n' || sign === '\t'
      ? ' '
      : `⟨U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`,
  );
}
