import type { CodingUsage } from 'orrery/coding';

/** Formats what was used, as in `$0.42, 12,000 tokens in, 900 out`; undefined if nothing is known. */
export function usageText({ costUsd, inputTokens, outputTokens }: CodingUsage): string | undefined {
  const parts = [
    ...(costUsd === undefined ? [] : [dollars(costUsd)]),
    ...(inputTokens === undefined ? [] : [`${grouped(inputTokens)} tokens in`]),
    ...(outputTokens === undefined
      ? []
      : [`${grouped(outputTokens)} ${inputTokens === undefined ? 'tokens ' : ''}out`]),
  ];
  return parts.length === 0 ? undefined : parts.join(', ');
}

/** Formats what was used in a few characters: dollars if they are known, else tokens; undefined if nothing is known. */
export function shortUsage({ costUsd, inputTokens, outputTokens }: CodingUsage): string | undefined {
  if (costUsd !== undefined) return dollars(costUsd);
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  return `${grouped((inputTokens ?? 0) + (outputTokens ?? 0))} tokens`;
}

/** A few tenths of a cent are not nothing. */
const dollars = (costUsd: number): string => `$${costUsd.toFixed(costUsd !== 0 && costUsd < 0.1 ? 4 : 2)}`;

const grouped = (number: number): string => number.toLocaleString('en-US');
