import { describe, expect, it } from 'vitest';
import type { Remembered } from '../../../runtime/journal/history.ts';
import type { SystemEvent } from '../../../runtime/protocol/system-event.ts';
import { ControlHistory } from '../../../runtime/control/control-history.ts';

const WAITING = 4_096;
const event: SystemEvent = { type: 'routing-decision', timestamp: 0, security: true };

/** A journal that takes its time; `answer` says that it has taken a lot, or that it could not. */
function setUp() {
  const given: Remembered[] = [];
  const answers: PromiseWithResolvers<void>[] = [];
  const history = new ControlHistory({
    journal: {
      remember: (remembered) => {
        given.push(remembered);
        const answer = Promise.withResolvers<void>();
        answers.push(answer);
        return answer.promise;
      },
      envelopes: async () => [],
      events: async () => [],
    },
    onProblem: (error) => {
      throw error;
    },
  });
  const missed = () => given.reduce((sum, remembered) => sum + remembered.missed, 0);
  return { history, given, answers, missed };
}

describe('The security events that the control thread gives the journal', () => {
  it('are counted at its end when they could not be given, also while a lot is under way', () => {
    const { history, given, missed } = setUp();
    history.remember(event);
    history.give();
    for (let n = 0; n < WAITING + 7; n++) history.remember(event);
    history.close();
    expect(given.map(({ security }) => security?.length)).toEqual([1, WAITING]);
    expect(missed()).toBe(7);
  });

  it('are counted at its end when the journal has refused them', async () => {
    const { history, answers, missed } = setUp();
    history.remember(event);
    history.give();
    answers[0]?.reject(new Error('it is busy'));
    await new Promise((resolve) => setImmediate(resolve));
    history.close();
    expect(missed()).toBe(1);
  });
});
