import { type Mail, NO_ASK, toEnvelope } from '../mailbox/mail.ts';
import { A2A_MESSAGE_TYPES, type A2AEnvelope, type A2AMessageType } from '../protocol/envelope.ts';
import type { ErrorData } from '../protocol/errors.ts';
import type { ActorRow } from '../protocol/roster.ts';
import type { EnvelopeHandler } from '../agent/agent-definition.ts';
import type { Interceptor, PrivilegedCall } from './interceptor.ts';
import type { Cell } from './cell.ts';
import { absorbAtClient } from './cell-taint.ts';
import type { HandlingContext } from '../agent/context.ts';

const NOBODY = 'nobody is there who could approve it';

/** The interceptors of one thread. */
export class Interceptors {
  readonly #interceptors: readonly Interceptor[];
  /** The first who has a handler for a name answers it. */
  readonly #handlers = new Map<string, EnvelopeHandler<never>>();
  /** By message type, as mails have it. */
  readonly #arrivals: readonly (readonly Interceptor[])[];
  readonly #owed: readonly (readonly Interceptor[])[];

  constructor(interceptors: readonly Interceptor[]) {
    this.#interceptors = interceptors;
    for (const { handlers } of interceptors.toReversed())
      for (const [name, handler] of handlers) this.#handlers.set(name, handler);
    const byType = (typesOf: (one: Interceptor) => ReadonlySet<A2AMessageType>) =>
      A2A_MESSAGE_TYPES.map((type) => interceptors.filter((one) => typesOf(one).has(type)));
    this.#arrivals = byType(({ types }) => types);
    this.#owed = byType(({ owed }) => owed);
  }

  /** What answers for agents that do not handle `name`, a message type or capability. */
  handlerOf(name: string): EnvelopeHandler<never> | undefined {
    return this.#handlers.get(name);
  }

  /** Shows what has just come to those whom it concerns; true when it is handled. */
  accepts(cell: Cell, mail: Mail): boolean {
    const interceptors = this.#arrivals[mail.type] as readonly Interceptor[];
    if (interceptors.length === 0 || mail.ask !== NO_ASK || mail.tombstone !== undefined) return false;
    cell.thread.judge.holdGrant(mail, cell.row.id);
    const taint = mail.extras?.taint;
    const isTaken = cell.client.showing(mail, () =>
      interceptors.some((interceptor) =>
        this.#watched(cell, () => interceptor.arrived(cell.client, envelopeOf(cell, mail))),
      ),
    );
    // What interceptors know is what the agent knows.
    if (isTaken && taint !== undefined) absorbAtClient(cell, taint);
    return isTaken;
  }

  /** Why what came from outside may not reach a privileged capability; undefined when it may. */
  async refusalOf(ctx: HandlingContext<never>, call: PrivilegedCall): Promise<string | undefined> {
    let isAsked = false;
    for (const interceptor of this.#interceptors) {
      const refusal = await interceptor.refusalOf?.(ctx, call);
      if (refusal !== undefined) return refusal;
      isAsked ||= interceptor.refusalOf !== undefined;
    }
    return isAsked ? undefined : NOBODY;
  }

  /** An envelope ended without having been handled. */
  lost(cell: Cell, mail: Mail, why: ErrorData): void {
    const interceptors = this.#owed[mail.type] as readonly Interceptor[];
    if (interceptors.length === 0 || mail.ask !== NO_ASK) return;
    cell.thread.judge.holdGrant(mail, cell.row.id);
    for (const interceptor of interceptors) {
      this.#watched(cell, () => {
        cell.client.showing(mail, () => interceptor.lost(cell.client, envelopeOf(cell, mail), why));
        return true;
      });
    }
  }

  /** An actor of the cell has ended. A cell for which no interceptor has acted has no client. */
  ended(cell: Cell): void {
    if (!cell.hasClient) return;
    const goesOn = cell.client.records !== undefined && cell.thread.journal?.isLeft === true;
    for (const interceptor of this.#interceptors) {
      this.#watched(cell, () => {
        if (goesOn) interceptor.left?.(cell.client);
        else interceptor.ended(cell.client);
        return true;
      });
    }
  }

  /** The cell is about to start in this thread, for the first time. */
  resumed(cell: Cell): void {
    if (!cell.hasClient || cell.client.records?.hasLeft !== true) return;
    for (const interceptor of this.#interceptors) {
      this.#watched(cell, () => {
        interceptor.resumed?.(cell.client);
        return true;
      });
    }
  }

  /** The actors that interceptors have for the agent of this cell. */
  actorsOf(cell: Cell): readonly ActorRow[] {
    if (!cell.hasClient) return [];
    return this.#interceptors.flatMap((interceptor) => interceptor.actorsOf?.(cell.client) ?? []);
  }

  /** What an interceptor throws is reported, and ends nothing. */
  #watched(cell: Cell, run: () => boolean): boolean {
    try {
      return run();
    } catch (error) {
      cell.thread.log.error(cell.row.id, error);
      return false;
    }
  }
}

function envelopeOf({ thread }: Cell, mail: Mail): A2AEnvelope {
  const { tier, sandboxId } = thread.judge.partyOf(mail.sender);
  return toEnvelope(mail, tier, sandboxId);
}
