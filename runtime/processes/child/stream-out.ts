import type { HandlerEntry } from '../../agent/agent-definition.ts';
import { parseOutput } from '../../protocol/capability.ts';
import { saying, wholeValue } from './saying.ts';
import type { ChildHandling, HandlingAgent } from './child-handling.ts';

/** Sends the host what a stream's handler yields, as much as it has asked for. Resolves when the handler ends. */
export async function streamOut(
  entry: HandlerEntry,
  input: unknown,
  handling: ChildHandling,
  { self, line }: HandlingAgent,
): Promise<void> {
  const { n, signal } = handling;
  const isStructured = entry.capability.carries === 'structured';
  for await (const chunk of entry.run(input as never, handling as never) as AsyncIterable<unknown>) {
    const value = parseOutput(entry.capability, chunk, self);
    while (handling.credit <= 0 && !signal.aborted) {
      await new Promise<void>((resolve) => {
        handling.wake = resolve;
      });
    }
    signal.throwIfAborted();
    handling.credit -= 1;
    const whole = wholeValue(value, isStructured);
    saying('answer', value, () => line.say({ t: 'chunk', n, value: whole }, isStructured));
  }
}
