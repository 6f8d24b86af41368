import type { CountTokens } from './count-tokens.ts';
import { cutText } from './cut-text.ts';
import type { ConversationTurn, ToolOutcome } from './conversation.ts';

/** Tokens of the role, the separators and the name of each turn. */
const TOKENS_A_TURN = 8;
/** What is left of a tool's answer at least, in characters. */
const LEAST_CHARS = 200;

/** Tokens of what was said, as they are estimated. */
export const tokensOf = (said: readonly ConversationTurn[], count: CountTokens): number =>
  said.reduce((sum, one) => sum + TOKENS_A_TURN + count(JSON.stringify(one)), 0);

/**
 * What was said, in at most `maxTokens` by estimate, as far as it can be shortened to that:
 *
 * 1. The first turn, which is the work, and the newest ones stay; from the oldest on, rounds in between are left out (what
 *    the model said with everything that came of its calls), and a sentence says how many turns those were.
 * 2. If the last round alone is too long, the answers of its tools are cut, each to the same length, down to 200 characters.
 * 3. If that is too long still, the first turn is cut.
 */
export function shortenHistory(
  said: readonly ConversationTurn[],
  maxTokens: number,
  count: CountTokens,
): readonly ConversationTurn[] {
  if (tokensOf(said, count) <= maxTokens) return said;
  const [first, ...later] = said;
  if (first === undefined) return said;
  const rounds = roundsOf(later);
  let whole = said;
  for (let left = 1; left < rounds.length; left += 1) {
    const kept = rounds.slice(left).flat();
    whole = [withNote(first, later.length - kept.length), ...kept];
    if (tokensOf(whole, count) <= maxTokens) return whole;
  }
  const cut = withShorterTools(whole, maxTokens, count);
  return tokensOf(cut, count) <= maxTokens ? cut : withShorterWork(cut, maxTokens, count);
}

/** Rounds begin with a reply of the model. Calls and their results stay together. */
function roundsOf(said: readonly ConversationTurn[]): ConversationTurn[][] {
  const rounds: ConversationTurn[][] = [];
  for (const one of said) {
    const round = rounds.at(-1);
    if (one.by === 'model' || round === undefined) rounds.push([one]);
    else round.push(one);
  }
  return rounds;
}

const withNote = (first: ConversationTurn, turns: number): ConversationTurn =>
  first.by === 'user'
    ? { by: 'user', text: `${first.text}\n\n[${turns} turns of this conversation are left out here]` }
    : first;

function withShorterTools(
  said: readonly ConversationTurn[],
  maxTokens: number,
  count: CountTokens,
): readonly ConversationTurn[] {
  const texts = said.flatMap((one) => (one.by === 'tools' ? one.results : []));
  let chars = Math.max(LEAST_CHARS, ...texts.map(({ text }) => text.length));
  let cut = said;
  while (chars > LEAST_CHARS && tokensOf(cut, count) > maxTokens) {
    chars = Math.max(LEAST_CHARS, Math.floor(chars / 2));
    cut = said.map((one) =>
      one.by === 'tools' ? { ...one, results: one.results.map(shortTo(chars)) } : one,
    );
  }
  return cut;
}

const shortTo =
  (chars: number) =>
  (result: ToolOutcome): ToolOutcome => ({ ...result, text: cutText(result.text, chars) });

function withShorterWork(
  [first, ...later]: readonly ConversationTurn[],
  maxTokens: number,
  count: CountTokens,
): ConversationTurn[] {
  if (first?.by !== 'user') return first === undefined ? later : [first, ...later];
  let chars = first.text.length;
  let work: ConversationTurn = first;
  while (chars > LEAST_CHARS && tokensOf([work, ...later], count) > maxTokens) {
    chars = Math.max(LEAST_CHARS, Math.floor(chars / 2));
    work = { by: 'user', text: cutText(first.text, chars) };
  }
  return [work, ...later];
}
