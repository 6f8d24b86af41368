import type { AskOptions, Sender, Target, TellOptions } from '../actor/context.ts';
import type { Identity } from '../actor/identity.ts';
import type { Accounts } from '../budget/accounts.ts';
import { grantedAmounts } from '../budget/amounts.ts';
import { Budget, type Cost } from '../protocol/budget.ts';
import { OrreryError } from '../protocol/errors.ts';
import { parseOptions } from '../protocol/parse-options.ts';
import type { RoutingResult } from '../protocol/routing-result.ts';
import { EmbedderSender, type EmbedderSenderDeps } from './embedder-sender.ts';

/**
 * One budget for many envelopes, such as those of a mission: everything that is sent by it, and all that this causes,
 * spends from it.
 */
export interface Account extends Sender, Disposable {
  /** What can be spent or granted now; what is absent is not limited. What is granted to envelopes is not in it. */
  readonly left: Budget;
  /** What was spent on it, by whomever. Once it is closed: by then. */
  readonly spent: Required<Cost>;
  /** Sends nothing any more. What is under way goes on with what there is. */
  close(): void;
}

/** Opens an account; throws INVALID_OPTIONS, or MAILBOX_FULL when no more can be open. */
export function openAccount(
  accounts: Accounts,
  budget: Budget,
  deps: EmbedderSenderDeps,
  identity: Identity,
): Account {
  const { hops, ...amounts } = parseOptions(Budget, budget, 'budget');
  const account = accounts.open(undefined, grantedAmounts(amounts));
  if (account instanceof OrreryError) throw account;
  const sender = new EmbedderSender(deps, { ...identity, funds: { account, hops, isHandler: false } });
  return new EmbedderAccount(
    sender,
    () => ({ left: accounts.left(account), spent: accounts.spent(account) }),
    {
      hops,
      close: () => accounts.close(account),
    },
  );
}

type State = Pick<Account, 'left' | 'spent'>;

class EmbedderAccount implements Account {
  readonly #sender: EmbedderSender;
  readonly #read: () => State;
  readonly #hops: number | undefined;
  readonly #close: () => void;
  #last: State | undefined;

  constructor(
    sender: EmbedderSender,
    read: () => State,
    { hops, close }: { readonly hops: number | undefined; readonly close: () => void },
  ) {
    this.#sender = sender;
    this.#read = read;
    this.#hops = hops;
    this.#close = close;
  }

  get left(): Budget {
    const { left } = this.#last ?? this.#read();
    return this.#hops === undefined ? left : { ...left, hops: this.#hops };
  }

  get spent(): Required<Cost> {
    return (this.#last ?? this.#read()).spent;
  }

  close(): void {
    this.#last ??= this.#read();
    this.#close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  ask<Input, Output>(target: Target<Input, Output>, input: Input, options?: AskOptions): Promise<Output> {
    return this.#sender.ask(target, input, options);
  }

  stream<Input, Output>(
    target: Target<Input, Output>,
    input: Input,
    options?: AskOptions,
  ): AsyncIterable<Output> {
    return this.#sender.stream(target, input, options);
  }

  tell(target: string | Target<unknown, unknown>, payload: unknown, options?: TellOptions): RoutingResult {
    return this.#sender.tell(target, payload, options);
  }

  tellWhenRoom(
    target: string | Target<unknown, unknown>,
    payload: unknown,
    options?: TellOptions,
  ): Promise<RoutingResult> {
    return this.#sender.tellWhenRoom(target, payload, options);
  }
}
