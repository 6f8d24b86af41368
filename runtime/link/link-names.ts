import type { Mail, MailExtras } from '../mailbox/mail.ts';
import type { PathHop } from '../protocol/envelope.ts';

/** Contexts that a link remembers; of these, how many one batch may name for the first time. */
const CONTEXTS = 512;
const NEW_CONTEXTS = 256;
const STRINGS = 65_536;

/** A conversation and delegation path that has been named: its number, the correlation id, the path. */
export type NamedContext = readonly [number, string, readonly PathHop[]];

/**
 * What one side of a link has named to the other, so that it crosses once: strings, extras, and the contexts of handlers
 * (all that one handler sends has the same conversation and path). Number 0 means none.
 */
export class SendingNames {
  readonly #strings = new Map<string, number>();
  readonly #extras = new WeakMap<MailExtras, number>();
  readonly #contexts = new Map<readonly PathHop[], number>();
  readonly #kept: { readonly correlationId: string; readonly path: readonly PathHop[] }[] = [];
  #nextContext = 0;
  #newStrings: string[] = [];
  #newContexts: NamedContext[] = [];

  /** The number of `text`, or `text` itself when there are too many. */
  string(text: string | undefined): number | string {
    if (text === undefined) return 0;
    const known = this.#strings.get(text);
    if (known !== undefined) return known;
    if (this.#strings.size >= STRINGS) return text;
    const number = this.#strings.size + 1;
    this.#strings.set(text, number);
    this.#newStrings.push(text);
    return number;
  }

  /** The number of what few and often the same mails have beside their payload. */
  extras(extras: MailExtras): number | string {
    const known = this.#extras.get(extras);
    if (known !== undefined) return known;
    const number = this.string(JSON.stringify(extras));
    if (typeof number === 'number') this.#extras.set(extras, number);
    return number;
  }

  /** The number of the mail's correlation id and path; 0 when they have to be written out. */
  context({ path, correlationId }: Mail): number {
    if (path === undefined || correlationId === undefined) return 0;
    const known = this.#contexts.get(path);
    if (known !== undefined) {
      if (this.#kept[known]?.correlationId !== correlationId) return 0;
      if (!this.#mayBeReplaced(known)) return known + 1;
    }
    if (this.#newContexts.length === NEW_CONTEXTS) return 0;
    const at = this.#nextContext;
    this.#nextContext = (at + 1) % CONTEXTS;
    const replaced = this.#kept[at];
    if (replaced !== undefined && this.#contexts.get(replaced.path) === at)
      this.#contexts.delete(replaced.path);
    this.#kept[at] = { correlationId, path };
    this.#contexts.set(path, at);
    this.#newContexts.push([at + 1, correlationId, path]);
    return at + 1;
  }

  /**
   * Says whether what this batch names after it could take its number. The other side hears of all that a batch names
   * before it reads the first mail: whatever the batch uses must keep its number to its end, or get a new one now.
   */
  #mayBeReplaced(at: number): boolean {
    const ahead = (at - this.#nextContext + CONTEXTS) % CONTEXTS;
    return ahead < NEW_CONTEXTS - this.#newContexts.length;
  }

  /** What was named since the last batch that was posted; 0 without any. */
  get added(): readonly [readonly string[], readonly NamedContext[]] | 0 {
    if (this.#newStrings.length === 0 && this.#newContexts.length === 0) return 0;
    return [this.#newStrings, this.#newContexts];
  }

  /** The batch with what was added is posted. */
  posted(): void {
    if (this.#newStrings.length > 0) this.#newStrings = [];
    if (this.#newContexts.length > 0) this.#newContexts = [];
  }
}

/** What the other side of a link has named. */
export class ReceivedNames {
  readonly #strings: (string | undefined)[] = [undefined];
  readonly #extras: (MailExtras | undefined)[] = [];
  readonly #contexts: NamedContext[] = [];

  add([strings, contexts]: readonly [readonly string[], readonly NamedContext[]]): void {
    for (const text of strings) this.#strings.push(text);
    for (const context of contexts) this.#contexts[context[0]] = context;
  }

  string(named: number | string): string | undefined {
    return typeof named === 'string' ? named : this.#strings[named];
  }

  extras(named: number | string): MailExtras {
    if (typeof named === 'string') return JSON.parse(named) as MailExtras;
    this.#extras[named] ??= Object.freeze(JSON.parse(this.#strings[named] as string) as MailExtras);
    return this.#extras[named];
  }

  context(number: number): NamedContext {
    return this.#contexts[number] as NamedContext;
  }
}
