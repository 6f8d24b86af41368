/** What a review came to. */
export interface ReviewVerdict {
  readonly isVetoed: boolean;
  readonly reason: string;
}

const VERDICT =
  /^[\s*_`>#-]*VERDICT:[\s*_`]*(?<word>PASS|VETO)\b[\s*_`:.,;\u2013\u2014-]*(?<reason>.*?)[\s*_`]*$/i;

/** The verdict in the last line of what a model has said; undefined if there is none, or a veto without a reason. */
export function reviewVerdict(said: string): ReviewVerdict | undefined {
  const line = said.trimEnd().split('\n').at(-1) ?? '';
  const { word, reason = '' } = VERDICT.exec(line)?.groups ?? {};
  if (word === undefined) return undefined;
  const isVetoed = word.toUpperCase() === 'VETO';
  const before = said.trimEnd().split('\n').slice(0, -1).join('\n').trim();
  const whole = reason === '' ? before : reason;
  return isVetoed && whole === '' ? undefined : { isVetoed, reason: whole };
}
