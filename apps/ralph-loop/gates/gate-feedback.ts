import { failureExcerpt } from './failure-excerpt.ts';
import type { GateReceipt } from './gate-receipt.ts';

/** What a gate that failed tells the next attempt: its command, why it failed, and the parts of its log that matter. */
export function gateFeedback(
  receipt: Pick<GateReceipt, 'gate' | 'command' | 'why'>,
  log: string,
  {
    secrets = [],
    notRun = [],
  }: { readonly secrets?: readonly string[]; readonly notRun?: readonly string[] } = {},
): string {
  const { first, end } = failureExcerpt(log, secrets);
  const parts = [
    `The gate "${receipt.gate}" failed: ${receipt.why}.\nIts command: ${receipt.command}`,
    ...(first === undefined ? [] : [`The first failure in its output:\n${first}`]),
    end === '' ? 'It printed nothing.' : `The end of its output:\n${end}`,
    ...(notRun.length === 0 ? [] : [`Not run, because this one failed: ${notRun.join(', ')}.`]),
  ];
  return parts.join('\n\n');
}
