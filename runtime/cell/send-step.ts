import type { Funds } from '../budget/mail-account.ts';
import type { Mail } from '../mailbox/mail.ts';
import type { AgentRow } from '../protocol/agent-row.ts';
import type { Budget, Cost } from '../protocol/budget.ts';
import type { OrreryError } from '../protocol/errors.ts';
import type { SpanFault } from '../protocol/tracer.ts';
import type { MailJudge, MailManner } from '../routing/mail-judge.ts';
import type { Handling } from './handling.ts';
import type { Identity } from './mail-maker.ts';

/**
 * One mail on its way out: in whose name, from which handling, and how it comes to its recipient.
 *
 * - `budget`  what may be spent on it, as its sender wants it.
 * - `funds`   what its sender has to spend; undefined when that is not limited.
 * - `onSpent` is told what was spent of its budget by when it is over.
 * - `steps`   of the features that have to do with it; of most mails none.
 */
export interface Send {
  readonly from: Identity;
  readonly mail: Mail;
  readonly parent: Handling | undefined;
  readonly manner: MailManner;
  readonly budget: Budget | undefined;
  readonly funds: Funds | undefined;
  readonly onSpent: ((spent: Required<Cost>) => void) | undefined;
  steps: readonly SendStep[];
}

/** What one feature does to what is sent from a thread, which has one of each kind. */
export interface SendStep {
  concerns(send: Send): boolean;
  /** Before it is routed. Returns why it cannot be sent. */
  begin(send: Send): OrreryError | undefined;
  /**
   * `row` has it from now on. Without one nobody has: it was refused, which `fault` says, or is a broadcast, or an ask that is
   * over.
   */
  end(send: Send, row: AgentRow | undefined, fault?: SpanFault): void;
}

export const NO_STEPS: readonly SendStep[] = [];

/** Who answers under a grant uses it up, once the answer is accepted. */
export class GrantUse implements SendStep {
  readonly #judge: MailJudge;

  constructor(judge: MailJudge) {
    this.#judge = judge;
  }

  concerns({ mail }: Send): boolean {
    return mail.extras?.inReplyTo !== undefined;
  }

  begin(): undefined {}

  end({ mail, from }: Send, row: AgentRow | undefined): void {
    if (row !== undefined) this.#judge.useGrant(mail, from.id, row.id);
  }
}
