import type { CountTokens } from './count-tokens.ts';
import type { Tokens } from './prices.ts';
import type { ConversationTurn } from './conversation.ts';
import { shortenHistory, tokensOf } from './shorten-history.ts';

/** What a call of the model may be: what is said, and how much it may answer. */
export interface PlannedCall {
  readonly said: readonly ConversationTurn[];
  readonly maxOutputTokens: number;
  /** What it may cost. */
  readonly estimate: Tokens;
}

/**
 * What a plan is made of.
 *
 * - `fixedTokens`      of what goes along with every call: instructions, tools, schema.
 * - `maxContextTokens` of instructions, tools, conversation and answer together.
 * - `count`            estimates tokens.
 */
export interface PlanningFacts {
  readonly said: readonly ConversationTurn[];
  readonly fixedTokens: number;
  readonly maxContextTokens: number;
  readonly maxOutputTokens: number;
  readonly count: CountTokens;
}

/** The least room for an answer, in tokens. */
const LEAST_OUTPUT = 64;
/** How often the room for an answer is halved until the call can be paid. */
const HALVINGS = 6;

/** The call with as much room for the answer as `canPay` lets it have; undefined when it cannot be paid at all. */
export function planCall(
  facts: PlanningFacts,
  canPay: (call: PlannedCall) => boolean,
): PlannedCall | undefined {
  for (const maxOutputTokens of sizesOf(facts.maxOutputTokens)) {
    const call = callWith(facts, maxOutputTokens, facts.maxContextTokens);
    if (canPay(call)) return call;
  }
  return undefined;
}

/**
 * The last call: its answer matters more than what it is made from, so that the conversation is shortened before the
 * answer is.
 */
export function planLastCall(
  facts: PlanningFacts,
  canPay: (call: PlannedCall) => boolean,
): PlannedCall | undefined {
  for (const maxOutputTokens of sizesOf(facts.maxOutputTokens)) {
    for (const context of sizesOf(facts.maxContextTokens)) {
      const call = callWith(facts, maxOutputTokens, context);
      if (canPay(call)) return call;
    }
  }
  return undefined;
}

/** The cheapest of all calls: what is asked for where not even that can be paid. */
export const leastCall = (facts: PlanningFacts): PlannedCall =>
  callWith(facts, Math.min(LEAST_OUTPUT, facts.maxOutputTokens), 0);

/** What the last call after this one may cost: all that is said by then, as far as it is not shortened. */
export function lastAfter(
  { fixedTokens, maxContextTokens }: PlanningFacts,
  call: PlannedCall,
  maxOutputTokens: number,
): Tokens {
  const said = call.estimate.input + call.maxOutputTokens;
  return { input: Math.max(fixedTokens, Math.min(maxContextTokens, said)), output: maxOutputTokens };
}

function callWith(facts: PlanningFacts, maxOutputTokens: number, maxTokens: number): PlannedCall {
  const { fixedTokens, count } = facts;
  const said = shortenHistory(facts.said, maxTokens - fixedTokens - maxOutputTokens, count);
  return {
    said,
    maxOutputTokens,
    estimate: { input: fixedTokens + tokensOf(said, count), output: maxOutputTokens },
  };
}

/** The size, its half, and so on. */
function sizesOf(size: number): number[] {
  const sizes = [size];
  for (let halved = size / 2; halved >= LEAST_OUTPUT && sizes.length < HALVINGS; halved /= 2)
    sizes.push(Math.floor(halved));
  return sizes;
}
